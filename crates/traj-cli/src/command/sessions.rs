//! `traj sessions`: which sessions there are.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cap_std::fs::File;
use clap::Args;
use serde::Serialize;
use traj_core::prune::classify;
use traj_core::session_summary::SessionSummary;
use traj_core::timestamp::UnixMillis;
use traj_fs::{Access, open_regular};

use super::Outcome;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::{Either, JsonDocument};
use crate::output::Output;
use crate::quantity;
use crate::resolve::{Session as Place, StorePlace};
use crate::terminal_text::escape_control;

/// So much of the end of a file is read for its summary.
const SUMMARY_BYTES: u64 = 512 * 1024;

#[derive(Debug, Args)]
#[command(
    long_about = "Lists sessions with the time of their last event, size, number of recorded \
                  events, model, status, tokens of the last answer, and whether there is a \
                  trajectory. With --keys only the keys are printed, one a line, for the \
                  completion of shells.",
    after_help = "Exit codes: 0 done · 1 failed · 2 wrong usage · 4 the store is damaged"
)]
pub(crate) struct Arguments {
    /// The store that lists them [default: the agent's]
    #[arg(long, value_name = "FILE", conflicts_with = "sessions")]
    store: Option<PathBuf>,
    /// List the session files of this folder instead, whether a store lists them or not
    #[arg(long, value_name = "DIR")]
    sessions: Option<PathBuf>,
    /// The agent whose store is read
    #[arg(long, value_name = "ID", default_value = "main", conflicts_with_all = ["store", "sessions"])]
    agent: String,
    /// Print the keys only, one a line
    #[arg(long, conflicts_with = "sessions")]
    keys: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Report {
    sessions: Vec<Session>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Keys {
    keys: Vec<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    key: Option<String>,
    session_id: String,
    session_file: String,
    exists: bool,
    updated_at: Option<String>,
    bytes: u64,
    events: Option<u64>,
    model: Option<String>,
    status: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    trajectory: Option<String>,
    trajectory_bytes: Option<u64>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Either<Report, Keys>>("sessions");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let listed = match &arguments.sessions {
        Some(folder) => in_folder(folder, host)?,
        None => in_store(arguments, host)?,
    };
    if arguments.keys {
        let keys = listed.into_iter().filter_map(|listed| listed.key).collect();
        output.result(&Keys { keys }, |report| {
            report.keys.iter().map(|key| format!("{}\n", escape_control(key))).collect()
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut sessions = Vec::new();
    for listed in listed {
        sessions.push(look_at(listed, host)?);
    }
    sessions.sort_by(|one, other| other.updated_at.cmp(&one.updated_at));
    output.result(&Report { sessions }, human)?;
    Ok(ExitCode::SUCCESS)
}

struct Listed {
    key: Option<String>,
    file: PathBuf,
    updated_at: Option<UnixMillis>,
    running: bool,
}

fn in_store(arguments: &Arguments, host: &Host) -> Result<Vec<Listed>, CommandError> {
    let place = StorePlace::read(arguments.store.as_deref(), &arguments.agent, host)?;
    let mut listed = Vec::new();
    for session in &place.store.sessions {
        // A listed session without a usable file is passed over.
        let Ok(file) = place.file_of(session, host) else { continue };
        let updated_at = session.updated_at.and_then(UnixMillis::new);
        let (key, running) = (Some(session.key.clone()), session.running);
        listed.push(Listed { key, file, updated_at, running });
    }
    Ok(listed)
}

fn in_folder(folder: &Path, host: &Host) -> Result<Vec<Listed>, CommandError> {
    let opened = host.folder(folder)?;
    let entries = opened.entries().map_err(|error| {
        let message = format!("cannot read the folder {}", folder.display());
        CommandError::failure(message).because(error)
    })?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".jsonl") && classify(name).is_none())
        .collect();
    names.sort();
    let listed = |name: String| Listed {
        key: None,
        file: folder.join(name),
        updated_at: None,
        running: false,
    };
    Ok(names.into_iter().map(listed).collect())
}

fn look_at(listed: Listed, host: &Host) -> Result<Session, CommandError> {
    let place = Place::at(&listed.file, host)?;
    let transcript = open_regular(&place.folder, &place.name, Access::Read).ok();
    let sidecar = place.sidecar(host)?.found;
    let runtime = sidecar
        .as_ref()
        .and_then(|sidecar| open_regular(&sidecar.folder, &sidecar.name, Access::Read).ok());
    let mut summary = SessionSummary::default();
    for file in runtime.iter().chain(&transcript) {
        summarise(file, &mut summary);
    }
    let size = |file: &File| file.metadata().map_or(0, |metadata| metadata.len());
    let status = if listed.running { Some("running".to_owned()) } else { summary.status };
    Ok(Session {
        key: listed.key,
        session_id: place.id.to_string(),
        session_file: place.path.to_string_lossy().into_owned(),
        exists: transcript.is_some(),
        updated_at: summary.last_at.or(listed.updated_at).map(UnixMillis::to_iso),
        bytes: transcript.as_ref().map_or(0, size),
        events: runtime.as_ref().map(count_lines),
        model: summary.model,
        status,
        input_tokens: summary.tokens.map(|(input, _)| input),
        output_tokens: summary.tokens.map(|(_, output)| output),
        trajectory_bytes: runtime.as_ref().map(size),
        trajectory: sidecar.map(|sidecar| sidecar.path.to_string_lossy().into_owned()),
    })
}

/// Hears the last lines of a file, the newest first. What cannot be read tells
/// nothing.
fn summarise(mut file: &File, summary: &mut SessionSummary) {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    let start = length.saturating_sub(SUMMARY_BYTES);
    if file.seek(SeekFrom::Start(start)).is_err()
        || file.take(SUMMARY_BYTES).read_to_end(&mut bytes).is_err()
    {
        return;
    }
    for line in bytes.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        // The newest line tells the time, whatever is known already.
        summary.line(line);
        if summary.is_complete() {
            return;
        }
    }
}

fn count_lines(mut file: &File) -> u64 {
    let mut block = vec![0; 256 * 1024];
    let mut count = 0;
    if file.rewind().is_err() {
        return 0;
    }
    while let Ok(read) = file.read(&mut block) {
        if read == 0 {
            break;
        }
        count += memchr::memchr_iter(b'\n', &block[..read]).count() as u64;
    }
    count
}

fn human(report: &Report) -> String {
    let mut lines = Vec::new();
    for session in &report.sessions {
        let name = session.key.as_deref().unwrap_or(&session.session_id);
        let events = session
            .events
            .map_or_else(|| "no trajectory".to_owned(), |events| format!("{events} events"));
        let tokens = match (session.input_tokens, session.output_tokens) {
            (Some(input), Some(output)) => format!("{input} in, {output} out"),
            _ => String::new(),
        };
        lines.push(format!(
            "{:24} {:>10} {events:>14} {:12} {:24} {tokens:20} {}\n",
            session.updated_at.as_deref().unwrap_or("-"),
            quantity::shown_size(session.bytes),
            escape_control(session.status.as_deref().unwrap_or("-")),
            escape_control(session.model.as_deref().unwrap_or("-")),
            escape_control(name),
        ));
    }
    if lines.is_empty() {
        lines.push("there are no sessions\n".to_owned());
    }
    lines.concat()
}
