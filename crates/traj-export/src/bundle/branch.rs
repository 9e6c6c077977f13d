//! `session-branch.json`, and the transcript's events on the way: every entry
//! is parsed and redacted once.

use std::num::NonZeroUsize;
use std::ops::Range;

use traj_core::json::{Json, Object};
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter, Source};
use traj_core::redaction::{RedactedSpill, RedactedText, RedactionReport, Redactor, SpillSlot};
use traj_core::timestamp::UnixMillis;
use traj_core::transcript::{
    EventFrame, EventParts, LegacyLinks, RowKind, SessionVersion, TranscriptEvents, entry_instant,
    is_tool_call, migrate, tool_call_arguments,
};

use super::pretty::{PrettyArray, PrettyObject};
use super::skills::{SkillMarks, SkillPaths};
use crate::error::ExportError;
use crate::fetch::RowFetcher;
use crate::index::{Branch, BranchStep, EventOrigin, EventRecord, SessionIndex, row_text};
use crate::ledger::PartNote;
use crate::output::{Output, Written};
use crate::pipeline;
use crate::record::{RecordStore, Spool};
use crate::screen::{Layout, Screen};
use crate::shelf::{Buffer, Shelf};
use crate::shrink::Giant;

/// Rows are worked on in groups of about this many bytes.
const GROUP_BYTES: usize = 256 * 1024;

/// What writing the branch gave.
pub(crate) struct BranchOutcome {
    pub(crate) written: Written,
    pub(crate) leaf_id: Option<String>,
    pub(crate) events: u64,
    pub(crate) marks: SkillMarks,
    pub(crate) report: RedactionReport,
    /// Texts that were too long for their entry.
    pub(crate) giants: Vec<Giant>,
}

/// What the branch is written with.
pub(crate) struct BranchContext<'c> {
    pub(crate) screen: &'c Screen,
    pub(crate) frame: &'c EventFrame,
    pub(crate) skills: &'c SkillPaths,
    pub(crate) workers: NonZeroUsize,
}

/// Writes the file; keeps the events aside and gives their records to `keep`.
pub(crate) fn write_branch(
    bundle: &mut dyn BundleWriter,
    context: &BranchContext<'_>,
    session: Option<(&dyn Source, &mut SessionIndex, &mut Branch)>,
    kept: &mut RedactedSpill,
    notes: &mut RecordStore<PartNote>,
    mut keep: impl FnMut(EventRecord, &dyn Spool) -> Result<(), BundleSinkError>,
) -> Result<BranchOutcome, ExportError> {
    let mut report = RedactionReport::default();
    let mut marks = SkillMarks::default();
    let mut events = 0;
    let mut output = Output::create(bundle, BundleFile::SessionBranch)?;
    let mut file = PrettyObject::begin(&mut output)?;
    let Some((source, index, branch)) = session else {
        let mut empty = Object::new();
        empty.push("header", Json::Null);
        empty.push("leafId", Json::Null);
        write_members(&mut file, context.screen.redactor(), &mut report, empty)?;
        file.array("entries")?.end()?;
        file.end()?;
        let written = output.finish()?;
        let giants = Vec::new();
        return Ok(BranchOutcome { written, leaf_id: None, events, marks, report, giants });
    };
    let mut rows = Rows { fetcher: RowFetcher::new(source), index };
    let leaf_id = rows.leaf_id(branch)?;
    let header = rows.header()?;
    let header_text = header.as_deref().map(row_text);
    let mut members = Object::new();
    members.push("header", rows.parse_header(header_text.as_ref().map(|(text, _)| text.as_ref())));
    members.push("leafId", leaf_id.as_deref().map_or(Json::Null, Json::from));
    write_members(&mut file, context.screen.redactor(), &mut report, members)?;
    let mut entries = file.array("entries")?;
    let is_frame_seen = frame_passes(context);
    let version = rows.index.version;
    let (groups, spent) = (Shelf::<Group>::default(), Shelf::<Done>::default());
    let mut at = 0;
    pipeline::ordered(
        context.workers,
        || rows.group(branch, &mut at, groups.take()),
        |mut group| {
            let done = work(context, version, &mut group, spent.take());
            groups.put(group);
            done
        },
        |mut done| -> Result<(), ExportError> {
            let text = done.entries.finish();
            if !done.notes.is_empty() {
                entries.items(&text)?;
            }
            done.entries = RedactedText::in_buffer(text.into_inner());
            for note in done.notes.drain(..) {
                notes.push(note, &&*bundle)?;
            }
            let (text, mut parts) = done.events.into_parts();
            let mut offset = kept.push(&text)?.offset;
            for (parts, (instant, is_entry_seen)) in parts.drain(..).zip(done.origins.drain(..)) {
                let (head_length, tail_length) = (length(parts.head)?, length(parts.tail)?);
                let head = SpillSlot::new(offset, head_length);
                offset += u64::from(head_length) + u64::from(tail_length);
                // The rules look at a text the same way in the event.
                let is_seen = is_frame_seen && is_entry_seen && parts.is_message;
                let origin = EventOrigin::Transcript { head, tail_length, is_seen };
                let record = EventRecord { instant, rank: events, position: events, origin };
                keep(record, &&*bundle)?;
                events += 1;
            }
            done.events = TranscriptEvents::in_buffers(text.into_inner(), parts);
            marks.merge(&done.marks);
            report.merge(&done.report);
            spent.put(done);
            Ok(())
        },
    )?;
    entries.end()?;
    file.end()?;
    let written = output.finish()?;
    (0..rows.fetcher.media).for_each(|_| report.count_media());
    let giants = rows.fetcher.giants;
    Ok(BranchOutcome { written, leaf_id, events, marks, report, giants })
}

