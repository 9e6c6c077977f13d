//! `traj record`: events from standard input into a session's sidecar.

mod input;
mod losses;
mod report;

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use traj_core::event::RunContext;
use traj_core::id::{RunId, SessionId};
use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_fs::{FsTrajectoryStore, Recorder, RecorderStats, SystemClock};

use self::input::Problems;
use self::report::RecordReport;
use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::input_lines::for_each_line;
use crate::interruptible_input::InterruptibleInput;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::{self, ChosenSession, SubjectArguments, Unnamed};

/// How many bytes are read at once.
const INPUT_BYTES: usize = 64 * 1024;

#[derive(Debug, Args)]
#[command(
    long_about = "Reads events from standard input, one JSON object per line: {\"type\": …, \
                  \"data\": {…}, \"ts\": …}. Records each one in the session's sidecar, \
                  redacted, within the size limits and crash-safe.\n\nInvalid lines are reported by line number and skipped. \
                  Unknown fields are ignored with a warning. --json lists the first 10000 line \
                  numbers of each kind. A full queue applies backpressure; no events are \
                  dropped.\n\nSIGINT and SIGTERM stop reading. Events that were read by then \
                  are still recorded and reported, within the flush timeout. A second signal \
                  ends the command at once.",
    after_help = concat!(
        "Examples:\n",
        "  agent | traj record chat.jsonl       a session that need not exist yet\n",
        "  agent | traj record agent:main:main  a session of the store, by its key\n",
        "\n",
        "Exit codes: 0 every event was recorded in full · 1 failed, or an event or a long \
         string was lost · 2 wrong usage · 4 some lines were invalid · 130 ended by SIGINT · \
         143 ended by SIGTERM"
    )
)]
pub(crate) struct Arguments {
    /// The session: a file, which need not exist yet, or the key or id of an existing session
    #[arg(value_name = "SESSION", required_unless_present = "session", conflicts_with = "session")]
    subject: Option<PathBuf>,
    /// The session's transcript; the sidecar is written next to it
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// The session's id [default: as stated in its files, else the file name]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// The key by which the agent knows the conversation
    #[arg(long, value_name = "KEY")]
    session_key: Option<String>,
    /// The run within the session
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// The directory that the agent works in
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The provider of the model
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The name of the model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The API through which the model is called
    #[arg(long, value_name = "NAME")]
    model_api: Option<String>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<RecordReport>("record");

pub(crate) fn run(arguments: Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let settings = Settings::from_host(&host.facts);
    let session = session(&arguments, host, output)?;
    let context = context(&arguments, &session, host)?;
    if !settings.enabled {
        return pass_over(&session.file, host, &settings, &context.session, output);
    }
    let (store, sidecar) = store(&session.file, host, &settings, &context.session)?;
    // Recording must not fail for lack of a key. With a temporary key, markers
    // are comparable within this run only.
    let key = host.marker_key().or_else(|error| {
        output.note(&format!("{}; using a temporary key for this run", error.message));
        Host::passing_key()
    })?;
    let redactor = Redactor::new(RedactionPolicy::standard(key));
    let clock = Arc::new(SystemClock::new());
    let recorder = Recorder::start(Arc::new(store), clock, redactor, context, &settings);

    let longest_line = host.reading().input_line_bytes;
    let mut problems = Problems::new(longest_line);
    let input = InterruptibleInput::new().map_err(cannot_read)?;
    let cut_short = input.cut_short();
    let input = BufReader::with_capacity(INPUT_BYTES, input);
    for_each_line(input, longest_line, |number, line| {
        // A signal may have cut off the last line; that is not an invalid line.
        let event = problems.event_on(number, line, cut_short.happened(), output);
        if let Some(event) = event {
            recorder.record_waiting(event);
        }
        Ok::<(), io::Error>(())
    })
    .map_err(cannot_read)?;

    let enabled = recorder.is_enabled();
    let (flushed, stats) = recorder.finish();
    let has_invalid_lines = problems.invalid_lines > 0;
    let report = RecordReport::new(enabled, sidecar, &stats, problems, cut_short.signal_name());
    let code = if let Some(error) = losses::losses(flushed, &stats) {
        output.failed_result(&report, &error, RecordReport::describe)?
    } else {
        let fault = has_invalid_lines.then_some(ErrorKind::Damaged);
        output.verdict(&report, fault, RecordReport::describe)?
    };
    Ok(cut_short.exit_code().unwrap_or(code))
}

/// Reads all input and records nothing: the writing program must not notice
/// that recording is off.
fn pass_over(
    session_file: &Path,
    host: &Host,
    settings: &Settings,
    session: &SessionId,
    output: &CommandOutput,
) -> Outcome {
    let sidecar = sidecar_path(session_file, host, settings, session)?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map_err(cannot_read)?;
    let (stats, problems) = (RecorderStats::default(), Problems::default());
    let report = RecordReport::new(false, sidecar, &stats, problems, None);
    output.result(&report, |_| {
        "recording is switched off (`traj config show --origin` says by what); nothing was \
         recorded\n"
            .to_owned()
    })?;
    Ok(ExitCode::SUCCESS)
}

fn cannot_read(error: io::Error) -> CommandError {
    CommandError::failure("cannot read standard input").because(error)
}

/// The session that the user named.
fn session(
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
) -> Result<ChosenSession, CommandError> {
    let Arguments { subject, session, .. } = arguments;
    let (subject, session) = (subject.clone(), session.clone());
    let subject = SubjectArguments { subject, session, ..SubjectArguments::default() };
    resolve::chosen(&subject, Unnamed::Refused, host, output)
}

fn context(
    arguments: &Arguments,
    session: &ChosenSession,
    host: &Host,
) -> Result<RunContext, CommandError> {
    let run = arguments.run_id.as_deref().map(RunId::parse).transpose();
    let mut context = context_of(arguments.session_id.as_deref(), session, host)?;
    context.run = run.map_err(wrong_id("--run-id"))?;
    context.session_key = arguments.session_key.clone().or_else(|| session.key.clone());
    context.workspace_dir = arguments
        .workspace
        .as_deref()
        .map(|workspace| host.absolute(workspace).to_string_lossy().into_owned());
    context.provider.clone_from(&arguments.provider);
    context.model_id.clone_from(&arguments.model);
    context.model_api.clone_from(&arguments.model_api);
    Ok(context)
}

/// The context of a session, with the given id or else its own.
pub(super) fn context_of(
    given: Option<&str>,
    session: &ChosenSession,
    host: &Host,
) -> Result<RunContext, CommandError> {
    let id = match given {
        Some(id) => SessionId::parse(id).map_err(wrong_id("--session-id"))?,
        None => session.id(host)?,
    };
    Ok(RunContext::new(id))
}

fn wrong_id<E>(name: &'static str) -> impl FnOnce(E) -> CommandError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |error| CommandError::usage(format!("{name} is not a valid id")).because(error)
}

/// The store for this session, and the sidecar's path for people.
pub(super) fn store(
    session_file: &Path,
    host: &Host,
    settings: &Settings,
    session: &SessionId,
) -> Result<(FsTrajectoryStore, String), CommandError> {
    let unusable =
        |error| CommandError::failure("cannot open the session's directory").because(error);
    let (parent, name) = host.parent_and_name(session_file)?;
    let session_folder = host.folder_or_new(&parent)?;
    let parent = parent.to_string_lossy();
    let store = match &settings.trajectory_dir {
        Some(directory) => {
            let folder = host.folder_or_new(Path::new(directory))?;
            FsTrajectoryStore::in_folder(folder, directory).with_pointer(
                session_folder,
                &parent,
                &name,
            )
        }
        None => FsTrajectoryStore::beside(session_folder, &parent, &name).map_err(unusable)?,
    };
    let sidecar = store.sidecar_path(session).map_err(unusable)?;
    Ok((store, sidecar))
}

/// The path that a new sidecar would have. Reads no files.
fn sidecar_path(
    session_file: &Path,
    host: &Host,
    settings: &Settings,
    session: &SessionId,
) -> Result<String, CommandError> {
    if let Some(directory) = &settings.trajectory_dir {
        let sidecar = traj_core::location::sidecar_in_folder(session);
        return Ok(format!("{}/{sidecar}", directory.trim_end_matches('/')));
    }
    let (parent, name) = host.parent_and_name(session_file)?;
    let sidecar = parent.join(traj_core::location::sidecar_beside(&name));
    Ok(sidecar.to_string_lossy().into_owned())
}
