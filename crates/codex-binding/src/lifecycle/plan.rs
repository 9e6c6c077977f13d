//! The requirements of a turn on its thread.

use std::sync::Arc;

use traj_core::binding::{
    BOUND_THREAD_INSTRUCTIONS, BindingRecord, BundledMcp, CarryOver, CodeMode, CredentialKind,
    Fingerprint, RotateReason, ThreadConfigRules, ToolSurface, WantedPlugins, WantedThread,
    WantedTools, mcp_servers_of, thread_config,
};
use traj_core::json::{Json, Object};
use traj_core::port::{BindingKey, ThreadSettings};

use super::LifecycleError;
use super::plugins::{PluginApps, PluginBuild};

/// The requirements of a turn on its thread.
///
/// For each setting, the first of these that has a value counts: [`settings`](Self::settings), the
/// stored binding, [`defaults`](Self::defaults). So a person's choice for the binding beats what
/// the runtime would use, on every path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadPlan {
    /// The session.
    pub key: BindingKey,
    /// What the thread's identity depends on.
    pub wanted: WantedThread,
    /// The directory that the agent works in, unless the binding has one.
    pub cwd: String,
    /// The directory to work in from now on, instead of the binding's.
    pub workspace: Option<String>,
    /// What is asked for. Its `config` is the first layer of the thread's configuration. Blank
    /// developer instructions send none.
    pub settings: ThreadSettings,
    /// What the runtime uses if nobody chose anything.
    pub defaults: ThreadSettings,
    /// The user's MCP servers, by name; see [`with_user_mcp`](Self::with_user_mcp).
    pub user_mcp: Option<Object<'static>>,
    /// The last layer of the thread's configuration. Only the code mode and the rules for small
    /// models come after it.
    pub final_config: Object<'static>,
    /// Whether the thread uses code mode.
    pub code_mode: CodeMode,
    /// Whether the thread leaves project documents out.
    pub lightweight: bool,
    /// How much of its predecessor's history a thread gets.
    pub carry_over: CarryOver,
    /// Tools of the host.
    pub tools: Vec<Json<'static>>,
    /// Execution environments.
    pub environments: Option<Vec<Json<'static>>>,
    /// The host's name.
    pub service_name: String,
    /// The credential profile; `None` keeps the stored one.
    pub auth_profile: Option<String>,
    /// The credential profile if none is asked for or stored.
    pub default_auth_profile: Option<String>,
    /// The kind of credential in the profile.
    pub credential: CredentialKind,
    /// Keeps the hooks of the thread valid; `None` keeps the stored value.
    pub hook_relay_generation: Option<String>,
    /// Looks up plugin apps when they are needed.
    pub plugins: Option<Arc<dyn PluginApps>>,
}

impl ThreadPlan {
    /// A plain thread, in `cwd` unless the binding has a directory.
    #[must_use]
    pub fn new(key: BindingKey, cwd: &str) -> Self {
        Self {
            key,
            wanted: WantedThread::plain(),
            cwd: cwd.to_owned(),
            workspace: None,
            settings: ThreadSettings::default(),
            defaults: ThreadSettings::default(),
            user_mcp: None,
            final_config: Object::new(),
            code_mode: CodeMode::Default,
            lightweight: false,
            carry_over: CarryOver::Nothing,
            tools: Vec::new(),
            environments: None,
            service_name: "traj".to_owned(),
            auth_profile: None,
            default_auth_profile: None,
            credential: CredentialKind::Other,
            hook_relay_generation: None,
            plugins: None,
        }
    }

    /// The same thread as part of a conversation. Unless the host has its own
    /// instructions, the model is informed that its replies go to a person
    /// elsewhere.
    #[must_use]
    pub fn in_conversation(mut self) -> Self {
        let instructions = &mut self.defaults.developer_instructions;
        instructions.get_or_insert_with(|| BOUND_THREAD_INSTRUCTIONS.to_owned());
        self
    }

