//! `traj ship`: stores sessions in a dataset of many hosts, each event once.
//!
//! - `memory`: what this host remembers about a dataset;
//! - `subjects`: what to ship;
//! - `round`: ships the part of each session that the dataset does not have;
//! - `report`: what is printed;
//! - `watch`: rounds until somebody asks to stop.

mod memory;
mod report;
mod round;
mod subjects;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use traj_core::run::Prices;

use super::Outcome;
use super::query::dataset_root;
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::interruption::{Interruption, Waits};
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::quantity;
use memory::ShipMemory;
pub(super) use memory::{DatasetStatus, remembered};
use report::ShipReport;
use round::Round;

#[derive(Debug, Args)]
#[command(
    long_about = "Ships sessions to a dataset of many hosts: Parquet files below a directory or a \
                  bucket, which `traj query` and other engines read.\n\nEach session is redacted \
                  and checked exactly as `traj export` does it; a session in which a secret \
                  survives is not shipped. What the dataset already has is not sent again, and each \
                  event is in it once, however often this command is killed or repeated. If the \
                  dataset cannot be reached, finished files wait on this host.\n\nWith --watch, \
                  looks for changes again and again. Segments that are full are shipped at once; \
                  the last events of a session when it has ended, or was idle for 15 minutes.",
    after_help = concat!(
        "Examples:\n",
        "  traj ship 0197f2c4 --to file:///srv/lake       one session\n",
        "  traj ship --all --to s3://bucket/runs          every session of this machine\n",
        "  traj ship --all --to /srv/lake --dry-run       what would be shipped\n",
        "  traj ship --all --to s3://bucket/runs --watch  until it is stopped, for a service manager\n",
        "\n",
        "Credentials are read from the environment, as the tools of the provider do it; never put \
         them into the URL.\n",
        "\n",
        "Exit codes: 0 the dataset has everything · 1 some sessions are not in the dataset, or wait \
         because it cannot be reached; the others are in it · 2 wrong usage · 3 a secret survived \
         in a session, which was not shipped; the others were · 128+N ended by signal N; --watch \
         ends with 0"
    )
)]
pub(crate) struct Arguments {
    /// The sessions and bundles: a file, a key, an id, or the beginning of a key or id
    #[arg(value_name = "SESSION", required_unless_present = "all", conflicts_with = "all")]
    subjects: Vec<PathBuf>,
    /// Ship all sessions that `traj sessions` lists
    #[arg(long)]
    all: bool,
    /// The dataset: file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://
    #[arg(long, value_name = "URL")]
    to: String,
    /// Keep looking for changes
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// How often to look for changes
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = quantity::duration, requires = "watch")]
    every: Duration,
    /// How much may wait on this host; the oldest files are dropped, and counted
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = quantity::size)]
    max_spool: u64,
    /// Show what would be shipped, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// A price file that overrides the built-in prices [default: as configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<ShipReport>("ship");

/// What all rounds need.
struct Job<'a> {
    arguments: &'a Arguments,
    prices: Prices,
    memory: ShipMemory,
    interruption: Interruption,
    host: &'a Host,
    output: &'a CommandOutput,
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    if arguments.every.is_zero() {
        return Err(CommandError::usage("--every 0s leaves no pause between two rounds")
            .hint("`--every 1s` is the shortest pause"));
    }
    let root = dataset_root("--to", &arguments.to, host)?;
    // Equal events have equal markers only with the owner's key.
    host.marker_key()?;
    let memory = ShipMemory::open(&root, host)?;
    let prices = host.prices(arguments.prices.as_deref())?;
    let interruption = Interruption::watch(host)?;
    let job = Job { arguments, prices, memory, interruption, host, output };
    if arguments.watch {
        return watch::run(&job);
    }
    let found = subjects::find(&job).map_err(|error| job.explain(error))?;
    let waits = Waits::until(job.interruption.stop_flag());
    let mut round = Round::begin(&job, waits).map_err(|error| job.explain(error))?;
    let outcome = round.ship_all(found, None);
    let report = round.report();
    job.note_status(&report, outcome.as_ref().err());
    outcome.map_err(|error| job.explain(error))?;
    report.print(output)
}

impl Job<'_> {
    fn explain(&self, error: CommandError) -> CommandError {
        self.interruption.explain_shipping(error)
    }

    /// Remembers how the last round went, for `traj doctor`.
    fn note_status(&self, report: &ShipReport, error: Option<&CommandError>) {
        if self.arguments.dry_run {
            return;
        }
        if let Err(error) = self.memory.note(report, error) {
            self.output.note(&format!("{}: {}", error.message, error.causes().join(": ")));
        }
    }
}
