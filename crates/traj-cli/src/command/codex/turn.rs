//! `traj codex turn`: one turn on the session's thread.

mod approvals;
mod events;
mod lease;
mod report;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use clap::{Args, value_parser};
use codex_binding::{
    BoundTurnError, BoundTurnRequest, Client, Connection, Connector, ThreadPlan, TurnError,
    run_connected_turn,
};
use tokio::sync::oneshot;
use traj_core::binding::TurnInput;
use traj_core::port::AppServerError;
use traj_core::settings::Settings;
use traj_fs::{Recorder, SystemClock};

use super::super::{Outcome, record};
use super::plan::{ChangeArguments, PlanArguments};
use super::server::{
    CodexServer, ServerArguments, last_lines, not_connected, redactor, runtime, server_error,
};
use super::stop::{Stop, Stoppable};
use super::{Bound, help_end, lifecycle, lifecycle_error};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::resolve::{self, ChosenSession, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;
use approvals::Approvals;
use events::{EventList, Stream, lock};
use lease::lease_in_time;
use report::{announce, failure, interrupted, report};

pub(super) use lease::lease_now;
pub(crate) use report::DOCUMENT;

/// What `--effort` takes.
const EFFORTS: [&str; 5] = ["minimal", "low", "medium", "high", "xhigh"];

#[derive(Debug, Args)]
#[command(
    long_about = "Runs one turn on the Codex thread that holds the session's history, and \
                  prints the reply. The thread is resumed, or started if there is none. \
                  The turn is recorded in the session's sidecar; the sidecar and the binding \
                  are files next to the session. Turns of one session run one after the \
                  other.\n\nIf Codex asks for approval, a person on the terminal decides: yes, no, \
                  or always for this kind of request in this turn. Without a terminal, or with \
                  --quiet, requests are declined. Everything declined is reported on standard \
                  error and with --json.\n\nSIGINT (Ctrl-C), SIGTERM and SIGHUP interrupt the turn on the \
                  server, record its end, and exit with 130, 143 or 129. A second signal exits \
                  at once.",
    after_help = help_end(&["traj codex turn --session s.jsonl --prompt 'Summarise this'", "git diff | traj codex turn --session s.jsonl --prompt -", "traj codex turn --session s.jsonl --prompt 'What is this?' --image plot.png"])
)]
pub(super) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// The prompt; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    prompt: String,
    /// Attach this image; may be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// The reasoning effort
    #[arg(long, value_name = "LEVEL", value_parser = EFFORTS)]
    effort: Option<String>,
    /// Additional instructions for this turn only
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// Interrupt the turn this many seconds after the start of the command
    #[arg(long, value_name = "SECONDS", default_value_t = 1200, value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    /// The session's id in the recording [default: as in the transcript, else the file name]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// Fail if a turn of the session is running in another process [default: wait for its end]
    #[arg(long)]
    no_wait: bool,
    /// Do not record the turn
    #[arg(long)]
    no_record: bool,
    #[command(flatten)]
    plan: PlanArguments,
    #[command(flatten)]
    change: ChangeArguments,
    #[command(flatten)]
    server: ServerArguments,
}

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let stop = Stop::after(arguments.timeout, Stoppable::Turn);
    let session = resolve::chosen(&arguments.subject, Unnamed::Refused, host, output)?;
    let images = images(&arguments.image, host)?;
    let runtime = runtime()?;
    let (prompt, lease) = runtime.block_on(async {
        stop.listen(host, output)?;
        let prompt = stop.unless_stopped(read_prompt(&arguments.prompt)).await?;
        let lease = if arguments.no_wait {
            lease_now(&session.file, host)?
        } else {
            stop.unless_stopped(lease_in_time(&session.file, host, output)).await?
        };
        Ok::<_, CommandError>((prompt, lease))
    })?;
    // The turn of another process may have changed the binding.
    let found = Bound::read(&session.file, &arguments.plan, Some(&arguments.change), host)?;
    found.check_workspace(host)?;
    let plan = &found.plan;
    let recorder = recorder(arguments, &session, plan, host, output)?;
    let events = Arc::new(EventList::default());
    let stream = Arc::new(Stream::new(output, &events));
    let approvals = Approvals::new(arguments.prompt == "-", output, &stream);
    let mut request = request(arguments, &session, plan, input(&prompt, &images))
        .observed_by(stream.clone())
        .answered_by(approvals.handler())
        .cancelled_by(stop.cancel.clone());
    if let Some(recorder) = &recorder {
        request = request.recorded_in(recorder.clone());
    }
    let server = arguments.server.server(found.provider(), host, output)?;
    let servers = TurnServers { server: &server, stream: &stream, last: Mutex::default() };
    request.options.timeout = stop.time_left();
    let lifecycle = lifecycle(&found.store);
    let turn = runtime.block_on(Box::pin(run_connected_turn(&lifecycle, &servers, &request)));
    stream.make_room();
    // A Codex that still runs is killed before another turn of the session may begin.
    drop(runtime);
    drop(lease);
    if let Some(recorder) = &recorder {
        let flushed = recorder.flush();
        if !flushed.is_complete() {
            output.note("some events were not recorded");
        }
    }
    let turn = turn.map_err(|error| servers.explain(error, &stop, output))?;
    let report = report(&turn, approvals.declined(), events.take());
    announce(&turn, output);
    let failed = failure(&turn, stop.signal(), &server.provider);
    let fault = failed.as_ref().map(|error| error.kind);
    let code = output.verdict(&report, fault, |report| stream.rest_of(&report.text))?;
    match failed {
        Some(error) if !output.is_json() => Err(error),
        // The document already contains the error.
        _ => Ok(code),
    }
}

