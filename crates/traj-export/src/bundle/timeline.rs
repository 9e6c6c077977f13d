//! `session-branch.json` and `events.jsonl`: every row is parsed and redacted
//! once for both.
//!
//! Branch entries are in chronological order unless a clock was set back. If they
//! are, both files are written in one pass. Otherwise the branch is written
//! first, and the events of its entries are set aside until their position
//! among the others is known.

mod branch_file;
mod entries;
mod envelope;
mod event_file;
mod feed;
mod foreign;
mod kept_events;
mod work;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use traj_core::capture::BlobDigest;
use traj_core::dialect::transcript::EventFrame;
use traj_core::port::{BundleWriter, Source, SourceError};
use traj_core::redaction::{RedactedSpill, RedactionReport};
use traj_core::run::NameCounts;

use super::blobs::RecordedBlobs;
use super::prompts::SubmittedPrompts;
use super::skills::{SkillMarks, SkillPaths};
use crate::bundle::output::WrittenFile;
use crate::error::ExportError;
use crate::index::EventRecord;
use crate::index::sorter::Sorter;
use crate::json_stream::long_rows::CutValue;
use crate::json_stream::row_fetcher::RowFetcher;
use crate::parallel::ordered;
use crate::parallel::reusable::Reusable as _;
use crate::progress::Stage;
use crate::read_back::approved_parts::ApprovedParts;
use crate::read_back::redaction_pass::RedactionPass;
use branch_file::BranchFile;
pub(crate) use entries::EntryRows;
use event_file::{EventFile, EventsWritten};
use feed::{Feed, TimelineBatch};
use kept_events::KeptEvents;
use work::{BatchOutput, ChangedSource, Worker};

/// The shared context of all workers.
#[derive(Clone, Copy)]
pub(crate) struct TimelineContext<'c> {
    pub(crate) pass: &'c RedactionPass,
    pub(crate) frame: &'c EventFrame,
    pub(crate) skills: &'c SkillPaths,
    /// For call arguments that were cut.
    pub(crate) blobs: &'c RecordedBlobs<'c>,
    pub(crate) names: SourceNames<'c>,
    pub(crate) workers: NonZeroUsize,
}

/// The names of the sources, for errors.
#[derive(Clone, Copy)]
pub(crate) struct SourceNames<'c> {
    pub(crate) session: &'c str,
    pub(crate) runtime: &'c str,
}

/// The inputs of the timeline.
pub(crate) struct TimelineInputs<'i> {
    pub(crate) entries: Option<EntryRows<'i>>,
    pub(crate) runtime: Option<&'i dyn Source>,
    /// The runtime events.
    pub(crate) order: Sorter<EventRecord>,
}

/// The result of writing the timeline.
pub(crate) struct TimelineOutcome {
    /// The branch and the events.
    pub(crate) files: [WrittenFile; 2],
    pub(crate) report: RedactionReport,
    /// The lines of the events file.
    pub(crate) lines: u64,
    /// The first line that does not match the schema of events.
    pub(crate) unfit: Option<u64>,
    pub(crate) leaf_id: Option<String>,
    pub(crate) transcript_events: u64,
    /// Entries of unknown types.
    pub(crate) unknown: NameCounts,
    pub(crate) side: SideInputs,
}

/// The inputs that the timeline collects for the smaller files.
pub(crate) struct SideInputs {
    pub(crate) marks: SkillMarks,
    pub(crate) prompts: SubmittedPrompts,
    /// The blobs that events refer to.
    pub(crate) blobs: BTreeSet<BlobDigest>,
    /// Values that were too long for their entry or their event.
    pub(crate) session_giants: Vec<CutValue>,
    pub(crate) runtime_giants: Vec<CutValue>,
}

