//! `traj show`: the conversation of a session or bundle, for people.

mod excerpt;
mod in_words;
mod layout;
mod overview;
mod page;
mod pager;
mod render;
mod select;
mod step;
mod story;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use traj_core::port::BundleSource;
use traj_core::run::{Fold, Prices, Run};
use traj_export::{InspectError, check_before_reading, read_run_events};
use traj_fs::FsBundleSource;

use super::{Outcome, verify};
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::progress::WatchedBundle;
use crate::resolve::export::temporary::{ExportedSession, export_session, secret_left};
use crate::resolve::{self, Subject, SubjectArguments, Unnamed};
use overview::Overview;
use pager::Paper;
use render::Renderer;
use select::{Selection, Wanted};
use step::StoryStep;
use story::{Detail, Story};

/// A document contains at most this many steps, and this many bytes of them.
const MOST_STEPS: usize = 2_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Args)]
#[command(
    long_about = "Shows the conversation of a session: prompts, replies, commands with their \
                  outcome, duration and output, model calls with tokens, context size and cost, \
                  approvals, errors, and how the run ended.\n\nSESSION can be a bundle \
                  (directory, zip, tar.zst), a session or its sidecar. A session is first \
                  exported to a temporary directory, so all output is redacted. What both the \
                  transcript and the sidecar state is shown once. Times are in the time zone of \
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
        "\n",
        "Exit codes: 0 shown · 1 not found or not readable · 2 wrong usage · 3 a secret \
         survived · 4 damaged or not a bundle, shown as far as possible · 128+N ended by signal \
         N"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Start at the first failure and what led to it
    #[arg(long, conflicts_with_all = ["turn", "call"])]
    failed: bool,
    /// Show one turn; turn 0 is everything before the first prompt
    #[arg(long, value_name = "N", conflicts_with = "call")]
    turn: Option<u64>,
    /// Show one call with its full output
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Show every text and output in full
    #[arg(long)]
    full: bool,
    /// Include the model's reasoning
    #[arg(long)]
    reasoning: bool,
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

impl Arguments {
    fn wanted(&self) -> Wanted {
        match (&self.call, self.turn) {
            (Some(id), _) => Wanted::Call(id.clone()),
            (None, Some(turn)) => Wanted::Turn(turn),
            (None, None) if self.failed => Wanted::FromFailure,
            (None, None) => Wanted::All,
        }
    }

    const fn detail(&self) -> Detail {
        Detail { is_full: self.full || self.call.is_some(), has_reasoning: self.reasoning }
    }
}

/// The document.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// The run at a glance.
    run: Overview,
    /// The conversation, in order.
    steps: Vec<StoryStep>,
    /// How many steps were too many.
    steps_omitted: u64,
    /// How many events are too long to be read.
    events_omitted: u64,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Document>("show");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let opened = Opened::open(arguments, host, output)?;
    let (bundle, is_damaged) = match &opened {
        Opened::Bundle { bundle, is_damaged } => (bundle, *is_damaged),
        Opened::Session(exported) => (&exported.bundle, false),
    };
    let conversation = Conversation::read(bundle, host.prices(arguments.prices.as_deref())?)?;
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
        output.note(&format!("{omitted} events are not shown: too long"));
    }
    if is_damaged {
        output.note("the bundle is damaged; run `traj verify` for details");
    }
    Ok(fault(is_damaged).map_or(ExitCode::SUCCESS, ErrorKind::exit_code))
}

fn fault(is_damaged: bool) -> Option<ErrorKind> {
    is_damaged.then_some(ErrorKind::Damaged)
}

/// What is shown.
enum Opened {
    /// A bundle in place. Its events were checked for secrets.
    Bundle { bundle: FsBundleSource, is_damaged: bool },
    /// The bundle of a session, which goes away with it.
    Session(ExportedSession),
}

impl Opened {
    fn open(
        arguments: &Arguments,
        host: &Host,
        output: &CommandOutput,
    ) -> Result<Self, CommandError> {
        match resolve::subject(&arguments.subject, Unnamed::Newest, host, output)? {
            Subject::Bundle { path } => {
                let is_damaged = check(&path, host, output)?;
                Ok(Self::Bundle { bundle: verify::open(&path, host)?, is_damaged })
            }
            Subject::Session(session) => {
                export_session(&session, &arguments.workspace, host, output).map(Self::Session)
            }
            Subject::Stream => {
                Err(CommandError::usage("a session is not read from standard input")
                    .hint("name the session, or a bundle"))
            }
        }
    }
}

