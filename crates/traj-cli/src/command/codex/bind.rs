//! `traj codex bind`: binds a session to a thread.

use std::process::ExitCode;

use clap::{Args, value_parser};
use codex_binding::{Client, LifecycleError, LoadedThreads, ThreadLifecycle, ThreadPlan};
use serde::Serialize;
use traj_core::binding::RefusalKind;
use traj_core::id::ThreadId;

use super::super::Outcome;
use super::plan::PlanArguments;
use super::server::{ServerArguments, runtime};
use super::stop::{Stop, Stoppable};
use super::turn::lease_now;
use super::{Bound, help_end, lifecycle, lifecycle_error};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::{self, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Binds a session to a Codex thread. With --thread, the thread must exist; \
                  Codex loads it once to check. Without --thread, Codex starts a new thread \
                  and writes it to disk with its first turn.\n\nSIGINT (Ctrl-C), SIGTERM and SIGHUP \
                  stop the command with exit code 130, 143 or 129, and leave the binding as it was.",
    after_help = help_end(&["traj codex bind --session s.jsonl", "traj codex bind --session s.jsonl --thread 0197f2c4-…"])
)]
pub(super) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The existing thread to bind to
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Replace an existing binding to another thread
    #[arg(long)]
    replace: bool,
    /// Give up this many seconds after the start of the command
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    #[command(flatten)]
    plan: PlanArguments,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct BindReport {
    /// The thread that the session is bound to.
    thread_id: String,
    /// `attached` to a thread that existed, or `started`.
    how: &'static str,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<BindReport>("codex-bind");

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let stop = Stop::after(arguments.timeout, Stoppable::Bind);
    let session = resolve::chosen(&arguments.subject, Unnamed::Refused, host, output)?;
    let _lease = lease_now(&session.file, host)?;
    let found = Bound::read(&session.file, &arguments.plan, None, host)?;
    let wanted = arguments.thread.as_deref().map(ThreadId::parse).transpose();
    let wanted = wanted
        .map_err(|error| CommandError::usage("--thread is not a valid thread id").because(error))?;
    let bound = found.record().map(|record| &record.thread);
    if let Some(bound) = bound.filter(|bound| !arguments.replace && wanted.as_ref() != Some(*bound))
    {
        let message = format!("the session is already bound to thread {bound}");
        return Err(
            CommandError::usage(message).hint("pass --replace to bind it to another thread")
        );
    }
    let lifecycle = lifecycle(&found.store);
    let server = arguments.server.server(found.provider(), host, output)?;
    let report = runtime()?.block_on(async {
        stop.listen(host, output)?;
        let client = stop.unless_stopped(server.connect()).await?;
        let binding = bind(&lifecycle, &client, &found.plan, wanted.as_ref(), bound, &stop);
        match stop.until_stopped(binding).await {
            // A Codex that hangs is killed with the runtime.
            Err(LifecycleError::Cancelled) => Err(stop.error()),
            report => {
                client.stop().await;
                report.map_err(|error| bind_error(error, wanted.as_ref()))
            }
        }
    })?;
    output.result(&report, |report| {
        format!("bound to thread {} ({})\n", escape_control(&report.thread_id), report.how)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Explains a failure. A thread that is wanted by its id may not exist at all.
fn bind_error(error: LifecycleError, wanted: Option<&ThreadId>) -> CommandError {
    let is_unknown = match &error {
        LifecycleError::InvalidThread { .. } => true,
        LifecycleError::Server(refused) => refused.refusal() == Some(RefusalKind::ThreadGone),
        _ => false,
    };
    match wanted.filter(|_| is_unknown) {
        Some(thread) => CommandError::failure(format!("Codex has no thread {thread}"))
            .because(error)
            .hint("the binding is unchanged; check the id and CODEX_HOME"),
        None => lifecycle_error(error),
    }
}

async fn bind(
    lifecycle: &ThreadLifecycle,
    client: &Client,
    plan: &ThreadPlan,
    wanted: Option<&ThreadId>,
    bound: Option<&ThreadId>,
    stop: &Stop,
) -> Result<BindReport, LifecycleError> {
    let loaded = LoadedThreads::new();
    let (record, how) = match wanted {
        Some(thread) => (lifecycle.attach(client, plan, thread, &stop.cancel).await?, "attached"),
        None => (lifecycle.bind_new(client, &loaded, plan, bound, &stop.cancel).await?, "started"),
    };
    Ok(BindReport { thread_id: record.thread.as_str().to_owned(), how })
}
