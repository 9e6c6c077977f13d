//! Processes a batch: parses, redacts and renders its rows. An entry goes into
//! both files, an event into `events.jsonl`.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use memchr::memmem::Finder;
use traj_core::capture::BlobDigest;
use traj_core::dialect::transcript::{
    EventParts, TranscriptEvents, is_tool_call, migrate, tool_call_arguments, unknown_type,
};
use traj_core::dialect::{Dialect, particulars};
use traj_core::json::Json;
use traj_core::port::SourceError;
use traj_core::redaction::{Redacted, RedactedText, RedactionReport, RowParts};
use traj_core::run::NameCounts;
use traj_core::timestamp::UnixMillis;

use super::TimelineContext;
use super::entries::BranchEntry;
use super::envelope;
use super::feed::{BatchItem, TimelineBatch};
use super::foreign;
use crate::bundle::blobs::{self, Restorer};
use crate::bundle::pretty::PrettyArray;
use crate::bundle::skills::{SkillMarks, SkillPaths};
use crate::index::row_text;
use crate::parallel::reusable::Reusable;
use crate::read_back::approved_parts::PartNote;

/// The indentation level of entries.
const ENTRY_LEVEL: usize = 2;

/// An event without this string refers to no blob.
static BLOB_MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"blob\""));

/// The results of processing a batch.
#[derive(Default)]
pub(super) struct BatchOutput {
    /// The entries, concatenated with their separators.
    pub(super) entries: RedactedText,
    /// A note on each entry.
    pub(super) entry_notes: Vec<PartNote>,
    /// The events of the entries.
    pub(super) transcript: TranscriptEvents,
    /// The other events: the parts before and after their numbers.
    pub(super) others: RedactedText,
    /// All events in order.
    pub(super) lines: Vec<EventLine>,
    /// A buffer for the events with their numbers.
    pub(super) numbered: RedactedText,
    pub(super) prompts: Vec<(u64, Redacted<String>)>,
    pub(super) marks: SkillMarks,
    /// The type of each entry of an unknown type.
    pub(super) unknown: Vec<String>,
    pub(super) blobs: BTreeSet<BlobDigest>,
    /// Parts of rows that may belong together with parts of other rows.
    pub(super) parts: Vec<RowParts>,
    pub(super) report: RedactionReport,
    /// The source that changed since it was indexed, if one did.
    pub(super) changed: Option<ChangedSource>,
    /// Why a blob could not be read, if one could not.
    pub(super) failed: Option<SourceError>,
}

/// A source that was changed while it was read.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChangedSource {
    Session,
    Runtime,
}

/// An event, as the lengths of the parts before and after its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventLine {
    pub(super) head: usize,
    pub(super) tail: usize,
    pub(super) numbers: EventNumbers,
    /// Its instant, if it belongs to an entry.
    pub(super) instant: UnixMillis,
    /// Whether the rules approved it.
    pub(super) is_seen: bool,
    /// Whether it matches the event schema.
    pub(super) fits: bool,
}

impl BatchOutput {
    /// Adds the lines of the transcript's events from `first` on.
    fn add_lines(
        &mut self,
        first: usize,
        instant: UnixMillis,
        is_seen: impl FnMut(&EventParts) -> bool,
    ) {
        let events = self.transcript.parts().get(first..).unwrap_or_default();
        let mut is_seen = is_seen;
        self.lines.extend(events.iter().map(|parts| EventLine {
            head: parts.head,
            tail: parts.tail,
            numbers: EventNumbers::Fresh,
            instant,
            is_seen: is_seen(parts),
            fits: true,
        }));
    }
}

/// The numbers that are inserted into an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventNumbers {
    /// Its position, and the next number among the transcript's events.
    Fresh,
    /// Its position, and this number among the transcript's events.
    Kept(u64),
    /// Its position only.
    Own,
}

impl Reusable for BatchOutput {
    fn room(&self) -> usize {
        let texts = [&self.entries, &self.others, &self.numbered];
        let texts = texts.map(RedactedText::capacity).iter().sum::<usize>();
        let lists = self.entry_notes.room() + self.lines.room() + self.prompts.room();
        texts + lists + self.transcript.capacity()
    }

    fn empty(&mut self) {
        self.entries.clear();
        self.entry_notes.clear();
        self.transcript.clear();
        self.others.clear();
        self.lines.clear();
        self.numbered.clear();
        self.prompts.clear();
        self.marks = SkillMarks::default();
        self.unknown.clear();
        self.blobs.clear();
        self.parts.clear();
        self.report = RedactionReport::default();
        self.changed = None;
        self.failed = None;
    }
}

/// Processes batches.
pub(super) struct Worker<'c> {
    pub(super) context: TimelineContext<'c>,
    /// Whether the rules approve the members that all message events share.
    is_frame_seen: bool,
    /// Held while cut values are restored: they may be large.
    restoring: Mutex<()>,
}

