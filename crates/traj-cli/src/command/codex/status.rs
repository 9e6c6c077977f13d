//! `traj codex status`: the binding of a session, and whether its thread exists.

use std::process::ExitCode;

use clap::{Args, value_parser};
use serde::Serialize;
use traj_core::binding::{
    ApprovalPolicy, BindingOrigin, BindingRecord, FormerThread, HomeComparison, SandboxMode,
};
use traj_core::port::ThreadService as _;
use traj_core::timestamp::UnixMillis;

use super::super::Outcome;
use super::server::{ServerArguments, runtime};
use super::stop::{Stop, Stoppable};
use super::{help_end, store, store_error};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity::counted;
use crate::resolve::{self, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(after_help = help_end(&["traj codex status --session s.jsonl", "traj codex status --session s.jsonl --offline --json"]))]
pub(super) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Do not ask Codex whether the thread exists
    #[arg(long)]
    offline: bool,
    /// Stop asking Codex this many seconds after the start of the command
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Report")]
struct StatusReport {
    /// Whether the session has a binding.
    bound: bool,
    /// The stored binding.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<BindingSummary>,
    /// What Codex reports about the thread, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<Health>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Record")]
struct BindingSummary {
    /// The thread.
    thread_id: String,
    /// `started`, `attached` or `imported`.
    origin: &'static str,
    /// The directory that it works in.
    cwd: String,
    /// The model.
    model: Option<String>,
    /// The provider of the model.
    model_provider: Option<String>,
    /// When Codex asks for approval.
    approval_policy: Option<&'static str>,
    /// What Codex may change.
    sandbox: Option<&'static str>,
    /// The service tier.
    service_tier: Option<String>,
    /// Where Codex keeps the thread.
    rollout_path: Option<String>,
    /// The Codex home that the thread is in.
    codex_home: Option<String>,
    /// The threads that the session was bound to before, oldest first. Codex may still have them.
    former_threads: Vec<FormerSummary>,
    /// Turns that ended under this binding.
    turns: u64,
    /// The thread contains messages up to this time.
    history_covered_through: Option<String>,
    /// When it was bound.
    created_at: String,
    /// When the record last changed.
    updated_at: String,
}

/// A thread that the session was bound to before.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormerThread")]
struct FormerSummary {
    /// The thread.
    thread_id: String,
    /// `rotated`, `gone` or `rebound`.
    reason: &'static str,
    /// Turns that ended under the binding.
    turns: u64,
    /// When another thread took its place.
    replaced_at: String,
}

/// What Codex reports about the thread.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Health {
    /// `present`, `missing`, `elsewhere` (in another Codex home) or `unknown`.
    thread: &'static str,
    /// The version of Codex.
    server_version: Option<String>,
    /// The number of turns that Codex has.
    turns: Option<u64>,
    /// Whether Codex has at least the turns of this binding; null if it does not report them.
    history_complete: Option<bool>,
    /// Why the state of the thread is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<StatusReport>("codex-status");

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let stop = Stop::after(arguments.timeout, Stoppable::Status);
    let session = resolve::chosen(&arguments.subject, Unnamed::Newest, host, output)?;
    let (store, key) = store(&session.file, host)?;
    let stored = store.load(&key).map_err(store_error)?.map(|loaded| loaded.record);
    let health = match (&stored, arguments.offline) {
        (Some(record), false) => Some(health(record, arguments, &stop, host, output)?),
        _ => None,
    };
    let record = stored.as_ref().map(describe_record);
    output.result(&StatusReport { bound: record.is_some(), record, health }, describe)?;
    Ok(ExitCode::SUCCESS)
}

fn describe_record(record: &BindingRecord) -> BindingSummary {
    BindingSummary {
        thread_id: record.thread.as_str().to_owned(),
        origin: match record.origin {
            BindingOrigin::Attached => "attached",
            BindingOrigin::Imported => "imported",
            _ => "started",
        },
        cwd: record.cwd.clone(),
        model: record.model.clone(),
        model_provider: record.model_provider.clone(),
        approval_policy: record.approval_policy.map(ApprovalPolicy::as_str),
        sandbox: record.sandbox.map(SandboxMode::as_str),
        service_tier: record.service_tier.as_ref().map(|tier| tier.as_str().to_owned()),
        rollout_path: record.rollout_path.clone(),
        codex_home: record.home().map(str::to_owned),
        former_threads: record.former_threads.iter().map(describe_former).collect(),
        turns: record.turns,
        history_covered_through: record.history_covered_through.map(UnixMillis::to_iso),
        created_at: record.created_at.to_iso(),
        updated_at: record.updated_at.to_iso(),
    }
}

