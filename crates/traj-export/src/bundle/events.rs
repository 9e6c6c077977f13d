//! `events.jsonl`: all events in order, numbered anew.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use traj_core::capture::BlobDigest;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleWriter, Source};
use traj_core::redaction::{Redacted, RedactedSpill, RedactedText, RedactionReport};
use traj_core::transcript::TranscriptEvents;

use super::blobs;
use super::branch::tail_slot;
use super::envelope;
use super::prompts::PromptRecord;
use super::skills::{SkillMarks, SkillPaths};
use crate::error::ExportError;
use crate::fetch::RowFetcher;
use crate::index::{EventOrigin, EventRecord, row_text};
use crate::ledger::PartNote;
use crate::output::{Output, Written};
use crate::pipeline;
use crate::record::RecordStore;
use crate::screen::{Layout, Screen};
use crate::shelf::{Buffer, Shelf};
use crate::shrink::Giant;
use crate::sort::{Sorted, Sorter};

/// Events are worked on in groups of about this many bytes.
const GROUP_BYTES: usize = 256 * 1024;

/// Events without this text refer to no blob.
static BLOB_MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"blob\""));

/// What writing the events gave.
pub(crate) struct EventOutcome {
    pub(crate) written: Written,
    pub(crate) prompts: Sorted<PromptRecord>,
    pub(crate) marks: SkillMarks,
    pub(crate) blobs: BTreeSet<BlobDigest>,
    pub(crate) report: RedactionReport,
    /// Texts that were too long for their event.
    pub(crate) giants: Vec<Giant>,
    /// How many lines there are.
    pub(crate) lines: u64,
    /// The first line that does not fit the schema of events.
    pub(crate) unfit: Option<u64>,
}

/// What events are written with.
pub(crate) struct EventContext<'c> {
    pub(crate) screen: &'c Screen,
    pub(crate) skills: &'c SkillPaths,
    pub(crate) workers: NonZeroUsize,
}

/// Writes the file. Submitted prompts are kept aside with the transcript's
/// events.
pub(crate) fn write_events(
    bundle: &mut dyn BundleWriter,
    context: &EventContext<'_>,
    runtime: Option<&dyn Source>,
    mut order: Sorted<EventRecord>,
    kept: &mut RedactedSpill,
    prompts_kept: &mut RedactedSpill,
    notes: &mut RecordStore<PartNote>,
) -> Result<EventOutcome, ExportError> {
    let mut output = Output::create(bundle, BundleFile::Events)?;
    let mut fetcher = runtime.map(RowFetcher::new);
    let mut prompts = Sorter::new();
    let mut marks = SkillMarks::default();
    let mut found_blobs = BTreeSet::new();
    let mut report = RedactionReport::default();
    let mut seq = 0;
    let (mut lines_written, mut unfit) = (0, None);
    let (groups, spent) = (Shelf::<Group>::default(), Shelf::<Done>::default());
    pipeline::ordered(
        context.workers,
        || group(&mut order, &mut seq, &mut fetcher, kept, groups.take()),
        |mut group| {
            let done = work(context, &mut group, spent.take());
            groups.put(group);
            done
        },
        |mut done| -> Result<(), ExportError> {
            let lines = done.lines.finish();
            output.append(&lines)?;
            done.lines = RedactedText::in_buffer(lines.into_inner());
            lines_written += done.notes.len() as u64;
            unfit = unfit.or(done.unfit);
            for note in done.notes.drain(..) {
                notes.push(note, &&*bundle)?;
            }
            for (position, prompt) in done.prompts.drain(..) {
                let slot = prompts_kept.push(&prompt)?;
                prompts.push(PromptRecord { position, slot }, &&*bundle)?;
            }
            marks.merge(&done.marks);
            found_blobs.append(&mut done.blobs);
            report.merge(&done.report);
            spent.put(done);
            Ok(())
        },
    )?;
    if seq == 0 {
        // Other readers expect at least one line end.
        let mut line_end = RedactedText::new();
        line_end.push_static("\n");
        output.append(&line_end.finish())?;
    }
    let prompts = prompts.finish(&&*bundle)?;
    let (giants, media) =
        fetcher.map(|fetcher| (fetcher.giants, fetcher.media)).unwrap_or_default();
    (0..media).for_each(|_| report.count_media());
    let written = output.finish()?;
    Ok(EventOutcome {
        written,
        prompts,
        marks,
        blobs: found_blobs,
        report,
        giants,
        lines: lines_written,
        unfit,
    })
}

/// Parts of the file that are worked on together.
#[derive(Default)]
struct Group {
    pieces: Vec<Piece>,
    /// The lines among them that are complete, one behind the other.
    ready: RedactedText,
    /// The rows of the sidecar among them, one behind the other.
    rows: Vec<u8>,
}

impl Buffer for Group {
    fn room(&self) -> usize {
        self.pieces.room() + self.ready.capacity() + self.rows.room()
    }

    fn empty(&mut self) {
        self.pieces.clear();
        self.ready.clear();
        self.rows.clear();
    }
}

