//! `traj show`: the conversation of a session or bundle, for people.

mod context;
mod layout;
mod markdown;
mod overview;
mod page;
mod pager;
mod render;
mod select;

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use traj_core::port::{BundleSource, BundleSourceError};
use traj_core::run::{Prices, Run};
use traj_core::timestamp::UnixMillis;
use traj_export::{
    PageError, Story, StoryDetail, StoryStep, TextAmount, read_run, read_run_events,
};

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind, explain_unreadable};
use crate::compose::Host;
use crate::help::reading_exit_codes;
use crate::json_document::{Either, JsonDocument};
use crate::output::{CommandOutput, cannot_print};
use crate::quantity::counted;
use crate::resolve::{OpenedBundle, SubjectArguments};
use context::ContextDocument;
use overview::Overview;
use pager::Paper;
use render::Renderer;
use select::{Selection, ShownPart};

/// A document contains at most this many steps, and this many bytes of them.
const MOST_STEPS: usize = 2_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Args)]
#[command(
    long_about = "Shows the conversation of a session: prompts, replies, commands with their \
                  outcome, duration and output, model calls with tokens, context size and cost, \
                  approvals, errors, and how the run ended.\n\nSESSION can be a bundle \
                  (directory, zip, tar.zst), a session or its sidecar. A session is first \
                  exported to a temporary directory, so all output is redacted. Steps in both \
                  the transcript and the sidecar are shown once. Times are in the time zone of \
                  TZ, or else of the machine. Without SESSION, shows the newest session of this \
                  workspace, or else of this machine.\n\nOn a terminal, the text goes through \
                  the pager in TRAJ_PAGER or PAGER.",
    after_help = concat!(
        "Examples:\n",
        "  traj show                            the newest session of this workspace\n",
        "  traj show 0197f2c4                   by the beginning of an id\n",
        "  traj show BUNDLE --failed            start at the first failure\n",
        "  traj show BUNDLE --turn 2 --full     one turn, with all lines\n",
        "  traj show BUNDLE --call call_7Hq2vN  one call, with its full output\n",
        "  traj show SESSION --context-of last  what the model saw at the newest call\n",
        "  traj show BUNDLE --format markdown   for an issue or a wiki\n",
        "\n",
        reading_exit_codes!()
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Start with the steps that led to the first failure
    #[arg(long, conflicts_with_all = ["turn", "call"])]
    failed: bool,
    /// Show one turn; turn 0 is everything before the first prompt
    #[arg(long, value_name = "N", conflicts_with = "call")]
    turn: Option<u64>,
    /// Show one call with its full output
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Show what the model saw at one model call, and what changed since the
    /// call before; `last` is the newest call
    #[arg(long, value_name = "CALL", conflicts_with_all = ["failed", "turn", "call"])]
    context_of: Option<String>,
    /// Show every text and output in full
    #[arg(long)]
    full: bool,
    /// Include the model's reasoning
    #[arg(long)]
    reasoning: bool,
    /// The form of the text
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TextFormat::Text)]
    format: TextFormat,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
    /// The directory that the agent worked in; the output hides its path
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// A price file that overrides the built-in prices [default: as configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// How the conversation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TextFormat {
    /// For a terminal
    Text,
    /// Markdown for a code host, with collapsed tool calls
    Markdown,
}

impl Arguments {
    fn wanted(&self) -> ShownPart {
        match (&self.call, self.turn) {
            (Some(id), _) => ShownPart::Call(id.clone()),
            (None, Some(turn)) => ShownPart::Turn(turn),
            (None, None) if self.failed => ShownPart::FromFailure,
            (None, None) => ShownPart::All,
        }
    }

    const fn detail(&self) -> StoryDetail {
        let is_full = self.full || self.call.is_some();
        let texts = if is_full { TextAmount::Full } else { TextAmount::Excerpt };
        StoryDetail { texts, has_reasoning: self.reasoning, is_complete: false }
    }
}

/// The document.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// An overview of the run.
    run: Overview,
    /// The conversation, in order.
    steps: Vec<StoryStep>,
    /// The number of steps omitted because there are too many.
    steps_omitted: u64,
    /// The number of events omitted because they are too long.
    events_omitted: u64,
}

pub(crate) const DOCUMENT: JsonDocument =
    JsonDocument::of::<Either<Document, ContextDocument>>("show");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let (subject, workspace) = (&arguments.subject, &arguments.workspace);
    if let Some(call) = &arguments.context_of {
        return context::run(call, arguments, host, output);
    }
    let opened = OpenedBundle::open(subject, workspace, UnixMillis::EPOCH, host, output)?;
    let is_damaged = opened.is_damaged();
    let conversation =
        Conversation::read(opened.bundle(), host.prices(arguments.prices.as_deref())?)?;
    let has_steps = if arguments.failed && conversation.run.first_failure.is_none() {
        false
    } else if output.is_json() {
        return conversation.document(is_damaged, arguments, output);
    } else {
        conversation.print(arguments, host, output)?
    };
    if !has_steps {
        nothing_wanted(arguments, output)?;
    }
    let omitted = conversation.events_omitted;
    if omitted > 0 {
        output.note(&format!("{} not shown: too long", counted(omitted, "event")));
    }
    if is_damaged {
        output.note("the bundle is damaged; run `traj verify` for details");
    }
    Ok(fault(is_damaged).map_or(ExitCode::SUCCESS, ErrorKind::exit_code))
}

fn fault(is_damaged: bool) -> Option<ErrorKind> {
    is_damaged.then_some(ErrorKind::Damaged)
}

