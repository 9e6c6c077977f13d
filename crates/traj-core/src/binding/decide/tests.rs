//! Every row of the decision table, and the rules for its columns.

use super::*;
use crate::binding::{ContextEngineFacts, PluginPolicyContext};
use crate::json::Json;
use crate::timestamp::UnixMillis;

fn hash(text: &str) -> Fingerprint {
    Fingerprint::of(&Json::from(text))
}

fn tools(text: &str) -> WantedTools {
    WantedTools::of(Json::parse(text).unwrap().as_array().unwrap())
}

const ONE_TOOL: &str = r#"[{"name":"message","inputSchema":{"type":"object"}}]"#;
const DEFERRED_TOOL: &str = r#"[{"name":"message","deferLoading":true}]"#;

/// A record that `wanted` resumes.
fn record_of(wanted: &WantedThread) -> BindingRecord {
    let thread = ThreadId::parse("thread-1").unwrap();
    let mut record = BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH);
    let fingerprints = &mut record.fingerprints;
    fingerprints.dynamic_tools = Some(wanted.tools.fingerprint.clone());
    fingerprints.tools_were_empty = wanted.tools.is_empty;
    fingerprints.user_mcp.clone_from(&wanted.user_mcp);
    fingerprints.environment.clone_from(&wanted.environment);
    if let BundledMcp::Evaluated(now) = &wanted.bundled_mcp {
        fingerprints.bundled_mcp.clone_from(now);
    }
    if let WantedPlugins::Enabled { input, built, .. } = &wanted.plugins {
        fingerprints.plugin_input = Some(input.clone());
        fingerprints.plugin_apps = built.clone().or_else(|| Some(hash("apps")));
        record.plugin_policy = no_apps();
    }
    record.tools_contain_deferred = Some(wanted.tools.contain_deferred);
    record.context_engine.clone_from(&wanted.context_engine);
    record
}