/// Reads the prompt, which may come from standard input. The thread that reads may outlive the
/// command's patience; it ends with the process.
async fn read_prompt(prompt: &str) -> Result<String, CommandError> {
    let prompt = if prompt == "-" {
        let (send, receive) = oneshot::channel();
        let read = move || send.send(Host::read_standard_input());
        let reader = std::thread::Builder::new().name("prompt".to_owned()).spawn(read);
        reader.map_err(|error| CommandError::failure("cannot read the prompt").because(error))?;
        let lost = |_| CommandError::failure("cannot read the prompt");
        receive.await.map_err(lost)??
    } else {
        prompt.to_owned()
    };
    if prompt.trim().is_empty() {
        return Err(CommandError::usage("the prompt is empty").hint("pass a text with --prompt"));
    }
    Ok(prompt)
}

/// Starts Codex for the turn, and says so.
#[derive(Debug)]
struct TurnServers<'a> {
    server: &'a CodexServer<'a>,
    stream: &'a Stream,
    /// The one that was started last.
    last: Mutex<Option<Client>>,
}

#[async_trait]
impl Connector for TurnServers<'_> {
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError> {
        self.stream.set_activity("starting Codex");
        let client = self.server.start().await?;
        self.stream.set_activity("opening the thread");
        *lock(&self.last) = Some(client.clone());
        Ok(Arc::new(client))
    }
}

impl TurnServers<'_> {
    /// Converts an error to one with a hint, and shows what Codex printed.
    fn explain(&self, error: BoundTurnError, stop: &Stop, output: &CommandOutput) -> CommandError {
        match error {
            BoundTurnError::TimedOut { .. } | BoundTurnError::Cancelled { .. } => {
                return stop.error();
            }
            BoundTurnError::Turn(error) if error.may_still_run() => {
                return stop.error().because(error);
            }
            BoundTurnError::Server(error) => return not_connected(error),
            _ => {}
        }
        let words = lock(&self.last).as_ref().and_then(Client::stderr_tail).unwrap_or_default();
        for line in last_lines(&words) {
            output.note(&format!("codex: {line}"));
        }
        turn_error(error, stop.signal())
    }
}

fn turn_error(error: BoundTurnError, signal: Option<u8>) -> CommandError {
    match error {
        BoundTurnError::Thread(error) => lifecycle_error(error),
        BoundTurnError::Turn(TurnError::NotStarted(error)) => server_error(error),
        BoundTurnError::Turn(error) => match signal {
            // A signal to the whole process group ends Codex, too.
            Some(signal) => interrupted(signal).because(error),
            None => CommandError::failure("Codex exited during the turn")
                .hint("the thread still exists; the next turn resumes it")
                .because(error),
        },
        BoundTurnError::ModelUnknown => CommandError::failure("the turn did not run")
            .hint("name the model with --model")
            .because(error),
        other => CommandError::failure("the turn did not run").because(other),
    }
}

fn request(
    arguments: &Arguments,
    session: &ChosenSession,
    plan: &ThreadPlan,
    input: TurnInput,
) -> BoundTurnRequest {
    let mut request =
        BoundTurnRequest::new(plan.clone(), input).session_file(session.file.to_string_lossy());
    request.effort.clone_from(&arguments.effort);
    request.blocks.turn.clone_from(&arguments.instructions);
    request
}

fn input(prompt: &str, images: &[String]) -> TurnInput {
    let mimes = if images.is_empty() { vec![] } else { vec!["image/*".to_owned()] };
    TurnInput::text(prompt).with_media(images, &[], &mimes)
}

/// The absolute paths of images. Codex would run the turn without one that does not exist.
fn images(images: &[PathBuf], host: &Host) -> Result<Vec<String>, CommandError> {
    let is_file = |image: &PathBuf| {
        let (folder, name) = host.folder_of(&host.real_path(image)).ok()?;
        Some(folder.symlink_metadata(name).ok()?.is_file())
    };
    images
        .iter()
        .map(|image| match is_file(image) {
            Some(true) => Ok(host.absolute(image).to_string_lossy().into_owned()),
            _ => Err(CommandError::failure(format!("{} is not a file", image.display()))
                .hint("check the path in --image")),
        })
        .collect()
}

/// The recorder of the session; `None` if the turn is not recorded.
fn recorder(
    arguments: &Arguments,
    session: &ChosenSession,
    plan: &ThreadPlan,
    host: &Host,
    output: &CommandOutput,
) -> Result<Option<Arc<Recorder>>, CommandError> {
    let settings = Settings::from_host(&host.facts);
    if arguments.no_record || !settings.enabled {
        return Ok(None);
    }
    let mut context = record::context_of(arguments.session_id.as_deref(), session, host)?;
    context.workspace_dir = Some(plan.cwd.clone());
    context.model_id.clone_from(&plan.settings.model);
    context.provider.clone_from(&plan.settings.model_provider);
    let (store, sidecar) = record::store(&session.file, host, &settings, &context.session)?;
    if output.shows_progress() {
        output.note(&format!("recording in {}", escape_control(&sidecar)));
    }
    let clock = Arc::new(SystemClock::new());
    let recorder = Recorder::start(Arc::new(store), clock, redactor(host)?, context, &settings);
    Ok(Some(Arc::new(recorder)))
}
