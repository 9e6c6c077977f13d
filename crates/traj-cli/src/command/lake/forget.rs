//! `traj lake forget`: removes a session from a dataset.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;
use traj_lake::{SessionInDataset, find_in_dataset, forget_in_dataset};

use super::explain;
use crate::command::Outcome;
use crate::command::query::dataset_root;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::interruption::{Interruption, Waits};
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity::{counted, shown_size};
use crate::terminal_text::escape_control;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Removes a session of any host from a dataset, with all its revisions. A note with \
                  a digest of its id stays in the dataset, so that no host ships it again.\n\nCompacted \
                  files contain many sessions and are not changed. Those with rows of the session \
                  are listed, and the exit code is 1.",
    after_help = concat!(
        "Examples:\n",
        "  traj lake forget 0197f2c4-52a7-7c31-9d7a-b4c0c2a0f9e1 --at s3://bucket/runs --dry-run\n",
        "  traj lake forget 0197f2c4-52a7-7c31-9d7a-b4c0c2a0f9e1 --at file:///srv/lake --yes\n",
        "\n",
        "Exit codes: 0 removed · 1 it is not in the dataset, or cannot be removed, or compacted \
         files still have rows of it · 2 wrong usage, or not confirmed · 128+N ended by \
         signal N"
    )
)]
pub(super) struct ForgetArguments {
    /// The session's id, in full, as in the column `session_id`
    #[arg(value_name = "SESSION")]
    session: String,
    /// The dataset: file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://
    #[arg(long, value_name = "URL")]
    at: String,
    /// Remove it without asking
    #[arg(long)]
    yes: bool,
    /// Show what would be removed, without removing anything
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// What was removed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Forgotten {
    /// The dataset.
    dataset: String,
    /// The column `trace_id` of the session.
    trace_id: String,
    /// Whether nothing was removed, because of `--dry-run`.
    dry_run: bool,
    /// The files.
    files: Vec<String>,
    /// How many bytes they have.
    bytes: u64,
    /// Compacted files that still have rows of the session.
    compacted: Vec<String>,
}

pub(super) const DOCUMENT: JsonDocument = JsonDocument::of::<Forgotten>("lake-forget");

pub(super) fn run(arguments: &ForgetArguments, host: &Host, output: &CommandOutput) -> Outcome {
    let root = dataset_root("--at", &arguments.at, host)?;
    let dataset = host.dataset(&root)?;
    let interruption = Interruption::watch(host)?;
    let mut waits = Waits::until(interruption.stop_flag());
    let explain = |error| interruption.explain_shipping(explain(error));
    let found = find_in_dataset(&*dataset, &arguments.session, &mut waits).map_err(explain)?;
    if found.files.is_empty() && found.compacted.is_empty() {
        return Err(CommandError::failure("the session is not in the dataset")
            .hint("give its whole id, as in the column session_id of the view runs"));
    }
    if !arguments.dry_run {
        ask(arguments, &found, output)?;
        forget_in_dataset(&*dataset, &found, &mut waits).map_err(explain)?;
    }
    let texts = |keys: &[traj_core::port::DatasetKey]| -> Vec<String> {
        keys.iter().map(ToString::to_string).collect()
    };
    let forgotten = Forgotten {
        dataset: root.to_string(),
        trace_id: found.trace_id.clone(),
        dry_run: arguments.dry_run,
        files: texts(&found.files),
        bytes: found.bytes,
        compacted: texts(&found.compacted),
    };
    if found.compacted.is_empty() {
        output.result(&forgotten, describe)?;
        return Ok(ExitCode::SUCCESS);
    }
    let error = CommandError::new(
        ErrorKind::Failure,
        "files of a compaction still have rows of the session",
    );
    let error = error.hint("rewrite them with your engine, without the rows of this trace_id");
    output.failed_result(&forgotten, &error, describe)
}

/// Asks before anything is removed, unless `--yes` was given.
fn ask(
    arguments: &ForgetArguments,
    found: &SessionInDataset,
    output: &CommandOutput,
) -> Result<(), CommandError> {
    if arguments.yes {
        return Ok(());
    }
    let refused = |why: &str| {
        CommandError::usage(format!("nothing was removed: {why}"))
            .hint("`--dry-run` shows what would be removed, `--yes` removes it without asking")
    };
    let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !has_terminal || output.is_quiet() {
        return Err(refused("nobody could be asked"));
    }
    let mut screen = std::io::stderr().lock();
    let question = format!("remove {}? [y/N] ", amount(found.files.len(), found.bytes));
    screen.write_all(question.as_bytes()).and_then(|()| screen.flush()).ok();
    let mut answer = String::new();
    match (std::io::stdin().lock().read_line(&mut answer), answer.trim()) {
        (Ok(_), "y" | "Y" | "yes") => Ok(()),
        _ => Err(refused("you did not agree")),
    }
}

fn amount(files: usize, bytes: u64) -> String {
    format!("{}, {}", counted(files as u64, "file"), shown_size(bytes))
}

fn describe(forgotten: &Forgotten) -> String {
    let verb = if forgotten.dry_run { "would remove" } else { "removed" };
    let mut lines = vec![format!("{verb} {}", amount(forgotten.files.len(), forgotten.bytes))];
    if forgotten.dry_run {
        lines.extend(forgotten.files.iter().map(|file| format!("  {file}")));
    }
    lines.extend(forgotten.compacted.iter().map(|file| format!("still has rows: {file}")));
    lines.iter().map(|line| format!("{}\n", escape_control(line))).collect()
}