fn no_apps() -> Option<PluginPolicyContext> {
    PluginPolicyContext::from_json(&Json::parse(r#"{"fingerprint":"f","apps":{}}"#).unwrap())
}

fn engine(id: &str, version: &str) -> Option<ContextEngineBinding> {
    let mut facts = ContextEngineFacts::new(id.to_owned());
    facts.version = Some(version.to_owned());
    facts.binding()
}

fn resume() -> BindingDecision {
    BindingDecision::Resume { thread: ThreadId::parse("thread-1").unwrap(), tolerated: vec![] }
}

fn rotate(reason: RotateReason) -> BindingDecision {
    BindingDecision::Rotate { reasons: vec![reason] }
}

type Change = fn(&mut BindingRecord, &mut WantedThread);

/// Applies each change to a record and a wanted thread that match, and checks
/// the decision.
fn assert_decisions(rows: Vec<(&str, Change, BindingDecision)>) {
    for (name, change, expected) in rows {
        let mut wanted = WantedThread::plain();
        wanted.tools = tools(ONE_TOOL);
        wanted.user_mcp = Some(hash("mcp"));
        wanted.environment = Some(hash("environment"));
        wanted.bundled_mcp = BundledMcp::Evaluated(Some(hash("bundled")));
        wanted.context_engine = engine("e", "1");
        wanted.plugins = WantedPlugins::Enabled {
            input: hash("input"),
            any_enabled: true,
            built: Some(hash("apps")),
        };
        let mut stored = record_of(&wanted);
        change(&mut stored, &mut wanted);
        assert_eq!(decide_binding(Some(&stored), &wanted), expected, "{name}");
    }
}

fn transient(reason: TransientReason) -> BindingDecision {
    BindingDecision::Transient { reason }
}

#[test]
fn rows_1_to_4_of_the_table() {
    use RotateReason as R;
    assert_decisions(vec![
        ("row 10: nothing changed", |_, _| {}, resume()),
        (
            "row 1: tool surface off",
            |_, w| w.tool_surface = ToolSurface::Disabled,
            transient(TransientReason::ToolSurfaceDisabled),
        ),
        (
            "row 1 comes before every rotation",
            |_, w| {
                w.tool_surface = ToolSurface::Disabled;
                w.user_mcp = Some(hash("other"));
            },
            transient(TransientReason::ToolSurfaceDisabled),
        ),
        (
            "row 2, scenario 19: engine appears",
            |s, _| s.context_engine = None,
            rotate(R::ContextEngine),
        ),
        (
            "row 2, scenario 21: engine vanishes",
            |_, w| w.context_engine = None,
            rotate(R::ContextEngine),
        ),
        (
            "row 2, scenario 22: engine changes",
            |_, w| w.context_engine = engine("e", "2"),
            rotate(R::ContextEngine),
        ),
        (
            "row 3, scenario 23: servers appear",
            |s, _| s.fingerprints.user_mcp = None,
            rotate(R::UserMcpServers),
        ),
        ("row 3: servers vanish", |_, w| w.user_mcp = None, rotate(R::UserMcpServers)),
        (
            "row 4: environment changes",
            |_, w| w.environment = Some(hash("other")),
            rotate(R::Environment),
        ),
    ]);
}

#[test]
fn rows_5_to_7_of_the_table() {
    use RotateReason as R;
    assert_decisions(vec![
        (
            "row 5: bundled servers change",
            |_, w| w.bundled_mcp = BundledMcp::Evaluated(None),
            rotate(R::BundledMcpServers),
        ),
        (
            "row 5: not evaluated is not compared",
            |_, w| w.bundled_mcp = BundledMcp::NotEvaluated,
            resume(),
        ),
        (
            "row 6: plugins switched off",
            |_, w| w.plugins = WantedPlugins::Disabled,
            rotate(R::PluginApps),
        ),
        (
            "row 6, scenario 27: record lacks plugin data",
            |s, _| s.plugin_policy = None,
            rotate(R::PluginApps),
        ),
        (
            "row 6, scenario 28 and 29: rebuilt apps differ",
            |s, _| s.fingerprints.plugin_apps = Some(hash("before")),
            rotate(R::PluginApps),
        ),
        (
            "row 7: loading on demand flips",
            |s, _| s.tools_contain_deferred = Some(true),
            rotate(R::DeferredLoading),
        ),
    ]);
}

#[test]
fn rows_8_to_14_of_the_table() {
    use RotateReason as R;
    assert_decisions(vec![
        (
            "row 8, scenario 16: no tools this turn",
            |_, w| w.tools = tools("[]"),
            transient(TransientReason::NoToolsThisTurn),
        ),
        (
            "rows 3 and 8: a rotation wins over a transient turn",
            |_, w| {
                w.tools = tools("[]");
                w.user_mcp = None;
            },
            BindingDecision::Rotate { reasons: vec![R::UserMcpServers, R::DynamicTools] },
        ),
        (
            "row 9, scenario 15: another catalogue",
            |_, w| w.tools = tools(r#"[{"name":"other"}]"#),
            rotate(R::DynamicTools),
        ),
        (
            "row 9: first tools of a thread that had none",
            |s, _| {
                s.fingerprints.dynamic_tools = Some(Fingerprint::of_tools(&[]));
                s.fingerprints.tools_were_empty = true;
            },
            rotate(R::DynamicTools),
        ),
        (
            "scenario 17: no tool fingerprint stored",
            |s, _| s.fingerprints.dynamic_tools = None,
            resume(),
        ),
        (
            "scenario 30: attached by hand, nothing known yet",
            |s, _| {
                s.origin = BindingOrigin::Attached;
                s.fingerprints = crate::binding::Fingerprints::default();
                s.context_engine = None;
            },
            resume(),
        ),
        (
            "several reasons come in the order of the rules",
            |_, w| {
                w.tools = tools(r#"[{"name":"other"}]"#);
                w.environment = None;
            },
            BindingDecision::Rotate { reasons: vec![R::Environment, R::DynamicTools] },
        ),
    ]);
    assert_eq!(decide_binding(None, &WantedThread::plain()), BindingDecision::Start, "row 14");
}

/// Scenario 18: the stored flag compared with the current one.
#[test]
fn deferred_loading_table() {
    let cases = [
        (None, true, true),
        (None, false, false),
        (Some(true), false, false),
        (Some(false), true, false),
        (Some(true), true, true),
        (Some(false), false, true),
    ];
    for (before, now, resumes) in cases {
        let mut wanted = WantedThread::plain();
        wanted.tools = tools(if now { DEFERRED_TOOL } else { ONE_TOOL });
        let mut stored = record_of(&wanted);
        stored.tools_contain_deferred = before;
        let resumed = decide_binding(Some(&stored), &wanted) == resume();
        assert_eq!(resumed, resumes, "{before:?} then {now}");
    }
}

/// Scenario 20: an equal engine, projection included, does not cause a
/// rotation.
#[test]
fn an_equal_engine_resumes() {
    let mut wanted = WantedThread::plain();
    wanted.context_engine = engine("e", "1");
    assert_eq!(decide_binding(Some(&record_of(&wanted)), &wanted), resume());
}

/// Scenario 28: apps are looked up only if the cheap hash does not decide.
#[test]
fn plugin_apps_are_built_only_when_needed() {
    let mut wanted = WantedThread::plain();
    let enabled =
        |any_enabled, built| WantedPlugins::Enabled { input: hash("input"), any_enabled, built };
    wanted.plugins = enabled(true, None);
    let stored = record_of(&wanted);
    assert!(needs_plugin_build(Some(&stored), &wanted));
    assert!(!needs_plugin_build(None, &wanted));
    wanted.plugins = enabled(false, None);
    assert!(needs_plugin_build(Some(&stored), &wanted), "no apps stored: there may be some now");
    wanted.plugins = enabled(true, Some(hash("apps")));
    assert!(!needs_plugin_build(Some(&stored), &wanted));
    let mut stale = stored;
    stale.fingerprints.plugin_input = Some(hash("other"));
    wanted.plugins = enabled(true, None);
    assert!(!needs_plugin_build(Some(&stale), &wanted), "the cheap hash already differs");
}

#[test]
fn imported_catalogues_compare_by_the_looser_rules() {
    let mut wanted = WantedThread::plain();
    wanted.tools = tools(r#"[{"name":"a","namespace":"n","deferLoading":true,"description":"d"}]"#);
    let mut stored = record_of(&wanted);
    let text = r#"[{"name":"a"}]"#;
    let parsed = Json::parse(text).unwrap();
    stored.fingerprints.dynamic_tools =
        Some(Fingerprint::of_tools_imported(parsed.as_array().unwrap()));
    assert_eq!(decide_binding(Some(&stored), &wanted), resume());
    wanted.tools = tools(r#"[{"name":"b","deferLoading":true}]"#);
    assert_eq!(decide_binding(Some(&stored), &wanted), rotate(RotateReason::DynamicTools));
}

/// If the policy does not rotate the thread on a change, its history is kept.
#[test]
fn a_change_rotates_warns_or_is_ignored_as_the_policy_says() {
    let mut wanted = WantedThread::plain();
    wanted.tools = tools(ONE_TOOL);
    let record = record_of(&wanted);
    wanted.tools = tools(r#"[{"name":"another"}]"#);
    wanted.user_mcp = Some(hash("servers"));
    let (tools, servers) = (RotateReason::DynamicTools, RotateReason::UserMcpServers);
    for policy in [ChangePolicy::Ignore, ChangePolicy::Warn] {
        wanted.rotation = RotationPolicy::default().with(tools, policy);
        assert_eq!(
            decide_binding(Some(&record), &wanted),
            rotate(servers),
            "the other one rotates"
        );
        wanted.rotation = wanted.rotation.clone().with(servers, policy);
        let thread = record.thread.clone();
        let tolerated = vec![servers, tools];
        let resumed = BindingDecision::Resume { thread, tolerated };
        assert_eq!(decide_binding(Some(&record), &wanted), resumed);
    }
    let states = explain(Some(&record), &wanted);
    let changed: Vec<_> = states.iter().filter(|state| state.has_changed).collect();
    assert_eq!(changed.len(), 2);
    assert!(changed.iter().all(|state| state.on_change == ChangePolicy::Warn));
}
