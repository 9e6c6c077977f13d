//! Copies a row byte by byte, without its giants.

use std::ops::Range;

use crate::json_stream::rows::ByteRange;

/// A giant string, list or object while its row is shortened.
#[derive(Clone, Debug)]
pub(super) struct GiantValue {
    /// Its placeholder in the copy.
    pub(super) marker: Range<usize>,
    /// Where it is in the row; for a string, without its quotes.
    pub(super) place: ByteRange,
    pub(super) is_text: bool,
    /// Its name as a literal in the copy, if it is a member.
    pub(super) name: Option<Range<usize>>,
    /// The object that it is a member of, in the copy.
    pub(super) object: Option<Range<usize>>,
}

/// The placeholder of a giant until its marker is known.
const STAND_IN: &[u8] = b"null";

/// Copies JSON byte by byte, without its giants.
pub(super) struct Shortener {
    short: Vec<u8>,
    max_text: usize,
    /// The start positions of the containers to leave out, in order.
    cuts: Vec<u64>,
    /// The start of the container that is being left out, and how many
    /// containers are open in it.
    skipped: Option<(u64, usize)>,
    /// How many bytes of the row were read.
    passed: u64,
    text: Option<OpenLiteral>,
    /// A giant string that has ended; the next byte shows whether it was a
    /// name.
    ended: Option<ByteRange>,
    /// The last literal in the copy; `name` is the last one that was a name.
    literal: Range<usize>,
    name: Option<Range<usize>>,
    /// The start positions of the open containers in the copy.
    open: Vec<usize>,
    giants: Vec<GiantValue>,
    /// The giants in open objects, each with its depth.
    members: Vec<(usize, usize)>,
}

/// A string literal that is still open.
struct OpenLiteral {
    /// Where it starts in the copy.
    start: usize,
    length: usize,
    escaped: bool,
}

impl Shortener {
    pub(super) const fn new(max_text: usize, cuts: Vec<u64>) -> Self {
        Self {
            short: Vec::new(),
            max_text,
            cuts,
            skipped: None,
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

    pub(super) fn push(&mut self, byte: u8) {
        self.passed += 1;
        let is_skipping = self.skipped.is_some();
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
        if byte == b'"' {
            self.text = Some(OpenLiteral { start: self.short.len(), length: 0, escaped: false });
        }
        if is_skipping {
            self.skip(byte);
            return;
        }
        match byte {
            b'[' | b'{' => {
                let start = self.passed - 1;
                if self.cuts.binary_search(&start).is_ok() {
                    self.skipped = Some((start, 0));
                    return;
                }
                self.open.push(self.short.len());
                self.short.push(byte);
            }
            b']' | b'}' => {
                self.short.push(byte);
                self.close();
            }
            byte => {
                if byte == b':' {
                    self.name = Some(self.literal.clone());
                }
                self.short.push(byte);
            }
        }
    }

    fn skip(&mut self, byte: u8) {
        let Some((start, inside)) = &mut self.skipped else { return };
        match (byte, *inside) {
            (b'[' | b'{', _) => *inside += 1,
            (b']' | b'}', 0) => {
                let place = ByteRange { offset: *start, length: self.passed - *start };
                self.skipped = None;
                self.push_value(place, false);
            }
            (b']' | b'}', _) => *inside -= 1,
            _ => {}
        }
    }

    fn push_text(&mut self, byte: u8, is_skipping: bool) {
        let Some(text) = &mut self.text else { return };
        text.length += 1;
        let is_giant = text.length > self.max_text;
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
                let place = ByteRange { offset: self.passed - 1 - length, length };
                self.ended = (is_giant && !is_skipping).then_some(place);
            }
            _ => {}
        }
    }

    /// Ends the innermost container, and sets the object of the giants in it.
    fn close(&mut self) {
        let Some(start) = self.open.pop() else { return };
        let depth = self.open.len() + 1;
        while let Some((giant, _)) = self.members.pop_if(|(_, at)| *at == depth) {
            if let Some(giant) = self.giants.get_mut(giant) {
                giant.object = Some(start..self.short.len());
            }
        }
    }

    fn push_giant(&mut self, place: ByteRange, is_name: bool) {
        let start = self.short.len();
        if is_name {
            let marker = format!("\"<truncated name of {} bytes>\"", place.length);
            self.short.extend_from_slice(marker.as_bytes());
            self.literal = start..self.short.len();
            return;
        }
        self.push_value(place, true);
    }

    fn push_value(&mut self, place: ByteRange, is_text: bool) {
        let start = self.short.len();
        self.short.extend_from_slice(STAND_IN);
        let is_member = self.open.last().and_then(|at| self.short.get(*at)) == Some(&b'{');
        let name = self.name.clone().filter(|_| is_member);
        if is_member {
            self.members.push((self.giants.len(), self.open.len()));
        }
        self.giants.push(GiantValue {
            marker: start..self.short.len(),
            place,
            is_text,
            name,
            object: None,
        });
    }

    pub(super) fn finish(mut self) -> (Vec<u8>, Vec<GiantValue>) {
        if let Some(place) = self.ended.take() {
            self.push_giant(place, false);
        }
        (self.short, self.giants)
    }
}