impl<'c> Worker<'c> {
    pub(super) fn new(context: TimelineContext<'c>) -> Self {
        Self { context, is_frame_seen: frame_passes(context), restoring: Mutex::new(()) }
    }

    /// Processes a batch into `done`, whose buffers are empty.
    pub(super) fn work(&self, group: &mut TimelineBatch, done: &mut BatchOutput) {
        let mut kept = 0;
        for item in group.items.drain(..) {
            match item {
                BatchItem::Entry(entry) => {
                    let row = group.rows.get(entry.place.clone()).unwrap_or_default();
                    self.entry(entry, row, done);
                }
                BatchItem::Runtime { place, position } => {
                    let row = group.rows.get(place).unwrap_or_default();
                    self.runtime_event(row, position, done);
                }
                BatchItem::Kept { head, tail, number, is_seen } => {
                    let event = kept..kept + head + tail;
                    kept = event.end;
                    done.others.push_part(&group.kept, event);
                    let (numbers, instant) = (EventNumbers::Kept(number), UnixMillis::EPOCH);
                    done.lines.push(EventLine {
                        head,
                        tail,
                        numbers,
                        instant,
                        is_seen,
                        fits: true,
                    });
                }
            }
        }
    }

    /// Hides secrets that the row and other rows form together, or sets aside the
    /// parts that may belong to other rows. Entries have even numbers, runtime
    /// events odd ones.
    fn join(&self, number: u64, value: &mut Json<'_>, row: &[u8], done: &mut BatchOutput) {
        let redactor = self.context.pass.redactor();
        redactor.place_joined(number, value, &mut done.report);
        let parts = redactor.row_parts(number, value, row.len());
        if !parts.is_empty() {
            done.parts.push(parts);
        }
    }

    fn entry(&self, entry: BranchEntry, row: &[u8], done: &mut BatchOutput) {
        if let Some(dialect) = entry.foreign {
            self.foreign_row(dialect, &entry, row, done);
            return;
        }
        let TimelineContext { pass, frame, skills, .. } = self.context;
        let (text, _) = row_text(row);
        let Ok(mut value) = Json::parse(&text) else {
            done.changed = Some(ChangedSource::Session);
            return;
        };
        self.join(2 * entry.number, &mut value, row, done);
        if let Some(object) = value.as_object_mut() {
            migrate(object, entry.version, entry.links);
            if let Some(parent) = entry.relink {
                object.insert("parentId", parent.map_or(Json::Null, Json::from));
            }
        }
        if !skills.is_empty() {
            mark_skills(skills, &value, &mut done.marks);
        }
        if !done.entry_notes.is_empty() {
            done.entries.push_constant(PrettyArray::BETWEEN);
        }
        let start = done.entries.len();
        let (redacted, is_entry_seen) = pass.redact(value, &mut done.report);
        done.entries.push_pretty(redacted.view(), ENTRY_LEVEL);
        let written = done.entries.as_bytes().get(start..).unwrap_or_default();
        done.entry_notes.push(pass.note(written, is_entry_seen));
        done.unknown.extend(unknown_type(redacted.as_ref()).map(NameCounts::key));
        let first = done.transcript.len();
        done.transcript.add_entry(frame, redacted.view(), entry.instant);
        // The rules treat a message the same in its entry and in its event.
        let is_message_seen = self.is_frame_seen && is_entry_seen;
        done.add_lines(first, entry.instant, |parts| is_message_seen && parts.is_whole);
    }

    /// Processes a row of another program: wraps it as an entry, and makes an
    /// event of each of its facts.
    fn foreign_row(
        &self,
        dialect: Dialect,
        entry: &BranchEntry,
        row: &[u8],
        done: &mut BatchOutput,
    ) {
        let pass = self.context.pass;
        let (text, _) = row_text(row);
        let Ok(mut value) = Json::parse(&text) else {
            done.changed = Some(ChangedSource::Session);
            return;
        };
        self.join(2 * entry.number, &mut value, row, done);
        let row = value;
        if !done.entry_notes.is_empty() {
            done.entries.push_constant(PrettyArray::BETWEEN);
        }
        let start = done.entries.len();
        let wrapped = foreign::wrapped(dialect, entry, row.clone());
        let (wrapped, is_seen) = pass.redact(wrapped, &mut done.report);
        done.entries.push_pretty(wrapped.view(), ENTRY_LEVEL);
        let written = done.entries.as_bytes().get(start..).unwrap_or_default();
        done.entry_notes.push(pass.note(written, is_seen));
        let first = done.transcript.len();
        // The rules see the entry's ids with its row, and the rest with the event.
        let is_frame_seen = self.is_frame_seen && is_seen;
        let mut seen = Vec::new();
        let BatchOutput { transcript, report, marks, .. } = done;
        foreign::each_event(dialect, &row, |event| {
            if let Some(data) = particulars::data_of(&event) {
                mark_call(self.context.skills, data, marks);
            }
            let (event, is_event_seen) = pass.redact(event, report);
            let (wrapped, event) = (wrapped.view(), event.view());
            transcript.add_made(self.context.frame, wrapped, event, entry.instant);
            seen.resize(transcript.len() - first, is_frame_seen && is_event_seen);
        });
        let mut seen = seen.into_iter();
        done.add_lines(first, entry.instant, |parts| {
            seen.next().unwrap_or_default() && parts.is_whole
        });
    }

