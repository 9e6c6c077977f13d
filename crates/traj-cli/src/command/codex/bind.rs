//! `traj codex bind`: binds a session to a thread.

use std::process::ExitCode;

use clap::Args;
use codex_binding::{LoadedThreads, ThreadLifecycle, ThreadPlan};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use traj_core::id::ThreadId;

use super::super::Outcome;
use super::plan::PlanArguments;
use super::server::{ServerArguments, runtime};
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
                  Codex loads it once to make sure. Without --thread, Codex starts a new thread \
                  and writes it to disk with its first turn.",
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
    let session = resolve::chosen(&arguments.subject, Unnamed::Refused, host, output)?;
    let _lease = lease_now(&session.file, host)?;
    let found = Bound::read(&session.file, &arguments.plan, host)?;
    let wanted = arguments.thread.as_deref().map(ThreadId::parse).transpose();
    let wanted = wanted
        .map_err(|error| CommandError::usage("--thread is not a valid thread id").because(error))?;
    let bound = found.record().map(|record| &record.thread);
    if let Some(bound) = bound.filter(|bound| !arguments.replace && wanted.as_ref() != Some(*bound))
    {
        let message = format!("the session is bound to thread {bound} already");
        return Err(
            CommandError::usage(message).hint("pass --replace to bind it to another thread")
        );
    }
    let lifecycle = lifecycle(&found.store);
    let server = arguments.server.server(found.provider(), host, output)?;
    let report = runtime()?.block_on(async {
        let client = server.connect().await?;
        let report = bind(&lifecycle, &client, &found.plan, wanted.as_ref(), bound).await;
        client.stop().await;
        report
    })?;
    output.result(&report, |report| {
        format!("bound to thread {} ({})\n", escape_control(&report.thread_id), report.how)
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn bind(
    lifecycle: &ThreadLifecycle,
    client: &codex_binding::Client,
    plan: &ThreadPlan,
    wanted: Option<&ThreadId>,
    bound: Option<&ThreadId>,
) -> Result<BindReport, CommandError> {
    if let Some(thread) = wanted {
        let attached = lifecycle.attach(client, plan, thread).await.map_err(lifecycle_error)?;
        return Ok(BindReport { thread_id: attached.thread.as_str().to_owned(), how: "attached" });
    }
    let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
    let started = lifecycle.bind_new(client, &loaded, plan, bound, &cancel).await;
    let started = started.map_err(lifecycle_error)?;
    Ok(BindReport { thread_id: started.thread.as_str().to_owned(), how: "started" })
}
