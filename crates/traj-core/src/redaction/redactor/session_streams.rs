//! Secrets that span the rows of a session: one text in deltas, chunks or
//! keystrokes, a prompt and its answer.
//!
//! Rows are redacted one by one, so an export runs over them twice if it must. In
//! the first run, the small parts of the rows that can belong together are joined
//! in a window that moves over the session; each part is judged at most twice. The
//! second run puts the redacted parts in their place, then redacts the row as usual.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

use super::Redactor;
use crate::json::Json;
use crate::redaction::document::streams::{can_join, is_piece};
use crate::redaction::marker;
use crate::redaction::report::RedactionReport;
use crate::redaction::rule::Frame;

/// Maximum number of parts, and of their bytes, that are judged together. Half of
/// them are judged again with the next ones.
const MAX_PARTS: usize = 1024;
const MAX_BYTES: usize = 512 * 1024;

/// The parts of a longer row are not joined: no delta or keystroke is that long.
const MAX_ROW: usize = 8 * 1024;

/// Maximum number of bytes of the parts that changed. Beyond that, changed parts are
/// not remembered, and every piece of the session is hidden as a whole.
const MAX_CHANGED_BYTES: usize = 16 * 1024 * 1024;

/// A part of a row: its number among the parts, and a copy.
struct RowPart {
    row: u64,
    place: usize,
    bytes: usize,
    value: Json<'static>,
}

/// The parts of one row that may belong to the parts of other rows.
///
/// They are not redacted. Neither `Debug` nor an error shows them.
#[derive(Default)]
pub struct RowParts(Vec<RowPart>);

impl RowParts {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for RowParts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RowParts").finish_non_exhaustive()
    }
}

/// The parts that changed when they were read together, by row and place.
#[derive(Default)]
pub struct JoinedParts {
    changed: BTreeMap<(u64, usize), Json<'static>>,
    bytes: usize,
    /// Whether some changes are missing.
    is_incomplete: bool,
}

impl JoinedParts {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    fn insert(&mut self, key: (u64, usize), bytes: usize, value: Json<'static>) {
        let count = |value: &Json<'_>| marker::find_all(value.to_line().as_bytes()).len();
        match self.changed.get_mut(&key) {
            // Of two windows, the one that hides more decides.
            Some(known) if count(known) >= count(&value) => {}
            Some(known) => *known = value,
            None if self.bytes + bytes > MAX_CHANGED_BYTES => self.is_incomplete = true,
            None => {
                self.bytes += bytes;
                self.changed.insert(key, value);
            }
        }
    }
}

impl fmt::Debug for JoinedParts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinedParts").finish_non_exhaustive()
    }
}

/// The window over the parts of a session.
#[derive(Default)]
pub(in crate::redaction) struct SessionStreams {
    window: Vec<RowPart>,
    bytes: usize,
    joined: JoinedParts,
}

impl Redactor {
    /// Copies the parts of a row of `length` bytes that may belong to other rows,
    /// for [`Redactor::join_rows`]; `number` identifies the row. There are none
    /// unless the redactor collects secrets.
    #[must_use]
    pub fn row_parts(&self, number: u64, row: &Json<'_>, length: usize) -> RowParts {
        let mut found = RowParts::default();
        if self.collected.is_none() || length > MAX_ROW {
            return found;
        }
        let kind = row.get("type").and_then(Json::as_str);
        for (place, part) in parts(row).iter().enumerate() {
            let Json::Object(object) = part else { continue };
            if !can_join(object) {
                continue;
            }
            let mut copy = object.clone().into_owned();
            if let Some(kind) = kind.filter(|_| !copy.contains("type")) {
                copy.push("type", kind.to_owned());
            }
            let value = Json::Object(copy);
            found.0.push(RowPart { row: number, place, bytes: length.max(64), value });
        }
        found
    }

    /// Adds the parts of the next row, in the order of the session.
    pub fn join_rows(&self, parts: RowParts) {
        let Some(collected) = self.collected.as_deref().filter(|_| !parts.0.is_empty()) else {
            return;
        };
        let mut streams = collected.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for part in parts.0 {
            streams.bytes += part.bytes;
            streams.window.push(part);
            if streams.window.len() >= MAX_PARTS || streams.bytes >= MAX_BYTES {
                self.judge(&mut streams);
                let half = streams.window.len() / 2;
                let judged: usize = streams.window.drain(..half).map(|part| part.bytes).sum();
                streams.bytes -= judged;
            }
        }
    }