    fn runtime_event(&self, row: &[u8], position: u64, done: &mut BatchOutput) {
        let (text, _) = row_text(row);
        let Ok(mut event) = Json::parse(&text) else {
            done.changed = Some(ChangedSource::Runtime);
            return;
        };
        let changes = done.report.changes();
        self.join(2 * position + 1, &mut event, row, done);
        if let Some(object) = event.as_object_mut() {
            envelope::settle(object);
        }
        self.look_into(&event, &text, done);
        let (event, is_seen) = self.context.pass.redact(event, &mut done.report);
        let start = done.others.len();
        let gap = done.others.push_json_around(event.view(), envelope::PLACE);
        let end = done.others.len();
        // An unchanged event still matches the schema, as it did when it was
        // indexed.
        let is_unchanged = done.report.changes() == changes;
        let fits = gap.is_some() && (is_unchanged || envelope::fits(event.as_ref()));
        let gap = gap.unwrap_or(end);
        let (head, tail, instant) = (gap - start, end - gap, UnixMillis::EPOCH);
        done.lines.push(EventLine {
            head,
            tail,
            numbers: EventNumbers::Own,
            instant,
            is_seen,
            fits,
        });
        if let Some(prompt) = submitted_prompt(&event) {
            done.prompts.push((position, prompt));
        }
    }

    /// Records what other files need from an event.
    fn look_into(&self, event: &Json<'_>, text: &str, done: &mut BatchOutput) {
        let may_be_cut = BLOB_MEMBER.find(text.as_bytes()).is_some();
        if may_be_cut {
            blobs::referenced(event, &mut done.blobs);
        }
        let skills = self.context.skills;
        if skills.is_empty() {
            return;
        }
        let Some(data) = particulars::call_data(event) else { return };
        if !may_be_cut {
            mark_call(skills, data, &mut done.marks);
            return;
        }
        let _one_at_a_time = self.restoring.lock().unwrap_or_else(PoisonError::into_inner);
        let mut restorer = Restorer::for_search(self.context.blobs);
        match restorer.members(data.clone(), particulars::is_call_argument) {
            Ok(whole) => mark_call(skills, &whole, &mut done.marks),
            Err(error) => done.failed = Some(error),
        }
    }
}

fn mark_call(skills: &SkillPaths, data: &Json<'_>, marks: &mut SkillMarks) {
    if let Some(arguments) = particulars::call_arguments(data) {
        skills.mark(arguments, marks);
    }
}

/// Whether the rules approve the members that all message events share.
fn frame_passes(context: TimelineContext<'_>) -> bool {
    const ENTRY: &str =
        r#"{"type":"message","id":"","parentId":"","message":{"role":"user","content":[]}}"#;
    let Ok(entry) = Json::parse(ENTRY) else { return false };
    let entry = context.pass.redactor().json(entry, &mut RedactionReport::default());
    let mut events = TranscriptEvents::new();
    events.add_entry(context.frame, entry.view(), UnixMillis::EPOCH);
    let (text, parts) = events.into_parts();
    let Some(EventParts { head, .. }) = parts.first() else { return false };
    let mut event = text.into_inner();
    event.insert_str(*head, "0,\"sourceSeq\":0");
    context.pass.passes(&event)
}

fn mark_skills(skills: &SkillPaths, entry: &Json<'_>, marks: &mut SkillMarks) {
    let message = entry
        .get("message")
        .filter(|message| message.get("role").and_then(Json::as_str) == Some("assistant"));
    let blocks = message.and_then(|message| message.get("content")).and_then(Json::as_array);
    for block in blocks.unwrap_or_default().iter().filter(|block| is_tool_call(block)) {
        if let Some(arguments) = tool_call_arguments(block) {
            skills.mark(arguments, marks);
        }
    }
}

/// The prompt of a redacted event, as a JSON literal. For a prompt that was
/// cut, the event's data: the prompt is restored when it is written, because
/// all prompts of a batch may not fit into memory.
fn submitted_prompt(event: &Redacted<Json<'_>>) -> Option<Redacted<String>> {
    let mut kept = RedactedText::new();
    kept.push_json(particulars::submitted_prompt(event.view())?);
    Some(kept.finish())
}
