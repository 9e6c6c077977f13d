//! Contexts that make a value a secret: labels and assignments, headers, URLs,
//! commands, tables, key blocks. One file per kind of context; `reading` finds
//! where a value ends, and `judge` decides whether it is a secret.
//!
//! Every reader starts at a keyword that the automaton found. It looks back over
//! a bounded range and otherwise only moves forward, so the work is linear in the
//! length of the string.

mod assignment;
mod auth;
mod call;
mod code;
mod command;
mod hook;
mod judge;
mod label;
mod one_time;
mod output;
mod pair;
mod pem;
mod reading;
mod spaced;
mod table;

use super::{deobfuscate, files};
use crate::redaction::cache::names::ShortStrings;
use crate::redaction::engine::Engine;
use crate::redaction::engine::span::Span;
use crate::redaction::engine::steps;
use crate::redaction::field_name::{NameClass, NameTable};
use crate::redaction::marker;
use crate::redaction::rule::Frame;
use reading::memory::{LONG_VALUE, ReadMemory};

pub(in crate::redaction) use auth::is_user_and_password;
pub(in crate::redaction) use hook::{Hook, hooks};
pub(in crate::redaction) use judge::{Style, judge};

/// The state of the context readers while they search one string.
pub(in crate::redaction) struct ContextScan<'t> {
    /// The string.
    pub(in crate::redaction) text: &'t [u8],
    /// Names that were classified before.
    labels: &'t ShortStrings<NameClass>,
    /// The name table in force.
    pub(super) names: NameTable,
    /// Findings so far.
    pub(in crate::redaction) spans: Vec<Span>,
    /// Markers already in the string, in order. A marker counts as one character
    /// of the value around it, and never ends that value.
    pub(in crate::redaction) markers: Vec<(usize, usize)>,
    /// Whether the string is rewritten: without its disguises.
    pub(in crate::redaction) is_rewritten: bool,
    /// Bodies of public key blocks; key material in them is not a secret.
    pub(super) quiet: Vec<(usize, usize)>,
    /// Whether a token prefix was seen, whether or not the token is complete.
    pub(in crate::redaction) token_seen: bool,
    /// Whether a credential word in another script or language was seen.
    pub(super) foreign_seen: bool,
    /// Whether an escape sequence was seen.
    pub(super) escape_seen: bool,
    label_end: usize,
    table_end: usize,
    insert_end: usize,
    foreign_end: usize,
    armour_end: usize,
    armour_none: usize,
    line_done: usize,
    memory: ReadMemory,
    pub(super) files: files::FilesRead,
}

impl<'t> ContextScan<'t> {
    /// A new scan of `text`.
    pub(in crate::redaction) fn new(text: &'t [u8], engine: &'t Engine) -> Self {
        Self {
            text,
            labels: engine.labels(),
            names: engine.names(),
            spans: Vec::new(),
            markers: marker::find_all(text),
            is_rewritten: false,
            quiet: Vec::new(),
            token_seen: false,
            foreign_seen: false,
            escape_seen: false,
            label_end: 0,
            table_end: 0,
            insert_end: 0,
            foreign_end: 0,
            armour_end: 0,
            armour_none: 0,
            line_done: 0,
            memory: ReadMemory::default(),
            files: files::FilesRead::default(),
        }
    }

    /// Runs the reader for the keyword at `start..end`.
    pub(in crate::redaction) fn hook(&mut self, hook: Hook, start: usize, end: usize) {
        if self.is_inside_marker(start) {
            return;
        }
        match hook {
            Hook::Label => label::read(self, start, end),
            Hook::Foreign => {
                self.foreign_seen = true;
                label::foreign::read(self, start, end);
            }
            Hook::Url => auth::url::read(self, start, end),
            Hook::Armour => pem::read(self, end),
            Hook::ArmourEnd => pem::read_tail(self, start),
            Hook::Putty => pem::read_putty(self, start, end),
            Hook::Scheme => auth::read_scheme(self, start, end),
            Hook::Call => call::read(self, start, end),
            Hook::Command => command::read(self, start, end),
            Hook::Output => output::read(self, end),
            Hook::Insert => table::read_insert(self, end),
            Hook::Sensitive => pair::block::read_sensitive(self, start, end),
            Hook::Manifest => files::read_manifest(self, start, end),
            Hook::Struct => pair::block::read_struct(self, end),
            Hook::Copy => files::read_copy(self, start, end),
            Hook::File => output::console::read_file(self, start, end),
            Hook::Pair => code::read_pair(self, end),
            Hook::Announced => code::read(self, start, end),
            Hook::Purpose => one_time::before_purpose(self, start),
            Hook::Dsn => auth::url::read_dsn(self, start),
            Hook::Escape => {
                self.escape_seen |= deobfuscate::is_escape(self.slice(start, start + 24));
            }
        }
    }

