//! `traj codex turn`: one turn on the session's thread.

mod approvals;
mod events;
mod lease;
mod report;
mod stop;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use codex_binding::{
    BoundTurn, BoundTurnError, BoundTurnRequest, Client, LoadedThreads, ThreadLifecycle,
    ThreadPlan, TurnError, run_bound_turn,
};
use traj_core::binding::TurnInput;
use traj_core::settings::Settings;
use traj_fs::{Recorder, SystemClock};

use super::super::{Outcome, record};
use super::plan::PlanArguments;
use super::server::{CodexServer, ServerArguments, last_lines, redactor, runtime, server_error};
use super::{Bound, help_end, lifecycle, lifecycle_error};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::resolve::{self, ChosenSession, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;
use approvals::Approvals;
use events::{EventList, Stream};
use lease::lease_in_time;
use report::{announce, failure, report};
use stop::Stop;

pub(super) use lease::lease_now;
pub(crate) use report::DOCUMENT;

/// How often a server that exits before the turn begins is started.
const STARTS: u32 = 3;

#[derive(Debug, Args)]
#[command(
    long_about = "Runs one turn on the Codex thread that holds the session's history, and \
                  prints the reply. The thread is resumed, or started if there is none. \
                  The turn is recorded in the session's sidecar; the sidecar and the binding \
                  are files next to the session. Turns of one session run one after the \
                  other.\n\nIf Codex asks for approval, a person on the terminal decides: yes, no, \
                  or always for this kind of request in this turn. Without a terminal, requests \
                  are declined. Everything declined is reported on standard error and with \
                  --json.\n\nSIGINT (Ctrl-C), SIGTERM and SIGHUP interrupt the turn on the \
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
    /// The reasoning effort: minimal, low, medium, high or xhigh
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// Additional instructions for this turn only
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// Interrupt the turn this many seconds after the start of the command
    #[arg(long, value_name = "SECONDS", default_value_t = 1200)]
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
    server: ServerArguments,
}

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let stop = Stop::after(Duration::from_secs(arguments.timeout.max(1)));
    let session = resolve::chosen(&arguments.subject, Unnamed::Refused, host, output)?;
    let prompt = match arguments.prompt.as_str() {
        "-" => Host::read_standard_input()?,
        prompt => prompt.to_owned(),
    };
    if prompt.trim().is_empty() {
        return Err(CommandError::usage("the prompt is empty").hint("pass a text with --prompt"));
    }
    let runtime = runtime()?;
    let lease = runtime.block_on(async {
        stop.listen(host, output)?;
        if arguments.no_wait {
            return lease_now(&session.file, host);
        }
        stop.unless_stopped(lease_in_time(&session.file, host, output)).await
    })?;
    // The turn of another process may have changed the binding.
    let found = Bound::read(&session.file, &arguments.plan, host)?;
    found.check_workspace(host)?;
    let plan = &found.plan;
    let recorder = recorder(arguments, &session, plan, host, output)?;
    let events = Arc::new(EventList::default());
    let stream = Arc::new(Stream::new(output, &events));
    let approvals = Approvals::new(arguments.prompt == "-", output, &stream);
    let mut request = request(arguments, &session, plan, input(arguments, &prompt, host))
        .observed_by(stream.clone())
        .answered_by(approvals.handler())
        .cancelled_by(stop.cancel.clone());
    if let Some(recorder) = &recorder {
        request = request.recorded_in(recorder.clone());
    }
    let server = arguments.server.server(found.provider(), host, output)?;
    let lifecycle = lifecycle(&found.store);
    let attempt =
        Attempt { server: &server, lifecycle: &lifecycle, stream: &stream, stop: &stop, output };
    let turn = runtime.block_on(attempt.run(request));
    stream.make_room();
    drop(lease);
    if let Some(recorder) = &recorder {
        let flushed = recorder.flush();
        if !flushed.is_complete() {
            output.note("some events were not recorded");
        }
    }
    let turn = turn?;
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

/// A turn on a server that is started for it.
struct Attempt<'a> {
    server: &'a CodexServer<'a>,
    lifecycle: &'a ThreadLifecycle,
    stream: &'a Stream,
    stop: &'a Stop,
    output: &'a CommandOutput,
}

impl Attempt<'_> {
    /// Runs the turn. Restarts a server that exits before the turn begins: it has not seen the
    /// prompt yet.
    async fn run(&self, mut request: BoundTurnRequest) -> Result<BoundTurn, CommandError> {
        let mut starts = 1;
        loop {
            self.stream.set_activity("starting Codex");
            let client = self.stop.unless_stopped(self.server.connect()).await?;
            self.stream.set_activity("opening the thread");
            let loaded = LoadedThreads::new();
            request.options.timeout = self.stop.time_left();
            let turn = Box::pin(run_bound_turn(self.lifecycle, &client, &loaded, &request)).await;
            client.stop().await;
            match turn {
                Ok(turn) => return Ok(turn),
                Err(BoundTurnError::TimedOut { .. } | BoundTurnError::Cancelled { .. }) => {
                    return Err(self.stop.error_before_turn());
                }
                Err(error) if error.is_lost_before_start() && starts < STARTS => {
                    starts += 1;
                    self.stream.make_room();
                    self.output.note("Codex exited before the turn began; starting it again");
                }
                Err(error) => {
                    self.stream.make_room();
                    tell_last_words(&client, self.output);
                    return Err(turn_error(error));
                }
            }
        }
    }
}

fn tell_last_words(client: &Client, output: &CommandOutput) {
    for line in last_lines(&client.stderr_tail().unwrap_or_default()) {
        output.note(&format!("codex: {line}"));
    }
}

fn turn_error(error: BoundTurnError) -> CommandError {
    match error {
        BoundTurnError::Thread(error) => lifecycle_error(error),
        BoundTurnError::Turn(TurnError::NotStarted(error)) => server_error(error),
        BoundTurnError::Turn(error) => CommandError::failure("Codex exited during the turn")
            .hint("the thread still exists; the next turn resumes it")
            .because(error),
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

fn input(arguments: &Arguments, prompt: &str, host: &Host) -> TurnInput {
    let paths: Vec<String> = arguments
        .image
        .iter()
        .map(|image| host.absolute(image).to_string_lossy().into_owned())
        .collect();
    let mimes = if paths.is_empty() { vec![] } else { vec!["image/*".to_owned()] };
    TurnInput::text(prompt).with_media(&paths, &[], &mimes)
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
