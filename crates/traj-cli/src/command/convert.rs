//! `traj convert`: runs in the formats that other tools read.
//!
//! - `send`: posts traces to a receiver.

mod send;

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use serde::Serialize;
use traj_core::port::Scratch;
use traj_core::timestamp::UnixMillis;
use traj_export::{
    Conversion, ConvertError, ConvertFormat, ConvertNotice, ConvertOptions, ConvertReport,
    ConvertTable, counted,
};
use traj_fs::FsScratch;

pub(crate) use send::configured_receiver;

use super::{Outcome, export};
use crate::command_error::{CommandError, ErrorKind, explain_unreadable};
use crate::compose::Host;
use crate::interruption::Interruption;
use crate::json_document::JsonDocument;
use crate::output::{CommandOutput, OutputFailure, OutputFile, stoppable};
use crate::progress::WatchedBundle;
use crate::quantity::shown_size;
use crate::resolve::{OpenedBundle, SubjectArguments};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Writes runs in a format that other tools read.\n\nEach SESSION can be a session, \
                  a bundle (directory, zip, tar.zst) or a page. A session is redacted and \
                  checked exactly as `traj export` does it; if a secret survives, nothing is \
                  written. Without SESSION, converts the newest session of this workspace, or \
                  else of this machine. What a format cannot hold is reported as a notice.",
    after_help = concat!(
        "Examples:\n",
        "  traj convert --to csv --output calls.csv             the newest session, for a \
         spreadsheet\n",
        "  traj convert 0197f2c4 --to jsonl --output - | jq .   tool calls, one per line\n",
        "  traj convert bug-1234.zip --to parquet --output events.parquet\n",
        "  traj convert bug-1234.zip --to parquet --table calls --output calls.parquet\n",
        "  traj convert bug-1234.zip --to perfetto --output run.trace.json\n",
        "  traj convert mon.zip tue.zip --to csv --output -     several runs in one table\n",
        "  traj convert bug-1234.zip --to atif --output run.json\n",
        "  traj convert bug-1234.zip --to inspect --output run.eval\n",
        "  traj convert bug-1234.zip --to otlp-json --content --output traces.jsonl\n",
        "  traj convert 0197f2c4 --to otlp --send http://localhost:6006 --dry-run\n",
        "  traj convert 0197f2c4 --to otlp --send https://collector.example:4318 --yes\n",
        "\n",
        "--send without URL uses OTEL_EXPORTER_OTLP_ENDPOINT. Credentials are read from \
         OTEL_EXPORTER_OTLP_HEADERS.\n",
        "\n",
        "Exit codes: 0 written or sent · 1 not found or not readable, or not sent · 2 wrong usage \
         · 3 a secret survived, nothing was written; or the receiver rejected spans · 4 damaged or not a bundle, or a fact is missing that the format can hold; written or sent as far as possible \
         · 128+N ended by signal N, nothing was written"
    )
)]
pub(crate) struct Arguments {
    /// The sessions and bundles: a file, a key, an id, or the beginning of a key or id
    #[arg(value_name = "SESSION")]
    subjects: Vec<PathBuf>,
    /// The format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: FormatName,
    /// The file to write, or - for standard output
    #[arg(long, value_name = "FILE", required_unless_present = "send", conflicts_with = "send")]
    output: Option<PathBuf>,
    /// Post the traces to a receiver instead [default: OTEL_EXPORTER_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    send: Option<String>,
    /// Send without asking
    #[arg(long, requires = "send")]
    yes: bool,
    /// Show what would be sent, without sending anything
    #[arg(long, requires = "send")]
    dry_run: bool,
    /// What the rows of a table are [default: depends on the format]
    #[arg(long, value_enum, value_name = "TABLE")]
    table: Option<TableName>,
    /// Include prompts, replies, arguments and outputs in traces
    #[arg(long)]
    content: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// The store that lists the sessions [default: the agent's]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// The program whose sessions are searched, such as codex, or the id of an OpenClaw agent
    /// [default: the one the key names, or all]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// A price file that overrides the built-in prices [default: as configured]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// The directory that the agent worked in; its path is hidden
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// Tool calls for spreadsheets
    Csv,
    /// Tool calls, one JSON object per line
    Jsonl,
    /// A trajectory for evaluations and training, ATIF 1.8
    Atif,
    /// A timeline for the Perfetto UI and speedscope
    Perfetto,
    /// OpenTelemetry traces as protobuf
    Otlp,
    /// OpenTelemetry traces, one JSON request per line
    OtlpJson,
    /// A log for Inspect
    Inspect,
    /// Events or tool calls, for DuckDB, polars and other engines
    Parquet,
}

