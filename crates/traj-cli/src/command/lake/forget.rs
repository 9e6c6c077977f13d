//! `traj lake forget`: removes a session from a dataset.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde::Serialize;
use traj_export::agent_name;
use traj_lake::{SessionInDataset, find_in_dataset, forget_in_dataset};

use super::explain;
use crate::command::Outcome;
use crate::command::query::dataset_root;
use crate::command_error::CommandError;
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
                  files contain many sessions. They are written again without this one, each in \
                  memory.",
    after_help = concat!(
        "Examples:\n",
        "  traj lake forget 0197f2c4-52a7-7c31-9d7a-b4c0c2a0f9e1 --at s3://bucket/runs --dry-run\n",
        "  traj lake forget 0197f2c4-52a7-7c31-9d7a-b4c0c2a0f9e1 --at file:///srv/lake --yes\n",
        "\n",
        "Exit codes: 0 removed · 1 it is not in the dataset, or cannot be removed · 2 wrong usage, \
         not confirmed, or several programs have a session with this id · 128+N ended by \
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
    /// The program, if sessions of several programs have this id
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
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
    /// The program, as in the names of directories.
    agent: String,
    /// The column `trace_id` of the session.
    trace_id: String,
    /// Whether nothing was removed, because of `--dry-run`.
    dry_run: bool,
    /// The files.
    files: Vec<String>,
    /// How many bytes they have.
    bytes: u64,
    /// Long texts of the session that no other session has.
    texts: Vec<String>,
    /// Compacted files with rows of the session, which are written again without them.
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
    let found = choose(found, arguments.agent.as_deref())?;
    if !arguments.dry_run {
        ask(arguments, &found, output)?;
        forget_in_dataset(&*dataset, &found, &mut waits).map_err(explain)?;
    }
    let texts = |keys: &[traj_core::port::DatasetKey]| -> Vec<String> {
        keys.iter().map(ToString::to_string).collect()
    };
    let forgotten = Forgotten {
        dataset: root.to_string(),
        agent: found.agent.clone(),
        trace_id: found.trace_id.clone(),
        dry_run: arguments.dry_run,
        files: texts(&found.files),
        bytes: found.bytes,
        texts: texts(&found.texts),
        compacted: texts(&found.compacted),
    };
    output.result(&forgotten, describe)?;
    Ok(ExitCode::SUCCESS)
}

/// The session of the program that the user named, or the only one.
fn choose(
    mut found: Vec<SessionInDataset>,
    agent: Option<&str>,
) -> Result<SessionInDataset, CommandError> {
    let agents: Vec<String> = found.iter().map(|session| session.agent.clone()).collect();
    found.retain(|session| agent.is_none_or(|agent| agent_name(Some(agent)) == session.agent));
    match (found.len(), agents.len()) {
        (1, _) => {}
        (0, 1..) => {
            return Err(CommandError::failure("no session of this program has this id")
                .hint(format!("`--agent` can be {}", agents.join(" or "))));
        }
        (0, 0) => {
            return Err(CommandError::failure("the session is not in the dataset")
                .hint("give its whole id, as in the column session_id of the view runs"));
        }
        _ => {
            return Err(CommandError::usage("sessions of several programs have this id")
                .hint(format!("choose one of them with `--agent`: {}", agents.join(", "))));
        }
    }
    Ok(found.remove(0))
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
    if !forgotten.texts.is_empty() {
        let count = counted(forgotten.texts.len() as u64, "long text");
        lines.push(format!("{verb} {count} that no other session has"));
    }
    let verb = if forgotten.dry_run { "would write" } else { "wrote" };
    let again = forgotten.compacted.iter();
    lines.extend(again.map(|file| format!("{verb} again without the session: {file}")));
    lines.iter().map(|line| format!("{}\n", escape_control(line))).collect()
}