/// Whether the rules let stay what all events of messages have in common.
fn frame_passes(context: &BranchContext<'_>) -> bool {
    const ENTRY: &str =
        r#"{"type":"message","id":"","parentId":"","message":{"role":"user","content":[]}}"#;
    let Ok(entry) = Json::parse(ENTRY) else { return false };
    let entry = context.screen.redactor().json(entry, &mut RedactionReport::default());
    let mut events = TranscriptEvents::new();
    events.add_entry(context.frame, entry.view(), UnixMillis::EPOCH);
    let (text, parts) = events.into_parts();
    let Some(EventParts { head, .. }) = parts.first() else { return false };
    let mut event = text.into_inner();
    event.insert_str(*head, "0,\"sourceSeq\":0");
    context.screen.passes(&event)
}

fn write_members(
    file: &mut PrettyObject<'_>,
    redactor: &Redactor,
    report: &mut RedactionReport,
    members: Object<'_>,
) -> Result<(), BundleSinkError> {
    let members = redactor.json(Json::Object(members), report);
    for name in ["header", "leafId"] {
        if let Some(value) = members.view().get(name) {
            file.member(name, value)?;
        }
    }
    Ok(())
}

/// Entries to work on.
#[derive(Default)]
struct Group {
    entries: Vec<Entry>,
    /// Their rows, one behind the other.
    rows: Vec<u8>,
}

impl Buffer for Group {
    fn room(&self) -> usize {
        self.entries.room() + self.rows.room()
    }

    fn empty(&mut self) {
        self.entries.clear();
        self.rows.clear();
    }
}

struct Entry {
    /// The place of its row among the rows.
    place: Range<usize>,
    links: LegacyLinks,
    /// The parent to name instead of the one the row names.
    relink: Option<Option<String>>,
}

/// Entries after the work.
#[derive(Default)]
struct Done {
    /// One behind the other, with what stands between them in the file.
    entries: RedactedText,
    /// One on each entry.
    notes: Vec<PartNote>,
    events: TranscriptEvents,
    /// The instant of each event and whether the rules have seen its entry.
    origins: Vec<(UnixMillis, bool)>,
    marks: SkillMarks,
    report: RedactionReport,
}

impl Buffer for Done {
    fn room(&self) -> usize {
        let texts = self.entries.capacity() + self.events.capacity();
        texts + self.notes.room() + self.origins.room()
    }

    fn empty(&mut self) {
        self.entries.clear();
        self.notes.clear();
        self.events.clear();
        self.origins.clear();
        self.marks = SkillMarks::default();
        self.report = RedactionReport::default();
    }
}

