//! The copy of a row, byte by byte, without its giants.

use std::ops::Range;

use super::{MAX_SHORT_BYTES, MAX_TEXT_BYTES, MAX_VALUES};
use crate::rows::Place;

/// A giant text while its row is shortened.
#[derive(Clone, Debug)]
pub(super) struct GiantText {
    /// What stands for it in the copy.
    pub(super) marker: Range<usize>,
    /// Where it lies in the row, without its quotes.
    pub(super) place: Place,
    /// The literal of its name in the copy, if it is a member.
    pub(super) name: Option<Range<usize>>,
    /// The object that it is a member of, in the copy.
    pub(super) object: Option<Range<usize>>,
}

/// Stands for a giant until its marker is known.
const STAND_IN: &[u8] = b"null";

/// Copies JSON byte by byte, without its giants.
pub(super) struct Shortener {
    short: Vec<u8>,
    max_depth: usize,
    depth: usize,
    values: usize,
    /// How many bytes of the row have gone by.
    passed: u64,
    text: Option<Text>,
    /// A giant text that ended; whether it was a name shows in the next byte.
    ended: Option<Place>,
    /// The last literal in the copy, and the last that was a name.
    literal: Range<usize>,
    name: Option<Range<usize>>,
    /// Where the containers start in the copy that are open.
    open: Vec<usize>,
    giants: Vec<GiantText>,
    /// The giants in objects that are open, each with its depth.
    members: Vec<(usize, usize)>,
}

/// A text literal that is still open.
struct Text {
    /// Where it starts in the copy.
    start: usize,
    length: usize,
    escaped: bool,
}

impl Shortener {
    pub(super) const fn new(max_depth: usize) -> Self {
        Self {
            short: Vec::new(),
            max_depth,
            depth: 0,
            values: 0,
            passed: 0,
            text: None,
            ended: None,
            literal: 0..0,
            name: None,
            open: Vec::new(),
            giants: Vec::new(),
            members: Vec::new(),
        }
    }

    pub(super) const fn is_full(&self) -> bool {
        self.short.len() > MAX_SHORT_BYTES || self.values > MAX_VALUES
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.passed += 1;
        let is_skipping = self.depth > self.max_depth;
        if self.text.is_some() {
            self.push_text(byte, is_skipping);
            return;
        }
        if matches!(byte, b' ' | b'\t' | b'\r') {
            return;
        }
        if let Some(place) = self.ended.take() {
            self.push_giant(place, byte == b':');
        }
        match byte {
            b'"' => {
                self.text = Some(Text { start: self.short.len(), length: 0, escaped: false });
                if !is_skipping {
                    self.short.push(byte);
                }
            }
            b'[' | b'{' => {
                self.depth += 1;
                if self.depth <= self.max_depth {
                    self.values += 1;
                    self.open.push(self.short.len());
                    self.short.push(byte);
                } else if self.depth == self.max_depth + 1 {
                    self.short.extend_from_slice(
                        br#"{"truncated":true,"reason":"export-row-size-limit"}"#,
                    );
                }
            }
            b']' | b'}' => {
                if !is_skipping {
                    self.short.push(byte);
                    self.close();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ if is_skipping => {}
            byte => {
                if byte == b':' {
                    self.name = Some(self.literal.clone());
                }
                self.values += usize::from(byte == b',');
                self.short.push(byte);
            }
        }
    }

    fn push_text(&mut self, byte: u8, is_skipping: bool) {
        let Some(text) = &mut self.text else { return };
        text.length += 1;
        let is_giant = text.length > MAX_TEXT_BYTES;
        if is_giant {
            self.short.truncate(text.start);
        } else if !is_skipping {
            self.short.push(byte);
        }
        if std::mem::take(&mut text.escaped) {
            return;
        }
        match byte {
            b'\\' => text.escaped = true,
            b'"' => {
                let length = text.length as u64 - 1;
                self.literal = text.start..self.short.len();
                self.text = None;
                let place = Place { offset: self.passed - 1 - length, length };
                self.ended = (is_giant && !is_skipping).then_some(place);
            }
            _ => {}
        }
    }

    /// The innermost container has ended: what it is is known to its giants.
    fn close(&mut self) {
        let Some(start) = self.open.pop() else { return };
        let depth = self.open.len() + 1;
        while let Some((giant, _)) = self.members.pop_if(|(_, at)| *at == depth) {
            if let Some(giant) = self.giants.get_mut(giant) {
                giant.object = Some(start..self.short.len());
            }
        }
    }

    fn push_giant(&mut self, place: Place, is_name: bool) {
        let start = self.short.len();
        if is_name {
            let marker = format!("\"<truncated name of {} bytes>\"", place.length);
            self.short.extend_from_slice(marker.as_bytes());
            self.literal = start..self.short.len();
            return;
        }
        self.short.extend_from_slice(STAND_IN);
        let is_member = self.open.last().and_then(|at| self.short.get(*at)) == Some(&b'{');
        let name = self.name.clone().filter(|_| is_member);
        if is_member {
            self.members.push((self.giants.len(), self.open.len()));
        }
        self.giants.push(GiantText { marker: start..self.short.len(), place, name, object: None });
    }

    pub(super) fn finish(mut self) -> (Vec<u8>, Vec<GiantText>) {
        if let Some(place) = self.ended.take() {
            self.push_giant(place, false);
        }
        (self.short, self.giants)
    }
}
