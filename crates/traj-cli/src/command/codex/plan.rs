//! What a verb wants of a thread, from its flags.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use codex_binding::ThreadPlan;
use traj_core::binding::{
    ApprovalPolicy, CredentialKind, Fingerprint, SandboxMode, ServiceTier, resolve_provider,
};
use traj_core::json::Json;
use traj_core::port::BindingKey;

use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;

#[derive(Debug, Args)]
pub(super) struct PlanArguments {
    /// The directory that the agent works in [default: as bound, else the current one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The model, by its name in Codex
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The provider of the model, by its name in Codex's configuration
    #[arg(long, value_name = "NAME")]
    model_provider: Option<String>,
    /// When Codex asks for approval; requests are declined
    #[arg(long, value_enum, value_name = "WHEN")]
    approval: Option<Approval>,
    /// What Codex may change
    #[arg(long, value_enum, value_name = "MODE")]
    sandbox: Option<Sandbox>,
    /// The service tier: priority, flex, or another one that Codex offers
    #[arg(long, value_name = "NAME")]
    service_tier: Option<String>,
    /// A JSON file with the MCP servers of the thread: one object, one member per server
    #[arg(long, value_name = "FILE")]
    mcp_servers: Option<PathBuf>,
    /// A JSON file with tools to offer: a list of tool specifications
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Approval {
    Never,
    OnRequest,
    Untrusted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

impl PlanArguments {
    /// The plan for a session; without a workspace, `fallback` or the current folder.
    pub(super) fn plan(
        &self,
        key: BindingKey,
        host: &Host,
        fallback: Option<&str>,
    ) -> Result<ThreadPlan, CommandError> {
        let cwd = match (&self.workspace, fallback.filter(|cwd| !cwd.is_empty())) {
            (Some(workspace), _) => host.absolute(workspace).to_string_lossy().into_owned(),
            (None, Some(cwd)) => cwd.to_owned(),
            (None, None) => host.facts.current_dir.clone(),
        };
        let mut plan = ThreadPlan::new(key, &cwd);
        let settings = &mut plan.settings;
        settings.model.clone_from(&self.model);
        let provider = self.model_provider.as_deref().unwrap_or_default();
        settings.model_provider = resolve_provider(provider, CredentialKind::Other);
        settings.approval_policy = self.approval.map(|approval| match approval {
            Approval::Never => ApprovalPolicy::Never,
            Approval::OnRequest => ApprovalPolicy::OnRequest,
            Approval::Untrusted => ApprovalPolicy::Untrusted,
        });
        settings.sandbox = self.sandbox.map(|sandbox| match sandbox {
            Sandbox::ReadOnly => SandboxMode::ReadOnly,
            Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
            Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
        });
        settings.service_tier = self.service_tier.as_deref().and_then(ServiceTier::parse);
        if let Some(file) = &self.mcp_servers {
            let servers = read_json(file, host)?;
            if servers.as_object().is_none() {
                return Err(not_usable(file, "one JSON object is expected"));
            }
            plan.wanted.user_mcp = Some(Fingerprint::of_mcp_servers(&servers));
            plan.settings.config.push("mcp_servers", servers);
        }
        if let Some(file) = &self.tools {
            let Json::Array(tools) = read_json(file, host)? else {
                return Err(not_usable(file, "a JSON list is expected"));
            };
            plan = plan.with_tools(tools);
        }
        Ok(plan)
    }
}

fn read_json(file: &Path, host: &Host) -> Result<Json<'static>, CommandError> {
    let text = host.read_text(file)?;
    let parsed = Json::parse(&text).map(Json::into_owned);
    parsed.map_err(|_| not_usable(file, "it is not JSON"))
}

fn not_usable(file: &Path, why: &str) -> CommandError {
    CommandError::new(ErrorKind::Damaged, format!("{} cannot be used: {why}", file.display()))
        .hint("`traj codex turn --help` describes the file")
}
