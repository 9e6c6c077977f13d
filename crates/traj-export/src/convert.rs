//! A run in the formats that other tools read.
//!
//! Every format is a [`Converter`] that gets the facts of the run model, and
//! none looks at the rows of an agent. A bundle is read twice: the first time to
//! learn the run as a whole, the second time to write it. Memory does not grow
//! with the length of a run.
//!
//! - `format`: the formats, and what each is written with;
//! - `notes`, `pieces`, `grouping`: the story of a run as messages with their
//!   tool calls;
//! - `unrecorded`: model calls that no row states;
//! - `survey`: what a converter knows before its first byte;
//! - `losses`: what a format could not hold;
//! - `call_rows`, `csv`, `jsonl`: one row per tool call;
//! - `atif`: a trajectory in one document;
//! - `perfetto`: a trace with threads, flows and counters;
//! - `inspect_log`: a log of Inspect, with the feature `inspect-log`;
//! - `otlp`: OpenTelemetry traces, with the feature `otlp`;
//! - `parquet`: events or calls as columns, with the feature `parquet`.

mod atif;
mod call_rows;
mod csv;
mod format;
mod grouping;
#[cfg(feature = "inspect-log")]
mod inspect_log;
mod jsonl;
mod losses;
mod notes;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod pieces;
mod survey;
mod unrecorded;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use traj_core::port::{BundleSource, BundleSourceError, Scratch};
use traj_core::run::{Fold, Prices, RunEvent, Taken};

use crate::inspect::run_events::{EventTexts, RowTexts, read_facts_with};
use crate::inspect::story::{Story, StoryDetail, TextAmount};
pub use format::{ConvertFormat, ConvertTable};
use grouping::Grouping;
pub use losses::ConvertNotice;
use losses::{Loss, Losses};
use notes::FactNotes;
#[cfg(feature = "parquet")]
pub use parquet::{
    EventRow, EventRows, EventTable, LongTexts, NextEvent, ParquetError, ParquetSummary,
    RowVisitor, RowsDigest, SealedEvents, SessionRow, SessionTable, StatedTotals, agent_name,
    long_text_file, long_texts_in, read_event_rows, trace_id,
};
use pieces::Piece;
use survey::Survey;
use unrecorded::Stated;

/// Why a run could not be converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The bundle cannot be read.
    #[error(transparent)]
    Source(#[from] BundleSourceError),
    /// The result cannot be written.
    #[error("the result cannot be written")]
    Output(#[from] io::Error),
    /// A second run was added to a format that holds one.
    #[error("{format} holds one run only")]
    OneRunOnly {
        /// The format.
        format: &'static str,
    },
}

/// What to convert to, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// The format.
    pub format: ConvertFormat,
    /// The rows of formats that are tables.
    pub table: ConvertTable,
    /// Whether traces contain prompts, replies, arguments and outputs.
    pub has_content: bool,
    /// What tokens cost.
    pub prices: Prices,
}

impl ConvertOptions {
    /// The usual options of a format.
    #[must_use]
    pub fn new(format: ConvertFormat) -> Self {
        let table = format.usual_table();
        Self { format, table, has_content: false, prices: Prices::shipped() }
    }
}

/// What was converted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertReport {
    /// How many runs.
    pub runs: u64,
    /// How many events they have.
    pub events: u64,
    /// How many tool calls they have.
    pub calls: u64,
    /// How many rows, spans or steps were written.
    pub records: u64,
    /// How many bytes were written.
    pub bytes: u64,
    /// What the format could not hold.
    pub notices: Vec<ConvertNotice>,
}

/// What a converter reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// The facts as they are stated, each with what it adds to the run.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has them"))]
    Events,
    /// Messages with their calls.
    Pieces,
}

/// Writes runs in one format.
trait Converter: Send {
    /// What it reads.
    fn wants(&self) -> Wants;

    /// Begins a run.
    fn begin(&mut self, survey: &Survey) -> io::Result<()>;

    /// Takes a fact.
    fn event(&mut self, _event: &RunEvent<'_>, _taken: &Taken) -> io::Result<()> {
        Ok(())
    }

    /// Takes a piece.
    fn piece(&mut self, _piece: Piece, _losses: &mut Losses) -> io::Result<()> {
        Ok(())
    }

    /// Ends a run.
    fn end(&mut self, _survey: &Survey, _losses: &mut Losses) -> io::Result<()> {
        Ok(())
    }

    /// Ends the output. Returns how many records were written.
    fn finish(self: Box<Self>) -> io::Result<u64>;
}

/// Where a converter writes.
type Output<'w> = Box<dyn Write + Send + 'w>;

/// Converts runs, one bundle after the other, into one output.
pub struct Conversion<'w> {
    options: ConvertOptions,
    converter: Box<dyn Converter + 'w>,
    losses: Losses,
    texts: EventTexts,
    report: ConvertReport,
    written: Arc<AtomicU64>,
}