/// Writes both files, and calls `enter` when a step begins. Sets the submitted
/// prompts aside.
pub(crate) fn write_timeline(
    bundle: &mut dyn BundleWriter,
    context: TimelineContext<'_>,
    inputs: TimelineInputs<'_>,
    approved: &mut ApprovedParts,
    enter: impl Fn(Stage),
) -> Result<TimelineOutcome, ExportError> {
    let TimelineInputs { mut entries, runtime, mut order } = inputs;
    let mut fetcher = runtime.map(RowFetcher::new);
    let mut prompts_kept = RedactedSpill::new(bundle.scratch()?);
    let mut total = TimelineTotals::default();
    let leaf_id = entries.as_mut().map_or(Ok(None), EntryRows::leaf_id)?;
    let header = entries.as_mut().map_or(Ok(None), EntryRows::header)?;
    let redactor = context.pass.redactor();
    let (report, leaf) = (&mut total.report, leaf_id.as_deref());
    let mut branch = BranchFile::begin(bundle, redactor, report, header.as_ref(), leaf)?;
    let mut events = EventFile::begin(bundle)?;
    let spool = &&*bundle;
    let worker = Worker::new(context);
    let ApprovedParts { entries: entry_notes, events: event_notes, .. } = approved;
    let transcript_events;
    if entries.as_mut().map_or(Ok(true), EntryRows::are_in_order)? {
        enter(Stage::Timeline);
        let order = order.finish(spool)?;
        let feed = Feed::of_all(entries.as_mut(), order, fetcher.as_mut());
        run(&worker, feed, &mut total, |done| {
            branch.add(done, entry_notes, spool)?;
            events.add(done, context.pass, event_notes, &mut prompts_kept, spool)
        })?;
        transcript_events = events.fresh();
    } else {
        enter(Stage::Branch);
        let mut kept = KeptEvents::new(bundle.scratch()?);
        run(&worker, Feed::of_entries(entries.as_mut()), &mut total, |done| {
            branch.add(done, entry_notes, spool)?;
            Ok(kept.add(done, &mut order, spool)?)
        })?;
        transcript_events = kept.count();
        enter(Stage::Events);
        let order = order.finish(spool)?;
        let feed = Feed::of_events(order, fetcher.as_mut(), kept.spill());
        run(&worker, feed, &mut total, |done| {
            events.add(done, context.pass, event_notes, &mut prompts_kept, spool)
        })?;
    }
    let session = entries.map(|entries| entries.fetcher);
    let [session_giants, runtime_giants] = [session, fetcher].map(|fetcher| {
        let Some(RowFetcher { giants, media, .. }) = fetcher else { return Vec::new() };
        (0..media).for_each(|_| total.report.count_media());
        giants
    });
    let TimelineTotals { marks, unknown, report } = total;
    let (branch, events) = (branch.finish()?, events.finish(spool)?);
    let EventsWritten { written, lines, unfit, prompts, blobs } = events;
    let prompts = SubmittedPrompts { records: prompts, kept: prompts_kept };
    let side = SideInputs { marks, prompts, blobs, session_giants, runtime_giants };
    let files = [branch, written];
    Ok(TimelineOutcome { files, report, lines, unfit, leaf_id, transcript_events, unknown, side })
}

/// The totals of all batches.
#[derive(Default)]
struct TimelineTotals {
    marks: SkillMarks,
    unknown: NameCounts,
    report: RedactionReport,
}

/// Runs the worker on every batch of `feed`, and `take` on the results, in
/// order.
fn run(
    worker: &Worker<'_>,
    mut feed: Feed<'_, '_>,
    total: &mut TimelineTotals,
    mut take: impl FnMut(&mut BatchOutput) -> Result<(), ExportError> + Send,
) -> Result<(), ExportError> {
    ordered::in_turn(
        worker.context.workers,
        |(group, _): &mut (TimelineBatch, BatchOutput)| feed.fill(group),
        |(group, done)| {
            worker.work(group, done);
            group.make_ready();
        },
        |(_, done)| {
            if let Some(changed) = done.changed {
                let SourceNames { session, runtime } = worker.context.names;
                let name = match changed {
                    ChangedSource::Session => session,
                    ChangedSource::Runtime => runtime,
                };
                return Err(SourceError::Changed { name: name.to_owned() }.into());
            }
            if let Some(error) = done.failed.take() {
                return Err(error.into());
            }
            take(done)?;
            let redactor = worker.context.pass.redactor();
            done.parts.drain(..).for_each(|parts| redactor.join_rows(parts));
            total.marks.merge(&done.marks);
            done.unknown.iter().for_each(|name| total.unknown.add(name));
            total.report.merge(&done.report);
            done.make_ready();
            Ok(())
        },
    )
}
