//! What the coming turn wants of its thread, as far as the thread's identity depends on it.

use crate::binding::{ContextEngineBinding, Fingerprint};
use crate::json::Json;

/// The identity that the coming turn wants.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WantedThread {
    /// Whether Codex's own tools may be used at all.
    pub tool_surface: ToolSurface,
    /// The tools that the host offers.
    pub tools: WantedTools,
    /// MCP servers of the user's configuration; `None` when there are none.
    pub user_mcp: Option<Fingerprint>,
    /// MCP servers that the host brings.
    pub bundled_mcp: BundledMcp,
    /// The execution environments chosen; none without a choice.
    pub environment: Option<Fingerprint>,
    /// The plugin apps.
    pub plugins: WantedPlugins,
    /// The active context engine.
    pub context_engine: Option<ContextEngineBinding>,
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
        }
    }
}

/// Whether Codex's own tools may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSurface {
    /// They may.
    Enabled,
    /// Not in this turn.
    Disabled,
}

/// The catalogue of the coming turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WantedTools {
    /// The hash by our rules.
    pub fingerprint: Fingerprint,
    /// The hash by the rules of imported records.
    pub imported: Fingerprint,
    /// Whether there are no tools.
    pub is_empty: bool,
    /// Whether any tool is loaded on demand.
    pub contain_deferred: bool,
}

impl WantedTools {
    /// The catalogue of these specifications.
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

/// What is known about the host's own MCP servers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundledMcp {
    /// Nobody looked: nothing is compared, and the stored value is carried on.
    NotEvaluated,
    /// Somebody looked, and this is their hash, if there are any.
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
        /// The hash of the policy, which costs nothing to compute.
        input: Fingerprint,
        /// Whether any plugin is switched on now.
        any_enabled: bool,
        /// The hash of the apps the policy leads to, once somebody looked them up.
        built: Option<Fingerprint>,
    },
}
