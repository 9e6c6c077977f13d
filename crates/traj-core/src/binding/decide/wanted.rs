//! The parts of a thread's identity that the next turn wants.

use crate::binding::{ContextEngineBinding, Fingerprint, RotationPolicy};
use crate::json::Json;

/// The identity that the next turn wants.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WantedThread {
    /// Whether Codex's own tools may be used at all.
    pub tool_surface: ToolSurface,
    /// The tools that the host offers.
    pub tools: WantedTools,
    /// MCP servers of the user's configuration; `None` when there are none.
    pub user_mcp: Option<Fingerprint>,
    /// MCP servers that the host provides.
    pub bundled_mcp: BundledMcp,
    /// The chosen execution environments; `None` without a choice.
    pub environment: Option<Fingerprint>,
    /// The plugin apps.
    pub plugins: WantedPlugins,
    /// The active context engine.
    pub context_engine: Option<ContextEngineBinding>,
    /// What a change of each of these leads to.
    pub rotation: RotationPolicy,
}

impl WantedThread {
    /// A turn without tools, servers, plugins or engine.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            tool_surface: ToolSurface::Enabled,
            tools: WantedTools::of(&[]),
            user_mcp: None,
            bundled_mcp: BundledMcp::NotEvaluated,
            environment: None,
            plugins: WantedPlugins::Disabled,
            context_engine: None,
            rotation: RotationPolicy::default(),
        }
    }
}

/// Whether Codex's own tools may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSurface {
    /// They may be used.
    Enabled,
    /// Not for this turn.
    Disabled,
}

/// The tool catalogue of the next turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WantedTools {
    /// The hash by our rules.
    pub fingerprint: Fingerprint,
    /// The hash by the rules of imported records.
    pub imported: Fingerprint,
    /// Whether the catalogue is empty.
    pub is_empty: bool,
    /// Whether any tool is loaded on demand.
    pub contain_deferred: bool,
}

impl WantedTools {
    /// The catalogue of these tool specifications.
    #[must_use]
    pub fn of(tools: &[Json<'_>]) -> Self {
        let is_deferred =
            |tool: &Json<'_>| tool.get("deferLoading").and_then(Json::as_bool) == Some(true);
        Self {
            fingerprint: Fingerprint::of_tools(tools),
            imported: Fingerprint::of_tools_imported(tools),
            is_empty: tools.is_empty(),
            contain_deferred: tools.iter().any(is_deferred),
        }
    }
}

/// What is known about the MCP servers that the host provides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundledMcp {
    /// Not evaluated: nothing is compared, and the stored value is kept.
    NotEvaluated,
    /// Evaluated: the hash of the servers, if there are any.
    Evaluated(Option<Fingerprint>),
}

/// What is known about plugin apps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WantedPlugins {
    /// The feature is off.
    Disabled,
    /// The feature is on.
    Enabled {
        /// The hash of the policy, which is cheap to compute.
        input: Fingerprint,
        /// Whether any plugin is enabled now.
        any_enabled: bool,
        /// The hash of the apps that result from the policy, once they were looked up.
        built: Option<Fingerprint>,
    },
}