    /// The same thread with tools of the host.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<Json<'static>>) -> Self {
        self.wanted.tools = WantedTools::of(&tools);
        self.tools = tools;
        self
    }

    /// The same thread with MCP servers of the user, by name.
    #[must_use]
    pub fn with_user_mcp(mut self, servers: Object<'static>) -> Self {
        let fingerprint = Fingerprint::of_mcp_servers(&Json::Object(servers.clone()));
        self.wanted.user_mcp = Some(fingerprint);
        self.user_mcp = Some(servers);
        self
    }

    /// The same thread with the MCP servers of a host's registry that `agent` may use, chosen and
    /// converted by [`mcp_servers_of`]. If it may use none, the thread has none.
    #[must_use]
    pub fn with_mcp_registry(mut self, registry: &Object<'_>, agent: Option<&str>) -> Self {
        let servers = mcp_servers_of(registry, agent);
        if servers.is_empty() {
            (self.user_mcp, self.wanted.user_mcp) = (None, None);
            return self;
        }
        self.with_user_mcp(servers)
    }

    /// The directory that the agent works in, given the stored binding.
    #[must_use]
    pub fn working_directory<'a>(&'a self, stored: Option<&'a BindingRecord>) -> &'a str {
        let stored = stored.map(|record| record.cwd.as_str()).filter(|cwd| !cwd.is_empty());
        self.workspace.as_deref().or(stored).unwrap_or(&self.cwd)
    }

    /// The configuration to send, with that of the plugin apps if the thread is started.
    pub(super) fn config(&self, model: &str, apps: Option<&PluginBuild>) -> Object<'static> {
        let is_disabled = self.wanted.tool_surface == ToolSurface::Disabled;
        let user_mcp = self.user_mcp.clone().filter(|_| !is_disabled).map(|servers| {
            let mut layer = Object::new();
            layer.push("mcp_servers", servers);
            layer
        });
        let layers = [&self.defaults.config, &self.settings.config]
            .into_iter()
            .chain(user_mcp.as_ref())
            .chain(apps.map(|apps| &apps.config))
            .chain([&self.final_config]);
        let mut rules = ThreadConfigRules::for_model(model);
        rules.code_mode = if is_disabled { CodeMode::Off } else { self.code_mode };
        rules.lightweight = self.lightweight;
        thread_config(layers, rules)
    }

    /// The execution environments to send. Without Codex's own tools there are none.
    pub(super) fn environments(&self) -> Option<Vec<Json<'static>>> {
        match self.wanted.tool_surface {
            ToolSurface::Disabled => Some(Vec::new()),
            _ => self.environments.clone(),
        }
    }

    /// Writes the identity of the thread into a record. For components whose change is
    /// `tolerated`, the record keeps what the thread was started with.
    pub(super) fn describe(&self, record: &mut BindingRecord, tolerated: &[RotateReason]) {
        let is_new = |component: RotateReason| !tolerated.contains(&component);
        let fingerprints = &mut record.fingerprints;
        if is_new(RotateReason::DynamicTools) {
            fingerprints.dynamic_tools = Some(self.wanted.tools.fingerprint.clone());
            fingerprints.tools_were_empty = self.wanted.tools.is_empty;
        }
        if is_new(RotateReason::UserMcpServers) {
            fingerprints.user_mcp.clone_from(&self.wanted.user_mcp);
        }
        if is_new(RotateReason::Environment) {
            fingerprints.environment.clone_from(&self.wanted.environment);
        }
        if let (true, BundledMcp::Evaluated(now)) =
            (is_new(RotateReason::BundledMcpServers), &self.wanted.bundled_mcp)
        {
            fingerprints.bundled_mcp.clone_from(now);
        }
        if is_new(RotateReason::DeferredLoading) && is_new(RotateReason::DynamicTools) {
            record.tools_contain_deferred = Some(self.wanted.tools.contain_deferred);
        }
        if is_new(RotateReason::ContextEngine) {
            record.context_engine.clone_from(&self.wanted.context_engine);
        }
        if self.hook_relay_generation.is_some() {
            record.hook_relay_generation.clone_from(&self.hook_relay_generation);
        }
    }

    /// Looks up plugin apps; `None` if the feature is off.
    pub(super) async fn build_plugins(&mut self) -> Result<Option<PluginBuild>, LifecycleError> {
        let Some(plugins) = self.plugins.clone() else { return Ok(None) };
        let WantedPlugins::Enabled { built, .. } = &mut self.wanted.plugins else {
            return Ok(None);
        };
        let found = plugins.build().await.map_err(|source| LifecycleError::Plugins { source })?;
        *built = Some(found.fingerprint.clone());
        Ok(Some(found))
    }
}