impl FormatName {
    const fn format(self) -> ConvertFormat {
        match self {
            Self::Csv => ConvertFormat::Csv,
            Self::Jsonl => ConvertFormat::Jsonl,
            Self::Atif => ConvertFormat::Atif,
            Self::Perfetto => ConvertFormat::Perfetto,
            Self::Otlp => ConvertFormat::Otlp,
            Self::OtlpJson => ConvertFormat::OtlpJson,
            Self::Inspect => ConvertFormat::Inspect,
            Self::Parquet => ConvertFormat::Parquet,
        }
    }

    /// Whether it is not text.
    const fn is_binary(self) -> bool {
        matches!(self, Self::Otlp | Self::Inspect | Self::Parquet)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableName {
    /// One row per tool call
    Calls,
    /// One row per event
    Events,
}

/// What was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Converted {
    /// The file, absolute; null for standard output.
    file: Option<String>,
    /// The format.
    format: &'static str,
    /// How many runs were converted.
    runs: u64,
    /// How many events they have.
    events: u64,
    /// How many tool calls they have.
    calls: u64,
    /// How many rows, steps or spans were written.
    records: u64,
    /// How many bytes were written.
    bytes: u64,
    /// What the format cannot hold.
    notices: Vec<ConvertNotice>,
    /// What was sent; missing without `--send`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<send::Sent>,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<Converted>("convert");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let options = arguments.options(host)?;
    let now = export::now(None, host)?;
    let job = Job { arguments, options, now, host, output };
    match (&arguments.send, arguments.output.as_deref()) {
        (Some(address), _) => job.send(address),
        (None, Some(output)) if output != Path::new("-") => job.to_file(output),
        (None, _) => job.to_stdout(),
    }
}

impl Arguments {
    fn options(&self, host: &Host) -> Result<ConvertOptions, CommandError> {
        let format = self.to.format();
        let mut options = ConvertOptions::new(format);
        if let Some(table) = self.table {
            options.table = match table {
                TableName::Calls => ConvertTable::Calls,
                TableName::Events => ConvertTable::Events,
            };
        }
        let is_trace = matches!(format, ConvertFormat::Otlp | ConvertFormat::OtlpJson);
        if self.content && !is_trace {
            return Err(CommandError::usage(
                "--content works only with --to otlp and --to otlp-json",
            )
            .hint("leave it out; the other formats include content without it"));
        }
        if self.send.is_some() && format != ConvertFormat::Otlp {
            return Err(CommandError::usage("--send works only with --to otlp"));
        }
        options.has_content = self.content;
        if !format.holds(options.table) {
            let message = format!("--to {} does not have this table", format.as_str());
            return Err(CommandError::usage(message).hint("leave out --table"));
        }
        if format.holds_one_run() && self.subjects.len() > 1 {
            let message = format!("a file in the format {} holds one run", format.as_str());
            return Err(CommandError::usage(message).hint("convert one session at a time"));
        }
        if let Some(own) = host.own_prices(self.prices.as_deref())? {
            options.prices = options.prices.overridden_by(own);
        }
        Ok(options)
    }

    /// The subjects, or the newest session.
    fn each_subject(&self) -> Vec<SubjectArguments> {
        let (store, agent) = (&self.store, &self.agent);
        let one = |subject: Option<PathBuf>| SubjectArguments {
            subject,
            store: store.clone(),
            agent: agent.clone(),
            ..SubjectArguments::default()
        };
        if self.subjects.is_empty() {
            return vec![one(None)];
        }
        self.subjects.iter().map(|subject| one(Some(subject.clone()))).collect()
    }
}

impl From<ConvertError> for OutputFailure {
    fn from(error: ConvertError) -> Self {
        Self::Content(match error {
            ConvertError::Output(error) => return Self::Write(error),
            ConvertError::Source(error) => explain_unreadable(error),
            error => CommandError::failure("cannot convert").because(error),
        })
    }
}

/// A conversion to run.
struct Job<'a> {
    arguments: &'a Arguments,
    options: ConvertOptions,
    now: UnixMillis,
    host: &'a Host,
    output: &'a CommandOutput,
}