/// A bundle that was read once and is read again step by step.
struct Conversation<'b> {
    bundle: &'b dyn BundleSource,
    run: Run,
    prices: Prices,
    events_omitted: u64,
}

impl<'b> Conversation<'b> {
    fn read(bundle: &'b dyn BundleSource, prices: Prices) -> Result<Self, CommandError> {
        let (run, events_omitted) = read_run(bundle, prices.clone()).map_err(explain_unreadable)?;
        Ok(Self { bundle, run, prices, events_omitted })
    }

    /// Prints the selected steps. Returns whether there were any.
    fn print(
        &self,
        arguments: &Arguments,
        host: &Host,
        output: &CommandOutput,
    ) -> Result<bool, CommandError> {
        let (width, zone) = (host.terminal_width(), host.zone());
        let overview = Overview::of(&self.run);
        let wanted = arguments.wanted();
        let is_whole = matches!(wanted, ShownPart::All | ShownPart::FromFailure);
        let is_markdown = arguments.format == TextFormat::Markdown;
        if is_markdown {
            let mut write = |text: &str| io::stdout().write_all(text.as_bytes());
            let written = self.write_markdown(wanted, arguments.detail(), &mut write);
            return written.map_err(|error| match error {
                PageError::Output(error) => cannot_print(error),
                PageError::Source(error) => explain_unreadable(error),
                error => CommandError::failure("cannot write Markdown").because(error),
            });
        }
        let paper = Paper::new(!arguments.no_pager, host, output);
        let mut renderer = Renderer::new(width, &zone);
        paper.print(|paper| {
            if is_whole && paper.write(&overview.header(width, &zone)).is_break() {
                return Ok(true);
            }
            let has_begun = self
                .tell(wanted, arguments.detail(), &mut |step| paper.write(&renderer.draw(&step)))
                .map_err(explain_unreadable)?;
            if is_whole && has_begun {
                let _last = paper.write(&overview.closing(width));
            }
            Ok(has_begun)
        })
    }

    /// Writes the steps that are wanted as Markdown; returns whether there were
    /// any.
    fn write_markdown(
        &self,
        wanted: ShownPart,
        detail: StoryDetail,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<bool, PageError> {
        if matches!(wanted, ShownPart::All | ShownPart::FromFailure) {
            write(&markdown::opening(&self.run)).map_err(PageError::Output)?;
        }
        let mut fault = None;
        let has_begun = self.tell(wanted, detail, &mut |step| {
            fault = write(&markdown::step(&step)).err();
            if fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        fault.map_or(Ok(has_begun), |error| Err(PageError::Output(error)))
    }

    /// Prints the selected steps as one document.
    fn document(&self, is_damaged: bool, arguments: &Arguments, output: &CommandOutput) -> Outcome {
        let (mut steps, mut bytes, mut steps_omitted) = (Vec::new(), 0_usize, 0);
        let has_begun = self.tell(arguments.wanted(), arguments.detail(), &mut |step| {
            bytes = bytes.saturating_add(step.bytes());
            if steps.len() < MOST_STEPS && bytes < MOST_BYTES {
                steps.push(step);
            } else {
                steps_omitted += 1;
            }
            ControlFlow::Continue(())
        });
        if !has_begun.map_err(explain_unreadable)? {
            nothing_wanted(arguments, output)?;
        }
        let run = Overview::of(&self.run);
        let events_omitted = self.events_omitted;
        let document = Document { run, steps, steps_omitted, events_omitted };
        output.verdict(&document, fault(is_damaged), |_| String::new())
    }

    /// Shows the selected steps until the reader stops. Returns whether there
    /// were any. Memory use depends on the longest event, not on the run.
    fn tell(
        &self,
        wanted: ShownPart,
        detail: StoryDetail,
        print: &mut dyn FnMut(StoryStep) -> ControlFlow<()>,
    ) -> Result<bool, BundleSourceError> {
        let mut story = Story::new(&self.run, self.prices.clone(), detail);
        let mut selection = Selection::new(wanted);
        let mut flow = ControlFlow::Continue(());
        let mut show = |step: StoryStep, flow: &mut ControlFlow<()>| {
            selection.take(step, &mut |step| {
                if flow.is_continue() {
                    *flow = print(step);
                }
            });
        };
        read_run_events(self.bundle, &mut |event| {
            story.take(event, &mut |step| show(step, &mut flow));
            flow
        })?;
        story.finish(&mut |step| show(step, &mut flow));
        Ok(selection.has_begun())
    }
}

/// Writes a whole bundle as Markdown.
pub(super) fn write_markdown(
    bundle: &dyn BundleSource,
    prices: Prices,
    write: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<(), PageError> {
    let (run, events_omitted) = read_run(bundle, prices.clone())?;
    let conversation = Conversation { bundle, run, prices, events_omitted };
    let texts = TextAmount::Full;
    let detail = StoryDetail { texts, has_reasoning: true, is_complete: false };
    conversation.write_markdown(ShownPart::All, detail, write)?;
    Ok(())
}

/// Reports that no step matches the flags.
fn nothing_wanted(arguments: &Arguments, output: &CommandOutput) -> Result<(), CommandError> {
    if let Some(id) = &arguments.call {
        return Err(CommandError::failure(format!("there is no call {id}"))
            .hint("run `traj show` without --call to see the ids of the calls"));
    }
    if let Some(turn) = arguments.turn {
        return Err(CommandError::failure(format!("there is no turn {turn}"))
            .hint("run `traj show` without --turn to see the turns"));
    }
    output.note(if arguments.failed { "nothing failed" } else { "there is nothing to show" });
    Ok(())
}
