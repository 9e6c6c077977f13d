//! Decides whether a stored thread suits the next turn.
//!
//! - `wanted`: what the next turn wants of its thread.
//! - `policy`: what a change of a component leads to.
//! - `explain`: which component of a thread's identity changed.
//! - `clear`: how a store removes a binding.

mod clear;
mod explain;
mod policy;
mod wanted;

use std::fmt;

use crate::binding::{BindingOrigin, BindingRecord, ContextEngineBinding, Fingerprint};
use crate::id::ThreadId;

pub use clear::{ClearDecision, ForeignRecord, decide_clear};
pub use explain::{ComponentState, explain};
pub use policy::{ChangePolicy, RotationPolicy};
pub use wanted::{BundledMcp, ToolSurface, WantedPlugins, WantedThread, WantedTools};

/// What to do with the thread of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindingDecision {
    /// Resume the stored thread.
    Resume {
        /// The thread.
        thread: ThreadId,
        /// Components that changed without rotating the thread, as the policy says. The thread
        /// keeps what it was started with.
        tolerated: Vec<RotateReason>,
    },
    /// Nothing is stored: start a thread and remember it.
    Start,
    /// The stored thread no longer fits: start another and store that instead.
    Rotate {
        /// Everything that changed, in the order of the rules.
        reasons: Vec<RotateReason>,
    },
    /// Start a thread for this turn only; keep the stored one.
    Transient {
        /// Why the stored thread cannot serve this turn.
        reason: TransientReason,
    },
}

/// A component of a thread's identity that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RotateReason {
    /// The context engine changed, appeared or vanished.
    ContextEngine,
    /// The user's MCP servers changed.
    UserMcpServers,
    /// The execution environment changed.
    Environment,
    /// The host's own MCP servers changed.
    BundledMcpServers,
    /// The plugin apps changed.
    PluginApps,
    /// Tools switched to or from loading on demand.
    DeferredLoading,
    /// The tool catalogue changed.
    DynamicTools,
}

impl RotateReason {
    /// Every component, in the order of the rules.
    pub const ALL: [Self; 7] = [
        Self::ContextEngine,
        Self::UserMcpServers,
        Self::Environment,
        Self::BundledMcpServers,
        Self::PluginApps,
        Self::DeferredLoading,
        Self::DynamicTools,
    ];

    /// Reads a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|component| component.as_str() == text)
    }

    /// A short name for people and for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContextEngine => "context-engine",
            Self::UserMcpServers => "user-mcp-servers",
            Self::Environment => "environment",
            Self::BundledMcpServers => "bundled-mcp-servers",
            Self::PluginApps => "plugin-apps",
            Self::DeferredLoading => "deferred-loading",
            Self::DynamicTools => "dynamic-tools",
        }
    }
}

impl fmt::Display for RotateReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why a turn gets its own temporary thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransientReason {
    /// Codex's own tools are disabled for this turn.
    ToolSurfaceDisabled,
    /// This turn offers no tools, but the thread has some.
    NoToolsThisTurn,
}

impl TransientReason {
    /// A short name for people and for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolSurfaceDisabled => "tool-surface-disabled",
            Self::NoToolsThisTurn => "no-tools-this-turn",
        }
    }
}

/// Decides what to do with the stored thread. Working directory, model, credentials, permissions
/// and instructions are not part of a thread's identity: the existing thread gets the new values.
#[must_use]
pub fn decide_binding(stored: Option<&BindingRecord>, wanted: &WantedThread) -> BindingDecision {
    let Some(stored) = stored else { return BindingDecision::Start };
    if wanted.tool_surface == ToolSurface::Disabled {
        return BindingDecision::Transient { reason: TransientReason::ToolSurfaceDisabled };
    }
    let resume = |tolerated| BindingDecision::Resume { thread: stored.thread.clone(), tolerated };
    // What an attached thread was started with is unknown, so its first resume accepts it as it is.
    if stored.origin == BindingOrigin::Attached {
        return resume(Vec::new());
    }
    let (reasons, tolerated): (Vec<_>, Vec<_>) = changed_components(stored, wanted)
        .into_iter()
        .partition(|component| wanted.rotation.of(*component) == ChangePolicy::Rotate);
    let only_tools = reasons.iter().all(|reason| *reason == RotateReason::DynamicTools);
    if reasons.is_empty() {
        resume(tolerated)
    } else if only_tools && wanted.tools.is_empty && !stored.fingerprints.tools_were_empty {
        BindingDecision::Transient { reason: TransientReason::NoToolsThisTurn }
    } else {
        BindingDecision::Rotate { reasons }
    }
}

