//! `traj codex list`: the bindings in a directory.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use traj_core::port::BindingStore as _;
use traj_fs::{FsBindingStore, SystemClock};

use super::super::Outcome;
use super::{help_end, store_error};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity::counted;
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(after_help = help_end(&["traj codex list", "traj codex list --folder ~/chats"]))]
pub(super) struct Arguments {
    /// A session file; lists the bindings next to it
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    session: Option<PathBuf>,
    /// The directory [default: the current one]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Listing")]
struct BindingListing {
    /// The bindings of the directory.
    bindings: Vec<Binding>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Binding {
    /// The session file.
    session: String,
    /// Its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// Turns so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u64>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<BindingListing>("codex-list");

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let folder = match (&arguments.session, &arguments.folder) {
        (Some(session), _) => host.folder_of(session)?.0,
        (None, Some(folder)) => host.folder(folder)?,
        (None, None) => host.folder(".".as_ref())?,
    };
    let store = FsBindingStore::new(folder, Arc::new(SystemClock::new()));
    let mut bindings = Vec::new();
    for key in store.list().map_err(store_error)? {
        let session = key.as_str().to_owned();
        let empty =
            Binding { session, thread_id: None, turns: None, updated_at: None, problem: None };
        bindings.push(match store.load(&key) {
            Ok(Some(loaded)) => Binding {
                thread_id: Some(loaded.record.thread.as_str().to_owned()),
                turns: Some(loaded.record.turns),
                updated_at: Some(loaded.record.updated_at.to_iso()),
                ..empty
            },
            Ok(None) => continue,
            Err(error) => Binding { problem: Some(error.to_string()), ..empty },
        });
    }
    output.result(&BindingListing { bindings }, describe)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(listing: &BindingListing) -> String {
    let mut text = String::new();
    for binding in &listing.bindings {
        let session = escape_control(&binding.session);
        let rest = match (&binding.thread_id, &binding.problem) {
            (Some(thread), _) => {
                let turns = counted(binding.turns.unwrap_or_default(), "turn");
                format!("{}  {turns}", escape_control(thread))
            }
            (None, Some(problem)) => escape_control(problem).into_owned(),
            (None, None) => String::new(),
        };
        text.push_str(&session);
        text.push_str("  ");
        text.push_str(&rest);
        text.push('\n');
    }
    if text.is_empty() { "no bindings\n".to_owned() } else { text }
}
