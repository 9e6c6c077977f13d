//! Reads the parts of a file (lines or elements) in groups.
//!
//! A group has one buffer for all its parts: a buffer for each part would cost
//! more than processing most of them. Lines are therefore split in place, in
//! the group's buffer, and not by `traj_core::json::lines`.

use std::ops::Range;
use std::sync::Arc;

use traj_core::json::Json;
use traj_core::limits::Reading;

use crate::json_stream::buffer::ReadBuffer;
use crate::json_stream::splitter::{ByteStream, SplitError, Splitter};
use crate::parallel::ordered::BatchFill;
use crate::parallel::reusable::Reusable;
use crate::read_back::approved_parts::{FileNotes, PartNote};

/// traj does not write longer elements or lines.
const LONGEST: usize = Reading::standard().bundle_line_bytes;

/// Groups have about this many bytes.
const GROUP_BYTES: usize = 256 * 1024;

/// The smallest read. A smaller one would not be cheaper.
const LEAST_READ: usize = 16 * 1024;

/// The memory that a part takes besides its bytes. It limits the number of very
/// small parts in a group.
const PART_BYTES: usize = 64;

/// A part of a file.
#[derive(Debug)]
pub(crate) struct FilePart<'g> {
    /// The member it belongs to.
    pub(crate) name: Option<&'g str>,
    pub(crate) is_item: bool,
    pub(crate) line: u64,
    /// The note on it.
    pub(crate) note: PartNote,
    pub(crate) bytes: &'g [u8],
}

/// Parts that one worker processes together.
#[derive(Debug, Default)]
pub(crate) struct PartGroup {
    bytes: ReadBuffer,
    places: Vec<PartRange>,
}

impl Reusable for PartGroup {
    fn room(&self) -> usize {
        self.bytes.room() + self.places.room()
    }

    fn empty(&mut self) {
        self.bytes.truncate(0);
        self.places.clear();
    }
}

/// The range of a part in its group, and its name, line and note.
#[derive(Debug)]
struct PartRange {
    name: Option<Arc<str>>,
    is_item: bool,
    line: u64,
    note: PartNote,
    range: Range<usize>,
}

impl PartGroup {
    /// The parts in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = FilePart<'_>> {
        self.places.iter().map(|place| FilePart {
            name: place.name.as_deref(),
            is_item: place.is_item,
            line: place.line,
            note: place.note,
            bytes: self.bytes.filled().get(place.range.clone()).unwrap_or_default(),
        })
    }

    fn add(
        &mut self,
        name: Option<Arc<str>>,
        is_item: bool,
        line: u64,
        note: PartNote,
        bytes: &[u8],
    ) {
        let start = self.bytes.filled().len();
        self.bytes.push(bytes);
        let range = start..self.bytes.filled().len();
        self.places.push(PartRange { name, is_item, line, note, range });
    }

    /// The result of filling the group.
    fn filled(&self) -> BatchFill {
        let bytes = self.bytes.filled().len();
        if self.places.is_empty() { BatchFill::Done } else { BatchFill::of(bytes) }
    }

    /// Whether the group is full with this many bytes and its parts.
    const fn is_full(&self, bytes: usize) -> bool {
        bytes + self.places.len() * PART_BYTES >= GROUP_BYTES
    }
}

/// Splits a file into parts.
pub(crate) trait PartReader: Send {
    /// Fills an empty group with the next parts and the notes on them.
    fn fill(
        &mut self,
        group: &mut PartGroup,
        notes: &mut FileNotes<'_>,
    ) -> Result<BatchFill, SplitError>;
}

/// The members and items of a document. Only items have notes.
pub(crate) struct ElementParts<'b> {
    splitter: Splitter<'b>,
    /// The name of the last element, as a literal and decoded.
    name: Option<(Vec<u8>, Option<Arc<str>>)>,
}

impl<'b> ElementParts<'b> {
    pub(crate) fn new(bytes: &'b mut dyn ByteStream) -> Self {
        Self { splitter: Splitter::new(bytes, LONGEST), name: None }
    }
}

impl PartReader for ElementParts<'_> {
    fn fill(
        &mut self,
        group: &mut PartGroup,
        notes: &mut FileNotes<'_>,
    ) -> Result<BatchFill, SplitError> {
        while !group.is_full(group.bytes.filled().len()) {
            let length = notes.peek()?.byte_length();
            let Some(element) = self.splitter.next(length)? else { break };
            let name = element.name.and_then(|literal| match &self.name {
                Some((known, name)) if known == literal => name.clone(),
                _ => {
                    let name = read_name(literal);
                    self.name = Some((literal.to_vec(), name.clone()));
                    name
                }
            });
            let note = if element.is_item { notes.next()? } else { PartNote::default() };
            group.add(name, element.is_item, element.line, note, element.value);
        }
        Ok(group.filled())
    }
}

fn read_name(literal: &[u8]) -> Option<Arc<str>> {
    let name = Json::parse_lossy(literal).ok()?;
    name.as_str().map(Arc::from)
}

