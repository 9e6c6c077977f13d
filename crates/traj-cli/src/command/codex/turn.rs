//! `traj codex turn`: one turn on the session's thread.

mod events;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use codex_binding::{
    BoundTurn, BoundTurnError, BoundTurnRequest, Client, HowOpened, LoadedThreads, ThreadLifecycle,
    ThreadPlan, TurnError, TurnFacts, TurnOptions, TurnOutcome, TurnSpec, run_bound_turn,
};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    BindingProfile, TurnBlocks, TurnInput, TurnTrigger, collaboration_mode, reasoning_effort,
};
use traj_core::port::{DenyAll, EventSink, NoEvents};
use traj_core::settings::Settings;
use traj_core::timestamp::UnixMillis;
use traj_fs::{Recorder, SystemClock};

use super::super::{Outcome, record};
use super::plan::PlanArguments;
use super::server::{ServerArguments, connect, redactor, runtime, server_error};
use super::{Bound, help_end, lifecycle, lifecycle_error};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::{self, ChosenSession, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;
use events::{EventList, Stream};

/// How often a server that exited before the turn began is started again.
const STARTS: u32 = 3;

#[derive(Debug, Args)]
#[command(
    long_about = "Runs one turn on the Codex thread that holds the session's history, and \
                  prints the reply. The thread is resumed, or started if there is none. \
                  Requests for approval are always declined. The turn is recorded in the \
                  session's sidecar; the sidecar and the binding are files next to the \
                  session.\n\nCtrl-C interrupts the turn on the server, then exits. A second \
                  Ctrl-C exits at once.",
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
    /// Interrupt the turn after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1200)]
    timeout: u64,
    /// The session's id in the recording [default: as in the transcript, else the file name]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// Do not record the turn
    #[arg(long)]
    no_record: bool,
    #[command(flatten)]
    plan: PlanArguments,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct TurnDocument {
    /// `completed`, `interrupted`, `timed-out` or `failed`.
    outcome: &'static str,
    /// The reply.
    text: String,
    /// The thread.
    thread_id: String,
    /// The turn.
    turn_id: String,
    /// `started`, `resumed`, `rotated`, `replaced` or `transient`.
    thread: &'static str,
    /// The thread that was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<Lost>,
    /// Why it was given up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'static str>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Tokens of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    /// What happened, in order.
    events: Vec<Value>,
}

/// A history that is gone.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Lost {
    /// The thread.
    thread_id: String,
    /// Its turns.
    turns: u64,
    /// It knew messages up to this time.
    covered_through: Option<String>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<TurnDocument>("codex-turn");

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let session = resolve::chosen(&arguments.subject, Unnamed::Refused, host, output)?;
    let found = Bound::read(&session.file, &arguments.plan, host)?;
    let plan = &found.plan;
    let prompt = match arguments.prompt.as_str() {
        "-" => Host::read_standard_input()?,
        prompt => prompt.to_owned(),
    };
    if prompt.trim().is_empty() {
        return Err(CommandError::usage("the prompt is empty").hint("pass a text with --prompt"));
    }
    let recorder = recorder(arguments, &session, plan, host, output)?;
    let sink: Arc<dyn EventSink> = match &recorder {
        Some(recorder) => Arc::clone(recorder) as Arc<dyn EventSink>,
        None => Arc::new(NoEvents::new()),
    };
    let events = Arc::new(EventList::default());
    let stream = Arc::new(Stream::new(output, &events));
    let mut options = TurnOptions::standard(Arc::new(DenyAll::new()));
    options.timeout = Duration::from_secs(arguments.timeout.max(1));
    options.observer = Some(stream.clone());
    let facts = facts(arguments, &session, &prompt, plan);
    let model = found.record().and_then(|record| record.model.as_deref());
    let spec = spec(arguments, &prompt, plan, model, host);
    let lifecycle = lifecycle(&found.store);
    let turn = runtime()?.block_on(async {
        interrupt_on_signal(&options.cancel, output);
        let request =
            BoundTurnRequest { plan, spec: &spec, options: &options, facts: &facts, sink: &sink };
        run_with_restarts(&arguments.server, &lifecycle, request, host, output).await
    });
    if let Some(recorder) = &recorder {
        let flushed = recorder.flush();
        if !flushed.is_complete() {
            output.note("some events were not recorded");
        }
    }
    let turn = turn?;
    let report = report(&turn, events.take());
    announce(&turn, output);
    let failed = failure(&turn);
    let fault = failed.as_ref().map(|error| error.kind);
    let code = output.verdict(&report, fault, |report| stream.rest_of(&report.text))?;
    match failed {
        Some(error) if !output.is_json() => Err(error),
        // The document says so already.
        _ => Ok(code),
    }
}

/// A server that exits before the turn begins is replaced: it has not seen the prompt yet.
async fn run_with_restarts(
    server: &ServerArguments,
    lifecycle: &ThreadLifecycle,
    request: BoundTurnRequest<'_>,
    host: &Host,
    output: &CommandOutput,
) -> Result<BoundTurn, CommandError> {
    let mut starts = 1;
    loop {
        let client = connect(server, host, output).await?;
        let loaded = LoadedThreads::new();
        let turn = run_bound_turn(lifecycle, &client, &loaded, request).await;
        client.stop().await;
        match turn {
            Ok(turn) => return Ok(turn),
            Err(error) if error.is_lost_before_start() && starts < STARTS => {
                starts += 1;
                output.note("Codex exited before the turn began; starting it again");
            }
            Err(error) => {
                tell_last_words(&client, output);
                return Err(turn_error(error));
            }
        }
    }
}