/// Checks a bundle from elsewhere; returns whether it is damaged. Its progress
/// bar is gone before anything is shown.
fn check(path: &Path, host: &Host, output: &CommandOutput) -> Result<bool, CommandError> {
    let bundle = WatchedBundle::new(verify::open(path, host)?, output);
    let checked = check_before_reading(&bundle, &verify::rules()?, Host::workers());
    let report = checked.map_err(|error| match error {
        InspectError::Source(error) => verify::explain(error),
        secret => secret_left(secret.to_string()),
    })?;
    if !report.has_scanned_events() {
        let message = "the events of this bundle cannot be checked for secrets";
        return Err(
            CommandError::new(ErrorKind::Damaged, message).hint("run `traj verify` for details")
        );
    }
    Ok(!report.problems.is_empty())
}

/// A bundle that was read once, to be read a second time step by step.
struct Conversation<'b> {
    bundle: &'b dyn BundleSource,
    run: Run,
    prices: Prices,
    events_omitted: u64,
}

impl<'b> Conversation<'b> {
    fn read(bundle: &'b dyn BundleSource, prices: Prices) -> Result<Self, CommandError> {
        let mut fold = Fold::new(prices.clone());
        let events_omitted = read_run_events(bundle, &mut |event| {
            fold.push(event);
            ControlFlow::Continue(())
        })
        .map_err(verify::explain)?;
        Ok(Self { bundle, run: fold.finish(), prices, events_omitted })
    }

    /// Prints the steps that are wanted; returns whether there were any.
    fn print(
        &self,
        arguments: &Arguments,
        host: &Host,
        output: &CommandOutput,
    ) -> Result<bool, CommandError> {
        let (width, zone) = (host.terminal_width(), host.zone());
        let overview = Overview::of(&self.run);
        let wanted = arguments.wanted();
        let is_whole = matches!(wanted, Wanted::All | Wanted::FromFailure);
        let paper = Paper::new(!arguments.no_pager, host, output);
        let mut renderer = Renderer::new(width, &zone);
        paper.print(|paper| {
            if is_whole && paper.write(&overview.header(width, &zone)).is_break() {
                return Ok(true);
            }
            let has_begun = self
                .tell(wanted, arguments.detail(), &mut |step| paper.write(&renderer.draw(&step)))?;
            if is_whole && has_begun {
                let _last = paper.write(&overview.closing(width));
            }
            Ok(has_begun)
        })
    }

    /// Prints the steps that are wanted as one document.
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
        })?;
        if !has_begun {
            nothing_wanted(arguments, output)?;
        }
        let run = Overview::of(&self.run);
        let events_omitted = self.events_omitted;
        let document = Document { run, steps, steps_omitted, events_omitted };
        output.verdict(&document, fault(is_damaged), |_| String::new())
    }

    /// Shows the steps that are wanted, until whoever reads them has seen
    /// enough; returns whether there were any. Memory follows the longest
    /// event, not the run.
    fn tell(
        &self,
        wanted: Wanted,
        detail: Detail,
        print: &mut dyn FnMut(StoryStep) -> ControlFlow<()>,
    ) -> Result<bool, CommandError> {
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
        })
        .map_err(verify::explain)?;
        story.finish(&mut |step| show(step, &mut flow));
        Ok(selection.has_begun())
    }
}

/// What to say when nothing fits what was asked for.
fn nothing_wanted(arguments: &Arguments, output: &CommandOutput) -> Result<(), CommandError> {
    const HINT: &str = "`traj show` without it shows which there are";
    if let Some(id) = &arguments.call {
        return Err(CommandError::failure(format!("there is no call {id}")).hint(HINT));
    }
    if let Some(turn) = arguments.turn {
        return Err(CommandError::failure(format!("there is no turn {turn}")).hint(HINT));
    }
    output.note(if arguments.failed { "nothing failed" } else { "there is nothing to show" });
    Ok(())
}
