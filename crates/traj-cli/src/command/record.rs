//! `traj record`: events from standard input into a session's sidecar.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use traj_core::event::{Event, RunContext};
use traj_core::id::{RunId, SessionId};
use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_fs::{FsTrajectoryStore, Recorder, RecorderStats, SystemClock};

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::input_lines::{InputLine, for_each_line};
use crate::output::Output;
use crate::terminal_text::escape_control;

/// Longest line of input that is taken; longer ones are reported.
const LONGEST_LINE_BYTES: usize = 128 * 1024 * 1024;

/// Invalid lines that are told one by one.
const REPORTED_LINES: usize = 20;

#[derive(Debug, Args)]
#[command(
    long_about = "Reads one JSON object a line from standard input, {\"type\": …, \"data\": {…}, \
                  \"ts\": …}, and records each as an event: redacted, within the limits, \
                  crash-safe. Lines that are no event are reported by number and do not stop the \
                  rest. A full queue slows the pipe down; nothing is dropped for it.",
    after_help = "Exit codes: 0 everything was recorded · 1 failed, or something was lost · 2 wrong \
                  usage · 4 some lines were no events"
)]
pub(crate) struct Arguments {
    /// The session's transcript; the sidecar goes beside it
    #[arg(long, value_name = "FILE")]
    session: PathBuf,
    /// The session's id
    #[arg(long, value_name = "ID")]
    session_id: String,
    /// The harness's own name for the conversation
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
    /// The run within the session
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// The folder the agent works in
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Who serves the model
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Which model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Which API the model is spoken to with
    #[arg(long, value_name = "NAME")]
    model_api: Option<String>,
}

/// What was recorded.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    enabled: bool,
    sidecar: String,
    recorded_events: u64,
    written_events: u64,
    written_bytes: u64,
    stored_blobs: u64,
    omitted_blobs: u64,
    rolled_lines: u64,
    dropped_events: u64,
    dropped: DroppedReport,
    /// Why the sidecar is not safe from others, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    invalid_lines: u64,
    invalid: Vec<InvalidLine>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DroppedReport {
    queue_full: u64,
    sidecar_full: u64,
    storage: u64,
    too_large: u64,
    defect: u64,
    not_started: u64,
}

#[derive(Debug, Serialize)]
struct InvalidLine {
    line: u64,
    reason: String,
}

pub(crate) fn run(arguments: Arguments, host: &Host, output: &Output) -> Outcome {
    let settings = Settings::from_host(&host.facts);
    let context = context(&arguments, host)?;
    let (store, sidecar) = store(&arguments.session, host, &settings, &context.session)?;
    // Recording must not fail for want of a key; markers are then only
    // comparable within this run.
    let key = host.marker_key().or_else(|error| {
        output.note(&format!("{}; using a key for this run only", error.message));
        Host::passing_key()
    })?;
    let redactor = Redactor::new(RedactionPolicy::standard(key));
    let clock = Arc::new(SystemClock::new());
    let recorder = Recorder::start(Arc::new(store), clock, redactor, context, &settings);

    let mut invalid = Invalid::default();
    for_each_line(io::stdin().lock(), LONGEST_LINE_BYTES, |number, line| {
        match read_event(&line) {
            Ok(Some(event)) => recorder.record_waiting(event),
            Ok(None) => {}
            Err(reason) => invalid.add(number, reason, output),
        }
        Ok::<(), io::Error>(())
    })
    .map_err(|error| CommandError::failure("cannot read standard input").because(error))?;

    let flushed = recorder.flush();
    let stats = recorder.stats();
    if !settings.enabled {
        output.note("recording is switched off (OPENCLAW_TRAJECTORY or TRAJ_TRAJECTORY)");
    }
    let report = report(recorder.is_enabled(), sidecar, &stats, invalid);
    output.result(&report, describe)?;
    if !flushed.is_complete() || report.dropped_events > 0 {
        let reason = flushed.error.or(stats.last_error);
        let lost = report.dropped_events + flushed.pending_events;
        let mut error = CommandError::failure(format!("{lost} events were not recorded"));
        error.source = reason.map(Into::into);
        return if output.is_json() { Ok(ErrorKind::Failure.exit_code()) } else { Err(error) };
    }
    let kind = if report.invalid_lines > 0 { Some(ErrorKind::Damaged) } else { None };
    Ok(kind.map_or(ExitCode::SUCCESS, ErrorKind::exit_code))
}

