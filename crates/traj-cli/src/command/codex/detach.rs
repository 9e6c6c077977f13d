//! `traj codex detach`: removes a session's binding.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::super::Outcome;
use super::{help_end, store, store_error};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::{self, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(after_help = help_end(&["traj codex detach --session s.jsonl", "traj codex detach --session s.jsonl --set-aside"]))]
pub(super) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Rename a binding that cannot be read instead of removing it
    #[arg(long)]
    set_aside: bool,
}

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct DetachReport {
    /// Whether there was a binding.
    detached: bool,
    /// The thread, which stays with Codex.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// The name under which a damaged record was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_as: Option<String>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<DetachReport>("codex-detach");

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let session = resolve::chosen(&arguments.subject, Unnamed::Refused, host, output)?;
    let (store, key) = store(&session.file, host)?;
    let mut report = DetachReport::default();
    if arguments.set_aside {
        report.kept_as = store.set_aside(&key).map_err(store_error)?;
    }
    if let Some(loaded) = store.load(&key).map_err(store_error)? {
        let thread = loaded.record.thread;
        report.detached = store.clear(&key, &thread).map_err(store_error)?;
        report.thread_id = Some(thread.as_str().to_owned());
    }
    output.result(&report, describe)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(report: &DetachReport) -> String {
    let kept = report
        .kept_as
        .as_deref()
        .map(|name| format!("the unreadable record is kept as {}\n", escape_control(name)));
    let detached = match &report.thread_id {
        Some(thread) => format!("detached; Codex still has thread {}\n", escape_control(thread)),
        None => "the session is not bound\n".to_owned(),
    };
    kept.unwrap_or_default() + &detached
}
