//! `traj trim --pending`: the queues that wait for the end of a turn.

use std::path::{Path, PathBuf};

use serde::Serialize;
use traj_core::care::trim::{pending_trims, queued_session};
use traj_core::json::Json;
use traj_core::timestamp::UnixMillis;

use super::super::Outcome;
use super::{Arguments, TrimReport};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::quantity;
use crate::resolve;
use crate::terminal_text::escape_control;

/// A queue with trims that wait for the end of a turn.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PendingQueue {
    /// The session's file; it need not exist.
    session_file: String,
    /// The queue.
    queue: String,
    /// How many trims wait.
    trims: u64,
    /// When the oldest of them was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest: Option<String>,
    /// When the newest of them was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
    /// Lines of the queue that are not trims.
    unreadable_lines: u64,
    /// Why the queue cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let folders = match &arguments.folder {
        Some(folder) => {
            host.folder(folder)?;
            vec![host.absolute(folder)]
        }
        None => resolve::session_folders(arguments.subject.agent.as_deref(), host),
    };
    let mut queues = Vec::new();
    for folder in folders {
        queues.extend(queues_in(&folder, host)?);
    }
    let failed = queues.iter().any(|queue| queue.problem.is_some());
    let (action, report) = ("pending", Json::Null);
    let report = TrimReport {
        action,
        dry_run: arguments.dry_run,
        undo_until: None,
        report,
        pending: Some(queues),
    };
    output.verdict(&report, failed.then_some(ErrorKind::Failure), human)
}

/// The queues in a directory that are not empty, by name.
fn queues_in(path: &Path, host: &Host) -> Result<Vec<PendingQueue>, CommandError> {
    let Some(folder) = host.folder_if_any(path)? else { return Ok(Vec::new()) };
    let entries = folder.entries().map_err(|error| {
        CommandError::failure(format!("cannot read {}", path.display())).because(error)
    })?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| queued_session(name).is_some()).collect();
    names.sort();
    let mut queues = Vec::new();
    for name in names {
        let Some(session) = queued_session(&name) else { continue };
        let shown = |name: &str| -> String {
            PathBuf::from(path).join(name).to_string_lossy().into_owned()
        };
        let opened = folder.try_clone().map_err(|error| {
            CommandError::failure(format!("cannot read {}", path.display())).because(error)
        })?;
        let (pending, problem) = match pending_trims(&traj_fs::FsLineLog::new(opened, name.clone()))
        {
            Ok(pending) => (pending, None),
            Err(error) => (Default::default(), Some(error.to_string())),
        };
        if pending.count + pending.unreadable == 0 && problem.is_none() {
            continue;
        }
        queues.push(PendingQueue {
            session_file: shown(&session),
            queue: shown(&name),
            trims: pending.count,
            oldest: pending.oldest.map(UnixMillis::to_iso),
            newest: pending.newest.map(UnixMillis::to_iso),
            unreadable_lines: pending.unreadable,
            problem,
        });
    }
    Ok(queues)
}

fn human(report: &TrimReport) -> String {
    let mut lines = Vec::new();
    for queue in report.pending.iter().flatten() {
        let session = escape_control(&queue.session_file);
        let detail = match (&queue.problem, &queue.oldest) {
            (Some(problem), _) => escape_control(problem).into_owned(),
            (None, Some(oldest)) => {
                format!("{} since {oldest}", quantity::counted(queue.trims, "trim"))
            }
            (None, None) => {
                let lines = quantity::counted(queue.unreadable_lines, "line");
                format!("{lines} that cannot be read")
            }
        };
        lines.push(format!("{session}  {detail}\n"));
    }
    if lines.is_empty() { "no trims are queued\n".to_owned() } else { lines.concat() }
}
