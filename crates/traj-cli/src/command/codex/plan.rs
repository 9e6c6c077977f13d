//! The plan for a thread, from the flags of a verb.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use codex_binding::ThreadPlan;
use traj_core::binding::{
    ApprovalPolicy, CarryOver, ChangePolicy, RotateReason, SandboxMode, ServiceTier,
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
    /// When Codex asks for approval
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

/// What a change of the plan does to the thread.
#[derive(Debug, Args)]
pub(super) struct ChangeArguments {
    /// Which messages of the old thread a new thread gets
    #[arg(long, value_enum, value_name = "WHAT", default_value = "nothing")]
    carry_over: Carry,
    /// What a changed component does to the thread: ignore, warn or rotate, such as
    /// dynamic-tools=warn [default: rotate]; may be repeated
    #[arg(long, value_name = "COMPONENT=POLICY", value_parser = change_policy)]
    on_change: Vec<(RotateReason, ChangePolicy)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Carry {
    /// A new thread knows nothing of the old one
    Nothing,
    /// The beginning of each message
    Summary,
    /// The messages, without tool calls
    History,
}

/// Reads `COMPONENT=POLICY`.
fn change_policy(text: &str) -> Result<(RotateReason, ChangePolicy), String> {
    let (component, policy) = text.split_once('=').ok_or("write COMPONENT=POLICY")?;
    let component = RotateReason::parse(component).ok_or_else(|| {
        let known: Vec<&str> = RotateReason::ALL.iter().map(|known| known.as_str()).collect();
        format!("the components are {}", known.join(", "))
    })?;
    let policy = ChangePolicy::parse(policy).ok_or("the policies are ignore, warn and rotate")?;
    Ok((component, policy))
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
    /// The plan for a session. Without a workspace, the bound or the current directory is used.
    pub(super) fn plan(&self, key: BindingKey, host: &Host) -> Result<ThreadPlan, CommandError> {
        let mut plan = ThreadPlan::new(key, &host.facts.current_dir);
        let absolute = |path: &PathBuf| host.absolute(path).to_string_lossy().into_owned();
        plan.workspace = self.workspace.as_ref().map(absolute);
        let settings = &mut plan.settings;
        settings.model.clone_from(&self.model);
        settings.model_provider.clone_from(&self.model_provider);
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
            let Json::Object(servers) = read_json(file, host)? else {
                return Err(not_usable(file, "one JSON object is expected"));
            };
            plan = plan.with_user_mcp(servers);
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

impl ChangeArguments {
    /// Writes the policies into a plan.
    pub(super) fn apply(&self, plan: &mut ThreadPlan) {
        plan.carry_over = match self.carry_over {
            Carry::Nothing => CarryOver::Nothing,
            Carry::Summary => CarryOver::summary(),
            Carry::History => CarryOver::history(),
        };
        for (component, policy) in &self.on_change {
            plan.wanted.rotation = plan.wanted.rotation.clone().with(*component, *policy);
        }
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