/// The lines of `events.jsonl`, read into their groups. An empty line is only
/// allowed if it is the only one.
pub(crate) struct LineParts<'b> {
    bytes: &'b mut dyn ByteStream,
    /// The bytes after the last line of the previous group.
    rest: Vec<u8>,
    line: u64,
    is_drained: bool,
}

impl<'b> LineParts<'b> {
    pub(crate) fn new(bytes: &'b mut dyn ByteStream) -> Self {
        Self { bytes, rest: Vec::new(), line: 0, is_drained: false }
    }

    /// Reads until the group is full. Bytes after its last line are copied to
    /// the next group.
    fn read_more(&mut self, group: &mut PartGroup) -> Result<(), SplitError> {
        let room = GROUP_BYTES.checked_sub(group.bytes.filled().len());
        let piece = room.map_or(GROUP_BYTES, |room| room.max(LEAST_READ));
        let read = group.bytes.fill(0, piece, |piece| self.bytes.read(piece));
        self.is_drained = read.map_err(SplitError::Read)? == 0;
        Ok(())
    }

    /// Checks that nothing follows: a file without events is a single line end.
    fn expect_end(&mut self, group: &mut PartGroup) -> Result<BatchFill, SplitError> {
        loop {
            if group.bytes.filled().len() > 1 {
                return Err(SplitError::NotJson { line: 2 });
            }
            if self.is_drained {
                return Ok(BatchFill::Done);
            }
            self.read_more(group)?;
        }
    }
}

impl PartReader for LineParts<'_> {
    fn fill(
        &mut self,
        group: &mut PartGroup,
        notes: &mut FileNotes<'_>,
    ) -> Result<BatchFill, SplitError> {
        group.bytes.push(&self.rest);
        let (mut start, mut searched) = (0, 0);
        while !group.is_full(start) {
            let filled = group.bytes.filled();
            let unsearched = filled.get(searched..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', unsearched) {
                let range = start..searched + length;
                self.line += 1;
                if range.is_empty() && self.line == 1 {
                    return self.expect_end(group);
                }
                start = range.end + 1;
                searched = start;
                let (line, note) = (self.line, notes.next()?);
                group.places.push(PartRange { name: None, is_item: false, line, note, range });
                continue;
            }
            searched = filled.len();
            if self.is_drained {
                // traj ends every line with a line end, so this line was cut
                // off.
                if start < searched {
                    return Err(SplitError::NotJson { line: self.line + 1 });
                }
                break;
            }
            if searched - start > LONGEST {
                return Err(SplitError::TooLong { line: self.line + 1 });
            }
            self.read_more(group)?;
        }
        self.rest.clear();
        self.rest.extend_from_slice(group.bytes.filled().get(start..).unwrap_or_default());
        group.bytes.truncate(start);
        Ok(group.filled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_stream::splitter::ReadError;

    /// Returns this many bytes at a time.
    struct Sips<'b>(&'b [u8], usize);

    impl ByteStream for Sips<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
            let (sip, rest) = self.0.split_at(self.0.len().min(self.1).min(buffer.len()));
            buffer[..sip.len()].copy_from_slice(sip);
            self.0 = rest;
            Ok(sip.len())
        }
    }

    /// Lines with their numbers.
    type Numbered = Vec<(u64, Vec<u8>)>;

    /// The lines, and the number of groups.
    fn lines(content: &[u8], sip: usize) -> Result<(Numbered, usize), SplitError> {
        let mut sips = Sips(content, sip);
        let mut parts = LineParts::new(&mut sips);
        let (mut lines, mut groups) = (Vec::new(), 0);
        let mut group = PartGroup::default();
        while parts.fill(&mut group, &mut FileNotes::none())? != BatchFill::Done {
            lines.extend(group.parts().map(|part| (part.line, part.bytes.to_vec())));
            groups += 1;
            group.empty();
        }
        Ok((lines, groups))
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let long = "x".repeat(GROUP_BYTES + 7);
        let mut expected: Vec<String> =
            (0..9_000).map(|number| format!("{number}{}", "y".repeat(number % 97))).collect();
        expected.extend([long, "last".to_owned()]);
        let content = expected.join("\n") + "\n";
        for sip in [1_000, usize::MAX] {
            let (found, groups) = lines(content.as_bytes(), sip).unwrap();
            assert!((3..30).contains(&groups), "{groups}");
            let numbered = (1..).zip(expected.iter().map(|line| line.clone().into_bytes()));
            assert!(found.into_iter().eq(numbered));
        }
    }

    #[test]
    fn very_small_lines_come_in_small_groups() {
        let (found, groups) = lines(&b"1\n".repeat(100_000), usize::MAX).unwrap();
        assert_eq!(found.len(), 100_000);
        assert!(groups > 20, "{groups}");
    }

    #[test]
    fn an_empty_line_is_alone_and_every_line_needs_a_line_end() {
        assert!(lines(b"\n", 1).unwrap().0.is_empty());
        assert!(lines(b"", 1).unwrap().0.is_empty());
        for (broken, expected) in [(&b"\n1\n"[..], 2), (b"1\n2", 2), (b"1", 1)] {
            for sip in [1, 9] {
                let error = lines(broken, sip).unwrap_err();
                assert!(matches!(error, SplitError::NotJson { line } if line == expected));
            }
        }
    }
}