/// A part of the file, in order.
enum Piece {
    /// The line of a transcript's event: where it ends among those that are
    /// complete, and whether the rules have seen it.
    Ready { end: usize, is_seen: bool },
    /// A row of the sidecar, by its place among the rows.
    Row { place: Range<usize>, seq: u64, position: u64 },
}

fn group(
    order: &mut Sorted<EventRecord>,
    seq: &mut u64,
    fetcher: &mut Option<RowFetcher<'_>>,
    kept: &mut RedactedSpill,
    mut group: Group,
) -> Result<Option<Group>, ExportError> {
    while group.ready.len() + group.rows.len() < GROUP_BYTES {
        let Some(record) = order.next()? else { break };
        *seq += 1;
        match record.origin {
            EventOrigin::Transcript { head, tail_length, is_seen } => {
                kept.read_into(head, &mut group.ready)?;
                TranscriptEvents::push_numbers(&mut group.ready, *seq, record.position + 1);
                kept.read_into(tail_slot(head, tail_length), &mut group.ready)?;
                group.ready.push_static("\n");
                group.pieces.push(Piece::Ready { end: group.ready.len(), is_seen });
            }
            EventOrigin::Runtime(place) => {
                let Some(fetcher) = fetcher else { continue };
                let place = fetcher.fetch_into(place, &mut group.rows)?.unwrap_or_default();
                group.pieces.push(Piece::Row { place, seq: *seq, position: record.position });
            }
        }
    }
    Ok((!group.pieces.is_empty()).then_some(group))
}

/// Events after the work.
#[derive(Default)]
struct Done {
    lines: RedactedText,
    /// One on each line.
    notes: Vec<PartNote>,
    prompts: Vec<(u64, Redacted<String>)>,
    marks: SkillMarks,
    blobs: BTreeSet<BlobDigest>,
    report: RedactionReport,
    /// The first line that does not fit its schema.
    unfit: Option<u64>,
}

impl Buffer for Done {
    fn room(&self) -> usize {
        self.lines.capacity() + self.notes.room() + self.prompts.room()
    }

    fn empty(&mut self) {
        self.lines.clear();
        self.notes.clear();
        self.prompts.clear();
        self.marks = SkillMarks::default();
        self.blobs.clear();
        self.report = RedactionReport::default();
        self.unfit = None;
    }
}

fn work(context: &EventContext<'_>, group: &mut Group, mut done: Done) -> Done {
    let mut start = 0;
    for piece in group.pieces.drain(..) {
        match piece {
            Piece::Ready { end, is_seen } => {
                // Without the line end.
                let line = group.ready.as_bytes().get(start..end - 1).unwrap_or_default();
                done.notes.push(context.screen.note(line, is_seen));
                done.lines.push_part(&group.ready, start..end);
                start = end;
            }
            Piece::Row { place, seq, position } => {
                let (text, _) = row_text(group.rows.get(place).unwrap_or_default());
                // Valid when it was indexed; the check for changes at the end
                // says so if it no longer is.
                let Ok(mut event) = Json::parse(&text) else { continue };
                if let Some(object) = event.as_object_mut() {
                    envelope::settle(object, seq);
                }
                look_into(context, &event, &text, &mut done);
                let changes = done.report.changes();
                let (report, lines) = (&mut done.report, &mut done.lines);
                let (event, note) = context.screen.write(event, report, lines, Layout::Line);
                done.notes.push(note);
                done.lines.push_static("\n");
                // What the rules left alone fits as it did when it was indexed.
                if done.report.changes() != changes && !envelope::fits(event.as_ref(), seq) {
                    done.unfit.get_or_insert(seq);
                }
                if let Some(prompt) = submitted_prompt(&event) {
                    done.prompts.push((position, prompt));
                }
            }
        }
    }
    done
}

/// Notes what other files need of an event.
fn look_into(context: &EventContext<'_>, event: &Json<'_>, text: &str, done: &mut Done) {
    if BLOB_MEMBER.find(text.as_bytes()).is_some() {
        blobs::referenced(event, &mut done.blobs);
    }
    let is_call = || event.get("type").and_then(Json::as_str) == Some("tool.call");
    if !context.skills.is_empty() && is_call() {
        let data = event.get("data");
        let arguments = data.and_then(|data| data.get("arguments").or_else(|| data.get("args")));
        if let Some(arguments) = arguments {
            context.skills.mark(arguments, &mut done.marks);
        }
    }
}

/// The prompt of a redacted event as a JSON literal; the event's data if the
/// prompt was cut, to be put back when it is written: prompts of a group
/// together may be longer than memory.
fn submitted_prompt(event: &Redacted<Json<'_>>) -> Option<Redacted<String>> {
    let event = event.view();
    if event.get("type")?.value().as_str() != Some("prompt.submitted") {
        return None;
    }
    let data = event.get("data")?;
    let prompt = data.get("prompt").filter(|prompt| prompt.value().as_str().is_some());
    let mut kept = RedactedText::new();
    kept.push_json(prompt.unwrap_or(data));
    Some(kept.finish())
}
