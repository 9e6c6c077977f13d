//! Which components of a thread's identity changed.

use crate::binding::{
    BindingOrigin, BindingRecord, BundledMcp, ChangePolicy, Fingerprint, RotateReason,
    WantedPlugins, WantedThread,
};

/// One component of a thread's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComponentState {
    /// The component's name, which also names the reason to rotate.
    pub name: &'static str,
    /// The stored value, hashed.
    pub stored: Option<String>,
    /// The value that the next turn wants, hashed; `None` also if it was not
    /// evaluated.
    pub wanted: Option<String>,
    /// Whether the component changed since the thread was started.
    pub has_changed: bool,
    /// What a change leads to.
    pub on_change: ChangePolicy,
}

/// Every component, in the order of the rules.
#[must_use]
pub fn explain(stored: Option<&BindingRecord>, wanted: &WantedThread) -> Vec<ComponentState> {
    let text = |fingerprint: Option<&Fingerprint>| fingerprint.map(|f| f.as_str().to_owned());
    let record = stored.map(|record| &record.fingerprints);
    let of_record = |pick: fn(&crate::binding::Fingerprints) -> Option<&Fingerprint>| {
        text(record.and_then(pick))
    };
    let bundled = match &wanted.bundled_mcp {
        BundledMcp::Evaluated(now) => now.as_ref(),
        BundledMcp::NotEvaluated => None,
    };
    let plugins = match &wanted.plugins {
        WantedPlugins::Enabled { input, .. } => Some(input),
        WantedPlugins::Disabled => None,
    };
    let engine = stored.and_then(|record| record.context_engine.as_ref());
    let flag = |deferred: bool| if deferred { "deferred" } else { "immediate" }.to_owned();
    let deferred = stored.and_then(|record| record.tools_contain_deferred).map(flag);
    let imported =
        record.and_then(|f| f.dynamic_tools.as_ref()).is_some_and(Fingerprint::is_imported);
    let tools = if imported { &wanted.tools.imported } else { &wanted.tools.fingerprint };
    use RotateReason as R;
    let rows = [
        (
            R::ContextEngine,
            engine.map(|engine| Fingerprint::opaque(&engine.policy).as_str().to_owned()),
            wanted
                .context_engine
                .as_ref()
                .map(|engine| Fingerprint::opaque(&engine.policy).as_str().to_owned()),
        ),
        (R::UserMcpServers, of_record(|f| f.user_mcp.as_ref()), text(wanted.user_mcp.as_ref())),
        (R::Environment, of_record(|f| f.environment.as_ref()), text(wanted.environment.as_ref())),
        (R::BundledMcpServers, of_record(|f| f.bundled_mcp.as_ref()), text(bundled)),
        (R::PluginApps, of_record(|f| f.plugin_input.as_ref()), text(plugins)),
        (R::DeferredLoading, deferred, Some(flag(wanted.tools.contain_deferred))),
        (R::DynamicTools, of_record(|f| f.dynamic_tools.as_ref()), text(Some(tools))),
    ];
    let known = stored.filter(|stored| stored.origin != BindingOrigin::Attached);
    let changed = known.map(|stored| super::changed_components(stored, wanted)).unwrap_or_default();
    let policies = &wanted.rotation;
    rows.into_iter()
        .map(|(reason, stored, wanted)| ComponentState {
            name: reason.as_str(),
            stored,
            wanted,
            has_changed: changed.contains(&reason),
            on_change: policies.of(reason),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::WantedTools;
    use crate::id::ThreadId;
    use crate::json::Json;
    use crate::timestamp::UnixMillis;

    #[test]
    fn the_component_that_changed_is_named() {
        let thread = ThreadId::parse("t").unwrap();
        let mut stored =
            BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH);
        let mut wanted = WantedThread::plain();
        wanted.tools = WantedTools::of(&[Json::parse(r#"{"name":"a"}"#).unwrap()]);
        stored.fingerprints.dynamic_tools = Some(wanted.tools.fingerprint.clone());
        stored.tools_contain_deferred = Some(false);
        wanted.user_mcp = Some(Fingerprint::of(&Json::from("servers")));
        let changed = |wanted: &WantedThread| -> Vec<&'static str> {
            let states = explain(Some(&stored), wanted);
            states.iter().filter(|state| state.has_changed).map(|state| state.name).collect()
        };
        assert_eq!(changed(&wanted), ["user-mcp-servers"]);
        wanted.user_mcp = None;
        wanted.tools = WantedTools::of(&[]);
        assert_eq!(changed(&wanted), ["dynamic-tools"], "also for a transient thread");
        assert!(explain(None, &wanted).iter().all(|state| !state.has_changed));
    }
}