fn work(
    context: &BranchContext<'_>,
    version: SessionVersion,
    group: &mut Group,
    mut done: Done,
) -> Done {
    for entry in group.entries.drain(..) {
        let (text, _) = row_text(group.rows.get(entry.place).unwrap_or_default());
        // The row was valid when it was indexed; the check for changes at the
        // end says so if it no longer is.
        let Ok(mut value) = Json::parse(&text) else { continue };
        if let Some(object) = value.as_object_mut() {
            migrate(object, version, entry.links);
            if let Some(parent) = entry.relink {
                object.insert("parentId", parent.map_or(Json::Null, Json::from));
            }
        }
        if !context.skills.is_empty() {
            mark_skills(context.skills, &value, &mut done.marks);
        }
        let instant = entry_instant(&value);
        if !done.notes.is_empty() {
            done.entries.push_static(PrettyArray::BETWEEN);
        }
        let (report, entries) = (&mut done.report, &mut done.entries);
        let (redacted, note) = context.screen.write(value, report, entries, Layout::Indented(2));
        done.notes.push(note);
        done.events.add_entry(context.frame, redacted.view(), instant);
        done.origins.resize(done.events.len(), (instant, note.seen.is_some()));
    }
    done
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

/// The session's rows, with what an entry needs of its neighbours.
struct Rows<'s, 'i> {
    fetcher: RowFetcher<'s>,
    index: &'i mut SessionIndex,
}

impl Rows<'_, '_> {
    fn header(&mut self) -> Result<Option<Vec<u8>>, ExportError> {
        let Some(place) = self.index.header else { return Ok(None) };
        Ok(self.fetcher.fetch(place)?.into_bytes())
    }

    fn parse_header<'t>(&self, text: Option<&'t str>) -> Json<'t> {
        let Some(Ok(mut header)) = text.map(Json::parse) else { return Json::Null };
        if let Some(object) = header.as_object_mut() {
            migrate(object, self.index.version, LegacyLinks::default());
        }
        header
    }

    fn leaf_id(&mut self, branch: &mut Branch) -> Result<Option<String>, ExportError> {
        if branch.leaf_is_empty {
            return Ok(Some(String::new()));
        }
        match branch.len().checked_sub(1) {
            Some(last) => {
                let leaf = branch.step(last)?.ordinal;
                self.id_of(leaf)
            }
            None => Ok(None),
        }
    }

    /// The next entries of the branch.
    fn group(
        &mut self,
        branch: &mut Branch,
        at: &mut u64,
        mut group: Group,
    ) -> Result<Option<Group>, ExportError> {
        while *at < branch.len() && group.rows.len() < GROUP_BYTES {
            let step = branch.step(*at)?;
            *at += 1;
            group.entries.extend(self.entry(step, &mut group.rows)?);
        }
        Ok((!group.entries.is_empty()).then_some(group))
    }

    fn entry(
        &mut self,
        step: BranchStep,
        rows: &mut Vec<u8>,
    ) -> Result<Option<Entry>, ExportError> {
        let record = self.index.entries.get(step.ordinal)?;
        let Some(place) = self.fetcher.fetch_into(record.place, rows)? else { return Ok(None) };
        let links = if self.index.version.is_list() {
            self.legacy_links(step.ordinal, rows.get(place.clone()).unwrap_or_default())?
        } else {
            LegacyLinks::default()
        };
        let relink = match step.relink_to {
            None => None,
            Some(None) => Some(None),
            Some(Some(parent)) => Some(self.id_of(parent)?),
        };
        Ok(Some(Entry { place, links, relink }))
    }

    fn legacy_links(&mut self, ordinal: u64, bytes: &[u8]) -> Result<LegacyLinks, ExportError> {
        let mut links = LegacyLinks::default();
        let made_up = self.index.entries.get(ordinal)?.made_up;
        links.id = made_up.map(|number| LegacyLinks::made_up_id(u64::from(number)));
        for before in (0..ordinal).rev() {
            if self.index.entries.get(before)?.skeleton.kind != RowKind::Header {
                links.parent = self.id_of(before)?;
                break;
            }
        }
        let (text, _) = row_text(bytes);
        let row = Json::parse_shallow(&text, 1).unwrap_or_default();
        let first_kept = row.get("firstKeptEntryIndex").and_then(Json::as_f64);
        // Positions count all rows that parsed, the header among them.
        let first_kept = first_kept.filter(|at| *at >= 0.0 && at.fract() == 0.0);
        if let Some(at) = first_kept.map(|at| at as u64).filter(|at| *at < self.index.entries.len())
            && self.index.entries.get(at)?.skeleton.kind != RowKind::Header
        {
            links.first_kept = self.id_of(at)?;
        }
        Ok(links)
    }

    /// The id of an entry, as text.
    fn id_of(&mut self, ordinal: u64) -> Result<Option<String>, ExportError> {
        let record = self.index.entries.get(ordinal)?;
        if let Some(number) = record.made_up {
            return Ok(Some(LegacyLinks::made_up_id(u64::from(number))));
        }
        let loaded = self.fetcher.fetch(record.place)?;
        let (text, _) = row_text(loaded.bytes().unwrap_or_default());
        let row = Json::parse_shallow(&text, 1).unwrap_or_default();
        Ok(row.get("id").and_then(Json::as_str).map(str::to_owned))
    }
}

fn length(part: usize) -> Result<u32, BundleSinkError> {
    u32::try_from(part).map_err(|_| BundleSinkError::TooLong)
}

/// Where an event's tail lies: directly behind its head.
pub(crate) fn tail_slot(head: SpillSlot, tail_length: u32) -> SpillSlot {
    SpillSlot::new(head.offset + u64::from(head.length), tail_length)
}