impl Job<'_> {
    fn to_stdout(&self) -> Outcome {
        if self.arguments.to.is_binary() && io::stdout().is_terminal() {
            let format = self.options.format.as_str();
            let message = format!("{format} is binary, and standard output is a terminal");
            return Err(CommandError::usage(message).hint("redirect it, or name a file"));
        }
        let interruption = Interruption::watch(self.host)?;
        let (report, is_damaged) = self
            .write(io::stdout(), interruption.stop_flag())
            .map_err(|failure| interruption.explain_stdout(failure.on_stdout()))?;
        let fault = fault_of(&report, is_damaged);
        let converted = self.converted(report, None);
        Ok(self.output.summary(&converted, fault, |converted| describe(converted, None)))
    }

    fn to_file(&self, output: &Path) -> Outcome {
        let path = self.host.absolute(output);
        let file = OutputFile::new(&path, self.arguments.force, self.host)?;
        self.check_is_no_source(&path)?;
        let interruption = Interruption::watch(self.host)?;
        let (report, is_damaged) = file
            .write(|out| self.write(out, interruption.stop_flag()))
            .map_err(|error| interruption.explain(error))?;
        let fault = fault_of(&report, is_damaged);
        let converted = self.converted(report, Some(&path));
        let shown = path.strip_prefix(&self.host.facts.current_dir).unwrap_or(&path).to_owned();
        let described = |converted: &Converted| describe(converted, Some(&shown));
        let code = self.output.verdict(&converted, fault, described)?;
        if is_damaged {
            self.output.note("a bundle is damaged; run `traj verify` for details");
        } else if fault.is_some() {
            self.output.note("a fact is missing that the format can hold; the notices say what");
        }
        Ok(if fault.is_some() { code } else { ExitCode::SUCCESS })
    }

    /// Rejects an output that would replace what is converted.
    fn check_is_no_source(&self, path: &Path) -> Result<(), CommandError> {
        let target = self.host.real_path(path);
        let mut sources = self.arguments.subjects.iter();
        if sources.any(|source| self.host.real_path(source) == target) {
            let message = format!("the output would replace its source {}", path.display());
            return Err(CommandError::usage(message).hint("name another file with --output"));
        }
        Ok(())
    }

    /// Writes everything. Returns what was written, and whether a bundle is
    /// damaged.
    fn write(
        &self,
        out: impl Write + Send,
        stop: Arc<AtomicBool>,
    ) -> Result<(ConvertReport, bool), OutputFailure> {
        let mut is_damaged = false;
        let mut conversion = Conversion::new(
            self.options.clone(),
            self.scratch(),
            self.scratch(),
            stoppable(out, stop),
        )?;
        for subject in self.arguments.each_subject() {
            let workspace = &self.arguments.workspace;
            let opened = OpenedBundle::open(&subject, workspace, self.now, self.host, self.output)?;
            is_damaged |= opened.is_damaged();
            let bundle = WatchedBundle::new(opened.bundle(), "converting", self.output);
            conversion.add(&bundle)?;
        }
        Ok((conversion.finish()?, is_damaged))
    }

    /// A file for parts of a document that must be written later.
    fn scratch(&self) -> Box<dyn Scratch> {
        Box::new(FsScratch::new(self.host.temporary_place().into_iter().collect()))
    }

    fn converted(&self, report: ConvertReport, path: Option<&Path>) -> Converted {
        Converted {
            file: path.map(|path| path.to_string_lossy().into_owned()),
            format: self.options.format.as_str(),
            runs: report.runs,
            events: report.events,
            calls: report.calls,
            records: report.records,
            bytes: report.bytes,
            notices: report.notices,
            sent: None,
        }
    }
}

/// The fault of a conversion: a damaged bundle, or a missing fact that the format can hold.
fn fault_of(report: &ConvertReport, is_damaged: bool) -> Option<ErrorKind> {
    let has_gap = report.notices.iter().any(|notice| notice.is_gap);
    (is_damaged || has_gap).then_some(ErrorKind::Damaged)
}

fn describe(converted: &Converted, path: Option<&Path>) -> String {
    let path = path.map_or_else(String::new, |path| format!(" {}", path.display()));
    let figures = [
        counted(converted.runs, "run"),
        counted(converted.calls, "call"),
        counted(converted.records, "record"),
        shown_size(converted.bytes),
    ]
    .join(", ");
    format!("wrote{}\n{figures}\n{}", escape_control(&path), notices(converted))
}

fn notices(converted: &Converted) -> String {
    let notices = converted.notices.iter();
    notices.map(|notice| format!("notice: {} {}\n", notice.count, notice.message)).collect()
}