fn context(arguments: &Arguments, host: &Host) -> Result<RunContext, CommandError> {
    let wrong_id = |name: &'static str| {
        move |error| CommandError::usage(format!("{name} is not usable")).because(error)
    };
    let session = SessionId::parse(&arguments.session_id).map_err(wrong_id("--session-id"))?;
    let run = arguments.run_id.as_deref().map(RunId::parse).transpose();
    let mut context = RunContext::new(session);
    context.run = run.map_err(wrong_id("--run-id"))?;
    context.session_key.clone_from(&arguments.session_key);
    context.workspace_dir = arguments
        .workspace
        .as_deref()
        .map(|workspace| host.absolute(workspace).to_string_lossy().into_owned());
    context.provider.clone_from(&arguments.provider);
    context.model_id.clone_from(&arguments.model);
    context.model_api.clone_from(&arguments.model_api);
    Ok(context)
}

/// The context of a session of which only the id is known.
pub(super) fn context_of(session: &str) -> Result<RunContext, CommandError> {
    let wrong_id = |error| CommandError::usage("the session's id is not usable").because(error);
    SessionId::parse(session).map(RunContext::new).map_err(wrong_id)
}

/// The store for this session, and the sidecar's path for people.
pub(super) fn store(
    session_file: &Path,
    host: &Host,
    settings: &Settings,
    session: &SessionId,
) -> Result<(FsTrajectoryStore, String), CommandError> {
    let path = host.absolute(session_file);
    let parent = path.parent().unwrap_or(&path).to_path_buf();
    let session_folder = host.folder_or_new(&parent)?;
    let (_, name) = host.folder_of(&path)?;
    if let Some(directory) = &settings.trajectory_dir {
        let folder = host.folder_or_new(Path::new(directory))?;
        let store =
            FsTrajectoryStore::in_folder(folder, directory).with_pointer(session_folder, &name);
        let sidecar = traj_core::location::sidecar_in_folder(session);
        return Ok((store, format!("{}/{sidecar}", directory.trim_end_matches('/'))));
    }
    let folder_path = parent.to_string_lossy().into_owned();
    let sidecar = parent.join(traj_core::location::sidecar_beside(&name));
    let store =
        FsTrajectoryStore::beside(session_folder, &folder_path, &name).map_err(|error| {
            CommandError::failure("cannot open the session's folder").because(error)
        })?;
    Ok((store, sidecar.to_string_lossy().into_owned()))
}

/// An event, nothing for a blank line, or why the line is neither.
fn read_event(line: &InputLine<'_>) -> Result<Option<Event>, String> {
    match line {
        InputLine::TooLong => Err(format!("longer than {LONGEST_LINE_BYTES} bytes")),
        InputLine::Whole(bytes) if bytes.trim_ascii().is_empty() => Ok(None),
        InputLine::Whole(bytes) => {
            Event::parse_line(bytes).map(Some).map_err(|problem| problem.to_string())
        }
    }
}

/// Lines that were no events.
#[derive(Default)]
struct Invalid {
    count: u64,
    first: Vec<InvalidLine>,
}

impl Invalid {
    fn add(&mut self, line: u64, reason: String, output: &Output) {
        self.count += 1;
        if self.first.len() < REPORTED_LINES {
            output.note(&format!("line {line}: {reason}"));
            self.first.push(InvalidLine { line, reason });
        }
    }
}

fn report(enabled: bool, sidecar: String, stats: &RecorderStats, invalid: Invalid) -> Report {
    Report {
        enabled,
        sidecar,
        recorded_events: stats.recorded_events,
        written_events: stats.written_events,
        written_bytes: stats.written_bytes,
        stored_blobs: stats.stored_blobs,
        omitted_blobs: stats.omitted_blobs,
        rolled_lines: stats.rolled_lines,
        dropped_events: stats.dropped.total(),
        dropped: DroppedReport {
            queue_full: stats.dropped.queue_full,
            sidecar_full: stats.dropped.sidecar_full,
            storage: stats.dropped.storage,
            too_large: stats.dropped.too_large,
            defect: stats.dropped.defect,
            not_started: stats.dropped.not_started,
        },
        warning: stats.exposure.map(|exposure| exposure.to_string()),
        invalid_lines: invalid.count,
        invalid: invalid.first,
    }
}

fn describe(report: &Report) -> String {
    let (events, bytes) = (report.written_events, report.written_bytes);
    let sidecar = escape_control(&report.sidecar);
    let mut lines = vec![format!("recorded {events} events ({bytes} bytes) in {sidecar}")];
    if report.stored_blobs > 0 {
        lines.push(format!("stored {} long texts beside it", report.stored_blobs));
    }
    if let Some(warning) = &report.warning {
        lines.push(format!("WARNING: {warning}"));
    }
    if report.invalid_lines > 0 {
        lines.push(format!("passed over {} lines that are no events", report.invalid_lines));
    }
    lines.join("\n") + "\n"
}