/// The first Ctrl-C interrupts the turn; a second one ends us at once.
fn interrupt_on_signal(cancel: &CancellationToken, output: &CommandOutput) {
    let cancel = cancel.clone();
    let is_quiet = !output.shows_progress();
    drop(tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
            if !is_quiet {
                anstream::eprintln!("interrupting the turn …");
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                Host::exit_interrupted();
            }
        }
    }));
}

fn tell_last_words(client: &Client, output: &CommandOutput) {
    let tail = client.stderr_tail().unwrap_or_default();
    for line in tail.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev() {
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
        other => CommandError::failure("the turn did not run").because(other),
    }
}

/// Prints what the user must know even if they only want the reply.
fn announce(turn: &BoundTurn, output: &CommandOutput) {
    match &turn.ready.how {
        HowOpened::Replaced { lost } if lost.turns > 0 => output.note(&format!(
            "Codex no longer has thread {}; a new thread was started (turns lost: {})",
            lost.thread, lost.turns
        )),
        HowOpened::Rotated { previous, reasons } => {
            let reasons: Vec<&str> = reasons.iter().map(|reason| reason.as_str()).collect();
            output.note(&format!(
                "a new thread replaces {previous}, because of: {}",
                reasons.join(", ")
            ));
        }
        HowOpened::Transient { reason } => output.note(&format!(
            "this turn ran on a separate thread ({}); the session keeps its thread",
            reason.as_str()
        )),
        _ => {}
    }
}

fn report(turn: &BoundTurn, events: Vec<Value>) -> TurnDocument {
    let report = &turn.report;
    let (lost, reasons) = match &turn.ready.how {
        HowOpened::Replaced { lost } => (
            Some(Lost {
                thread_id: lost.thread.as_str().to_owned(),
                turns: lost.turns,
                covered_through: lost.covered_through.map(UnixMillis::to_iso),
            }),
            vec![],
        ),
        HowOpened::Rotated { reasons, .. } => {
            (None, reasons.iter().map(|reason| reason.as_str()).collect())
        }
        _ => (None, vec![]),
    };
    let message = match &report.outcome {
        TurnOutcome::Failed { message } => message.clone(),
        _ => None,
    };
    TurnDocument {
        outcome: outcome_name(&report.outcome),
        text: report.text.clone(),
        thread_id: turn.ready.thread().as_str().to_owned(),
        turn_id: report.turn.as_str().to_owned(),
        thread: turn.ready.how.as_str(),
        lost,
        reasons,
        message,
        usage: report.usage.map(|usage| {
            serde_json::json!({
                "input": usage.input, "cachedInput": usage.cached_input, "output": usage.output,
                "reasoning": usage.reasoning, "total": usage.total,
            })
        }),
        events,
    }
}

const fn outcome_name(outcome: &TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Completed => "completed",
        TurnOutcome::Interrupted => "interrupted",
        TurnOutcome::TimedOut { .. } => "timed-out",
        _ => "failed",
    }
}

/// A turn that did not complete is not a success, whatever it said.
fn failure(turn: &BoundTurn) -> Option<CommandError> {
    Some(match &turn.report.outcome {
        TurnOutcome::Completed => return None,
        TurnOutcome::Interrupted => CommandError::failure("the turn was interrupted"),
        TurnOutcome::TimedOut { confirmed: true } => {
            CommandError::failure("the turn took too long and was interrupted")
        }
        TurnOutcome::TimedOut { confirmed: false } => CommandError::failure(
            "the turn took too long, and Codex did not confirm the interruption",
        ),
        TurnOutcome::Failed { message } => {
            let failed = CommandError::failure("the turn failed");
            let message = message.as_deref().unwrap_or("no reason given");
            failed.hint(format!("Codex says: {message}"))
        }
        _ => CommandError::failure("the turn did not complete"),
    })
}

/// What is said, and how; `known_model` is the one the thread ran with before.
fn spec(
    arguments: &Arguments,
    prompt: &str,
    plan: &ThreadPlan,
    known_model: Option<&str>,
    host: &Host,
) -> TurnSpec {
    let mut spec = TurnSpec::new(input(arguments, prompt, host));
    let model = plan.settings.model.as_deref().or(known_model).unwrap_or_default();
    let level = arguments.effort.as_deref();
    let effort =
        level.and_then(|level| reasoning_effort(level, model, &BindingProfile::standard()));
    spec.effort = level.map(|_| effort.map(str::to_owned));
    if let Some(text) = arguments.instructions.clone().filter(|_| !model.is_empty()) {
        let mut blocks = TurnBlocks::default();
        blocks.turn = Some(text);
        spec.collaboration_mode =
            Some(collaboration_mode(model, effort, &TurnTrigger::User, &blocks));
    }
    spec
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

fn facts(
    arguments: &Arguments,
    session: &ChosenSession,
    prompt: &str,
    plan: &ThreadPlan,
) -> TurnFacts {
    let mut facts = TurnFacts::new(prompt);
    facts.trigger = Some("user".to_owned());
    facts.session_file = Some(session.file.to_string_lossy().into_owned());
    facts.workspace = Some(plan.cwd.clone());
    facts.images = u64::try_from(arguments.image.len()).unwrap_or(0);
    facts.tools.clone_from(&plan.tools);
    facts
}

/// The recorder of the session, unless nothing is to be recorded.
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