/// Whether the plugin apps must be looked up before [`decide_binding`] can decide.
#[must_use]
pub fn needs_plugin_build(stored: Option<&BindingRecord>, wanted: &WantedThread) -> bool {
    let (Some(stored), WantedPlugins::Enabled { input, any_enabled, built: None }) =
        (stored, &wanted.plugins)
    else {
        return false;
    };
    let has_no_apps = stored.plugin_policy.as_ref().is_some_and(|policy| policy.apps.is_empty());
    !plugins_are_stale(stored, Some(input)) && (has_no_apps || *any_enabled)
}

/// The components that changed since the thread was started.
fn changed_components(stored: &BindingRecord, wanted: &WantedThread) -> Vec<RotateReason> {
    let mut reasons = Vec::new();
    let mut check = |changed: bool, reason: RotateReason| {
        if changed {
            reasons.push(reason);
        }
    };
    let fingerprints = &stored.fingerprints;
    let engine = (stored.context_engine.as_ref(), wanted.context_engine.as_ref());
    check(engine_changed(engine.0, engine.1), RotateReason::ContextEngine);
    let user_mcp = (fingerprints.user_mcp.as_ref(), wanted.user_mcp.as_ref());
    check(differs(user_mcp.0, user_mcp.1), RotateReason::UserMcpServers);
    let environment = (fingerprints.environment.as_ref(), wanted.environment.as_ref());
    check(differs(environment.0, environment.1), RotateReason::Environment);
    let bundled_changed = match &wanted.bundled_mcp {
        BundledMcp::NotEvaluated => false,
        BundledMcp::Evaluated(now) => differs(fingerprints.bundled_mcp.as_ref(), now.as_ref()),
    };
    check(bundled_changed, RotateReason::BundledMcpServers);
    check(plugins_changed(stored, &wanted.plugins), RotateReason::PluginApps);
    check(deferred_loading_flipped(stored, wanted), RotateReason::DeferredLoading);
    check(tools_changed(fingerprints.dynamic_tools.as_ref(), wanted), RotateReason::DynamicTools);
    reasons
}

fn engine_changed(
    stored: Option<&ContextEngineBinding>,
    wanted: Option<&ContextEngineBinding>,
) -> bool {
    stored != wanted
}

/// Compares two hashes. An opaque hash, made by unknown rules, is only compared with opaque ones.
fn differs(stored: Option<&Fingerprint>, wanted: Option<&Fingerprint>) -> bool {
    match (stored, wanted) {
        (Some(stored), Some(wanted)) if stored.is_opaque() != wanted.is_opaque() => false,
        (stored, wanted) => stored != wanted,
    }
}

fn plugins_are_stale(stored: &BindingRecord, input: Option<&Fingerprint>) -> bool {
    let fingerprints = &stored.fingerprints;
    let known = [
        fingerprints.plugin_input.is_some(),
        fingerprints.plugin_apps.is_some(),
        stored.plugin_policy.is_some(),
    ];
    match input {
        None => known.contains(&true),
        Some(input) => {
            known.contains(&false) || differs(fingerprints.plugin_input.as_ref(), Some(input))
        }
    }
}

fn plugins_changed(stored: &BindingRecord, wanted: &WantedPlugins) -> bool {
    match wanted {
        WantedPlugins::Disabled => plugins_are_stale(stored, None),
        WantedPlugins::Enabled { input, built, .. } => {
            let rebuilt_differs = built.is_some()
                && differs(stored.fingerprints.plugin_apps.as_ref(), built.as_ref());
            plugins_are_stale(stored, Some(input)) || rebuilt_differs
        }
    }
}

fn deferred_loading_flipped(stored: &BindingRecord, wanted: &WantedThread) -> bool {
    if stored.fingerprints.dynamic_tools.is_none() || wanted.tools.is_empty {
        return false;
    }
    let now = wanted.tools.contain_deferred;
    match stored.tools_contain_deferred {
        Some(before) => before != now,
        // Records from before this flag are accepted if tools are deferred now.
        None => !now,
    }
}

fn tools_changed(stored: Option<&Fingerprint>, wanted: &WantedThread) -> bool {
    // Without a fingerprint, the thread's catalogue is unknown and accepted as it is.
    let Some(stored) = stored else { return false };
    if stored.is_opaque() {
        return false;
    }
    let now = if stored.is_imported() { &wanted.tools.imported } else { &wanted.tools.fingerprint };
    stored != now
}

#[cfg(test)]
mod tests;