    /// What changed in the parts that were joined, after the last row.
    #[must_use]
    pub fn joined_rows(&self) -> JoinedParts {
        let Some(collected) = self.collected.as_deref() else { return JoinedParts::default() };
        let mut streams = collected.streams.lock().unwrap_or_else(PoisonError::into_inner);
        self.judge(&mut streams);
        std::mem::take(&mut *streams).joined
    }

    /// The same redactor, which also replaces parts of rows with `parts`.
    #[must_use]
    pub fn with_joined(&self, parts: JoinedParts) -> Self {
        Self { joined: Some(Arc::new(parts)), ..self.clone() }
    }

    /// Replaces the parts of the row `number` that changed.
    pub fn place_joined(&self, number: u64, row: &mut Json<'_>, report: &mut RedactionReport) {
        let Some(joined) = self.joined.as_deref() else { return };
        let is_changed = joined.changed.range((number, 0)..=(number, usize::MAX)).next().is_some();
        if !is_changed && !joined.is_incomplete {
            return;
        }
        for (place, part) in parts_mut(row).iter_mut().enumerate() {
            let Json::Object(object) = part else { continue };
            let changed = joined.changed.get(&(number, place));
            for (name, value) in object.iter_mut() {
                match changed {
                    Some(changed) => {
                        if let Some(new) = changed.get(name) {
                            count_markers(new, value, name, report);
                            *value = new.clone();
                        }
                    }
                    None if joined.is_incomplete && is_piece(name) => {
                        if let Json::String(text) = value {
                            let hidden = self.pass(report, None).marker_of(Frame::Secret, text);
                            *value = Json::from(hidden);
                        }
                    }
                    None => {}
                }
            }
        }
    }

    /// Reads the parts in the window together, and remembers which changed.
    fn judge(&self, streams: &mut SessionStreams) {
        let SessionStreams { window, joined, .. } = streams;
        let mut together: Vec<Json<'static>> =
            window.iter().map(|part| part.value.clone()).collect();
        let mut report = RedactionReport::new();
        self.pass(&mut report, None).rows_together(&mut together);
        if report.changes() == 0 {
            return;
        }
        for (part, value) in window.iter().zip(together) {
            if value.to_line() != part.value.to_line() {
                joined.insert((part.row, part.place), part.bytes, value);
            }
        }
    }
}

/// The member of a row whose objects may belong to other rows.
fn holder(row: &Json<'_>) -> Option<&'static [&'static str]> {
    const HOLDERS: &[&[&str]] = &[&["data"], &["payload"], &["message", "content"], &["content"]];
    HOLDERS.iter().copied().find(|path| {
        let held = path.iter().try_fold(row, |value, name| value.get(name));
        matches!(held, Some(Json::Object(_) | Json::Array(_)))
    })
}

/// The parts of a row: the objects in its holder, or the row itself.
fn parts<'r, 'a>(row: &'r Json<'a>) -> &'r [Json<'a>] {
    let held =
        holder(row).and_then(|path| path.iter().try_fold(row, |value, name| value.get(name)));
    match held.unwrap_or(row) {
        Json::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}

/// Like [`parts`].
fn parts_mut<'r, 'a>(row: &'r mut Json<'a>) -> &'r mut [Json<'a>] {
    let mut value = &mut *row;
    for name in holder(value).unwrap_or_default() {
        let Json::Object(object) = value else { return &mut [] };
        let Some(inner) = object.get_mut(name) else { return &mut [] };
        value = inner;
    }
    match value {
        Json::Array(items) => items,
        one => std::slice::from_mut(one),
    }
}

/// Counts the markers that `new` has in addition to those of `old`.
fn count_markers(new: &Json<'_>, old: &Json<'_>, name: &str, report: &mut RedactionReport) {
    let (new, old) = (new.to_line(), old.to_line());
    let before = marker::find_all(old.as_bytes()).len();
    for (start, end) in marker::find_all(new.as_bytes()).into_iter().skip(before) {
        let kind = new.get(start..end).and_then(|text| text.split(':').nth(1)).unwrap_or_default();
        report.count_hidden(kind, &format!("/{name}"));
    }
}