    /// Classifies a name. Cached, because the same few names recur in most strings.
    fn class_of(&self, name: &[u8]) -> NameClass {
        let Ok(text) = std::str::from_utf8(name) else { return self.names.classify(name) };
        self.labels.get(text).copied().unwrap_or_else(|| {
            let class = self.names.classify(name);
            self.labels.put(text, class);
            class
        })
    }

    pub(in crate::redaction) fn byte(&self, place: usize) -> u8 {
        steps::count(1);
        self.text.get(place).copied().unwrap_or(0)
    }

    /// The bytes from `start` to `end`, or to the end of the string.
    pub(in crate::redaction) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        let slice = self.text.get(start..end.min(self.text.len())).unwrap_or_default();
        steps::count(slice.len());
        slice
    }

    /// The end of the marker that begins at `place`, if there is one.
    pub(super) fn marker_at(&self, place: usize) -> Option<usize> {
        let found = self.markers.binary_search_by_key(&place, |(start, _)| *start).ok()?;
        self.markers.get(found).map(|(_, end)| *end)
    }

    /// Whether `place` is inside a marker.
    pub(in crate::redaction) fn is_inside_marker(&self, place: usize) -> bool {
        let before = self.markers.partition_point(|(start, _)| *start <= place);
        before
            .checked_sub(1)
            .and_then(|last| self.markers.get(last))
            .is_some_and(|(_, end)| place < *end)
    }

    /// The end of the marker that `place` is in the middle of, or `place`: a reader
    /// that splits a value may split a marker in it.
    fn outside_marker(&self, place: usize) -> usize {
        let before = self.markers.partition_point(|(start, _)| *start < place);
        let around = before.checked_sub(1).and_then(|last| self.markers.get(last));
        around.map_or(place, |(_, end)| place.max(*end))
    }

    /// Whether `start..end` contains at least one marker and otherwise only
    /// whitespace.
    pub(in crate::redaction) fn is_marked(&self, start: usize, end: usize) -> bool {
        let mut place = start;
        let mut has_marker = false;
        while place < end {
            match self.marker_at(place) {
                Some(after) => {
                    place = after;
                    has_marker = true;
                }
                None if self.byte(place).is_ascii_whitespace() => place += 1,
                None => return false,
            }
        }
        has_marker
    }

    /// Records a finding, unless it consists only of markers.
    pub(in crate::redaction) fn hide(&mut self, start: usize, end: usize, frame: Frame) {
        let (start, end) = (self.outside_marker(start), self.outside_marker(end));
        if start < end && !self.is_marked(start, end) {
            self.spans.push(Span::frame(start, end, frame.rule()));
        }
    }

    /// Judges the value of a name, and records it if it must be hidden.
    pub(super) fn hide_if(&mut self, start: usize, end: usize, class: NameClass, style: Style) {
        let Some(frame) = class.frame() else {
            return;
        };
        // Do not search for names inside a long value.
        if end - start > LONG_VALUE {
            self.label_end = self.label_end.max(end);
        }
        if self.is_marked(start, end) || files::is_in_arn(self, start) {
            return;
        }
        if judge(self.slice(start, end), class, style) {
            self.spans.push(Span::frame(start, end, frame.rule()));
        }
    }

    /// Start of the line that contains `place`, looking back at most `limit` bytes.
    pub(super) fn line_start(&self, place: usize, limit: usize) -> usize {
        let floor = place.saturating_sub(limit);
        let before = self.text.get(floor..place).unwrap_or_default();
        let start = memchr::memrchr2(b'\n', b'\r', before).map_or(floor, |found| floor + found + 1);
        steps::count(place.saturating_sub(start));
        start
    }

    /// End of the line that contains `place`, looking ahead at most `limit` bytes.
    pub(super) fn line_end(&self, place: usize, limit: usize) -> usize {
        let ceiling = (place.saturating_add(limit)).min(self.text.len());
        let after = self.text.get(place..ceiling).unwrap_or_default();
        let end = memchr::memchr2(b'\n', b'\r', after).map_or(ceiling, |found| place + found);
        steps::count(end.saturating_sub(place));
        end
    }

    /// Skips spaces and tabs.
    pub(super) fn skip_blanks(&self, mut place: usize) -> usize {
        while matches!(self.byte(place), b' ' | b'\t') {
            place += 1;
        }
        place
    }
}