impl std::fmt::Debug for Conversion<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Conversion").field("report", &self.report).finish_non_exhaustive()
    }
}

impl<'w> Conversion<'w> {
    /// A conversion that writes to `out`. Parts that must be written later are kept
    /// in `scratch`, and long texts in `long_texts` until their events are read.
    ///
    /// # Errors
    /// If the beginning cannot be written.
    pub fn new(
        options: ConvertOptions,
        scratch: Box<dyn Scratch>,
        long_texts: Box<dyn Scratch>,
        out: impl Write + Send + 'w,
    ) -> Result<Self, ConvertError> {
        let written = Arc::new(AtomicU64::new(0));
        let out = Counting { out, written: Arc::clone(&written) };
        let converter = format::converter(&options, scratch, Box::new(out))?;
        let (losses, report) = (Losses::default(), ConvertReport::default());
        let texts = EventTexts::new(long_texts);
        Ok(Self { options, converter, losses, texts, report, written })
    }

    /// Adds the run of a bundle that you trust; use
    /// [`check_before_reading`](crate::check_before_reading) for those of others.
    ///
    /// # Errors
    /// If the bundle cannot be read, or if writing fails.
    pub fn add(&mut self, bundle: &dyn BundleSource) -> Result<(), ConvertError> {
        if self.report.runs > 0 && self.options.format.holds_one_run() {
            return Err(ConvertError::OneRunOnly { format: self.options.format.as_str() });
        }
        let survey = Survey::of(bundle, &self.options.prices, &mut self.texts)?;
        self.report.runs += 1;
        self.report.events += survey.run.events;
        self.report.calls += survey.run.calls.calls;
        self.losses.add_run(&survey);
        self.converter.begin(&survey)?;
        match self.converter.wants() {
            Wants::Events => self.pass_events(bundle, &survey)?,
            Wants::Pieces => self.pass_pieces(bundle, &survey)?,
        }
        let lacking = self.texts.take_lacking();
        if self.options.format.holds_outputs(&self.options) {
            self.losses.add(Loss::LongTexts, lacking.cut);
        }
        self.losses.add(Loss::MovedValues, lacking.missing);
        self.converter.end(&survey, &mut self.losses)?;
        Ok(())
    }

    /// Ends the output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> Result<ConvertReport, ConvertError> {
        let Self { options, converter, losses, mut report, written, .. } = self;
        report.records = converter.finish()?;
        report.bytes = written.load(Ordering::Relaxed);
        report.notices = losses.into_notices(options.format.holds_outputs(&options));
        Ok(report)
    }

    fn pass_events(
        &mut self,
        bundle: &dyn BundleSource,
        survey: &Survey,
    ) -> Result<(), ConvertError> {
        let texts = survey.has_long_texts.then_some(&mut self.texts as &mut dyn RowTexts);
        let mut fold = Fold::new(self.options.prices.clone()).without_moments();
        let mut failure = None;
        read_facts_with(bundle, texts, &mut |event| {
            let taken = fold.read(event);
            // Facts of a manifest are not on a line.
            if event.place.line == 0 {
                return ControlFlow::Continue(());
            }
            match self.converter.event(event, &taken) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    fn pass_pieces(
        &mut self,
        bundle: &dyn BundleSource,
        survey: &Survey,
    ) -> Result<(), ConvertError> {
        let detail =
            StoryDetail { texts: TextAmount::Full, has_reasoning: true, is_complete: true };
        let prices = self.options.prices.clone();
        let mut story = Story::with_notes(&survey.run, prices, detail, FactNotes);
        let mut grouping = Grouping::default();
        let (converter, losses) = (&mut self.converter, &mut self.losses);
        let mut failure = None;
        let mut stated = Stated::default();
        let mut pass = |piece: Piece| {
            if failure.is_none() {
                stated.take(&piece);
                failure = converter.piece(piece, losses).err();
            }
            failure.is_none()
        };
        let texts = survey.has_long_texts.then_some(&mut self.texts as &mut dyn RowTexts);
        read_facts_with(bundle, texts, &mut |event| {
            if event.place.line == 0 {
                return ControlFlow::Continue(());
            }
            let mut goes_on = true;
            story.take(event, &mut |mut step| {
                survey.settle(&mut step);
                goes_on &= grouping.take(step, &mut pass);
            });
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let late = story.late_results();
        story.finish(&mut |mut step| {
            survey.settle(&mut step);
            grouping.take(step, &mut pass);
        });
        grouping.finish(&mut pass);
        for piece in stated.rest(survey) {
            if failure.is_none() {
                failure = converter.piece(piece, losses).err();
            }
        }
        losses.add(Loss::LateResults, late);
        failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Counts what is written.
struct Counting<W> {
    out: W,
    written: Arc<AtomicU64>,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