fn describe_former(former: &FormerThread) -> FormerSummary {
    FormerSummary {
        thread_id: former.thread.as_str().to_owned(),
        reason: former.reason.as_str(),
        turns: former.turns,
        replaced_at: former.replaced_at.to_iso(),
    }
}

/// Asks Codex about the thread. If the server does not start or answer, that is reported in the
/// result and is not a failure of the verb; a signal is one.
fn health(
    record: &BindingRecord,
    arguments: &Arguments,
    stop: &Stop,
    host: &Host,
    output: &CommandOutput,
) -> Result<Health, CommandError> {
    let unknown = |problem: String| Health {
        thread: "unknown",
        server_version: None,
        turns: None,
        history_complete: None,
        problem: Some(problem),
    };
    let asked = runtime().and_then(|runtime| {
        let server = arguments.server.server(record.model_provider.as_deref(), host, output)?;
        runtime.block_on(async {
            stop.listen(host, output)?;
            let asking = async {
                let client = server.connect().await?;
                let version = client.server_version().map(str::to_owned);
                let summary = client.read_thread(&record.thread).await;
                client.stop().await;
                Ok((version, client.home(), summary))
            };
            stop.unless_stopped(asking).await
        })
    });
    Ok(match asked {
        Err(error) if stop.signal().is_some() => return Err(error),
        Err(error) => unknown(error.message),
        Ok((server_version, home, Err(error))) => {
            let (thread, problem) = match (record.compare_home(home.as_deref()), error.refusal()) {
                (HomeComparison::Other { stored }, Some(_)) => {
                    let home = home.unwrap_or_default();
                    let problem =
                        format!("the thread is in the Codex home {stored}, and Codex uses {home}");
                    ("elsewhere", problem)
                }
                (_, Some(_)) => ("missing", error.to_string()),
                (_, None) => ("unknown", error.to_string()),
            };
            Health { thread, server_version, ..unknown(problem) }
        }
        Ok((server_version, _, Ok(summary))) => Health {
            thread: "present",
            server_version,
            turns: summary.turns,
            history_complete: summary.turns.map(|turns| turns >= record.turns),
            problem: None,
        },
    })
}

fn describe(report: &StatusReport) -> String {
    let Some(record) = &report.record else { return "the session is not bound\n".to_owned() };
    let text = |text: &Option<String>| {
        text.as_deref().map_or_else(|| "-".to_owned(), |text| escape_control(text).into_owned())
    };
    let mut lines = vec![
        format!("thread     {} ({})", escape_control(&record.thread_id), record.origin),
        format!("workspace  {}", escape_control(&record.cwd)),
        format!("model      {} from {}", text(&record.model), text(&record.model_provider)),
        format!("asks       {}", record.approval_policy.unwrap_or("as configured")),
        format!("may change {}", record.sandbox.unwrap_or("as configured")),
        format!(
            "history    {}, through {}",
            counted(record.turns, "turn"),
            text(&record.history_covered_through)
        ),
    ];
    for former in &record.former_threads {
        let thread = escape_control(&former.thread_id);
        let turns = counted(former.turns, "turn");
        lines.push(format!("before     {thread} ({}, {turns})", former.reason));
    }
    if let Some(health) = &report.health {
        let turns = health.turns.map(|turns| format!(" ({})", counted(turns, "turn")));
        let version = health.server_version.as_deref().map(escape_control);
        let version = version.map(|version| format!(", version {version}"));
        let (turns, version) = (turns.unwrap_or_default(), version.unwrap_or_default());
        lines.push(format!("codex      {}{turns}{version}", health.thread));
        if health.history_complete == Some(false) {
            lines.push("           fewer turns than this binding has seen".to_owned());
        }
        if let Some(problem) = &health.problem {
            lines.push(format!("           {}", escape_control(problem)));
        }
    }
    lines.join("\n") + "\n"
}
