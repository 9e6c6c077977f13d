//! The parts of a file, lines or elements, handed on in groups.
//!
//! A group has one buffer for the bytes of all its parts: it is filled on one
//! thread and read on another, and a buffer for each part would have both wait
//! for the allocator.

use std::ops::Range;
use std::sync::Arc;

use traj_core::json::Json;

use crate::shelf::Buffer;
use crate::split::{Bytes, SplitError, Splitter};

/// Elements and lines longer than this were not written by us.
const LONGEST: usize = 96 * 1024 * 1024;

/// Groups have about this many bytes.
const GROUP_BYTES: usize = 256 * 1024;

/// What a part costs besides its bytes: very small ones would fill memory.
const PART_BYTES: usize = 64;

/// A part of a file.
#[derive(Debug)]
pub(crate) struct Part<'g> {
    /// The member it belongs to.
    pub(crate) name: Option<&'g str>,
    pub(crate) is_item: bool,
    pub(crate) line: u64,
    pub(crate) bytes: &'g [u8],
}

/// Parts that are worked on together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Buffer for Group {
    fn room(&self) -> usize {
        self.bytes.room() + self.places.room()
    }

    fn empty(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// Where in its group a part lies, and what it is.
#[derive(Debug)]
struct Place {
    name: Option<Arc<str>>,
    is_item: bool,
    line: u64,
    range: Range<usize>,
}

impl Group {
    /// The parts in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.places.iter().map(|place| Part {
            name: place.name.as_deref(),
            is_item: place.is_item,
            line: place.line,
            bytes: self.bytes.get(place.range.clone()).unwrap_or_default(),
        })
    }

    fn add(&mut self, name: Option<Arc<str>>, is_item: bool, line: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.places.push(Place { name, is_item, line, range: start..self.bytes.len() });
    }

    const fn is_full(&self) -> bool {
        self.bytes.len() + self.places.len() * PART_BYTES >= GROUP_BYTES
    }
}

/// Takes a file apart.
pub(crate) trait Parts {
    /// Adds the next part; `false` at the end.
    fn add_next(&mut self, group: &mut Group) -> Result<bool, SplitError>;

    /// An empty group with the next parts, if there are any.
    fn fill(&mut self, mut group: Group) -> Result<Option<Group>, SplitError> {
        while !group.is_full() && self.add_next(&mut group)? {}
        Ok((!group.places.is_empty()).then_some(group))
    }
}

/// The members and items of a document.
pub(crate) struct Elements<'b> {
    splitter: Splitter<'b>,
    /// The name of the last element, as it is written and as it reads.
    name: Option<(Vec<u8>, Option<Arc<str>>)>,
}

impl<'b> Elements<'b> {
    pub(crate) fn new(bytes: &'b mut dyn Bytes) -> Self {
        Self { splitter: Splitter::new(bytes, LONGEST), name: None }
    }
}

impl Parts for Elements<'_> {
    fn add_next(&mut self, group: &mut Group) -> Result<bool, SplitError> {
        let Some(element) = self.splitter.next()? else { return Ok(false) };
        let name = element.name.and_then(|literal| match &self.name {
            Some((known, name)) if known == literal => name.clone(),
            _ => {
                let name = read_name(literal);
                self.name = Some((literal.to_vec(), name.clone()));
                name
            }
        });
        group.add(name, element.is_item, element.line, element.value);
        Ok(true)
    }
}

fn read_name(literal: &[u8]) -> Option<Arc<str>> {
    let name = Json::parse_lossy(literal).ok()?;
    name.as_str().map(Arc::from)
}

/// The lines of `events.jsonl`. An empty line is only allowed alone.
pub(crate) struct Lines<'b> {
    bytes: &'b mut dyn Bytes,
    buffer: Vec<u8>,
    at: usize,
    line: u64,
    is_drained: bool,
}

impl<'b> Lines<'b> {
    pub(crate) fn new(bytes: &'b mut dyn Bytes) -> Self {
        Self { bytes, buffer: Vec::new(), at: 0, line: 0, is_drained: false }
    }

    fn fill(&mut self) -> Result<(), SplitError> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let length = self.buffer.len();
        if length > LONGEST {
            return Err(SplitError::TooLong { line: self.line + 1 });
        }
        self.buffer.resize(length + GROUP_BYTES, 0);
        let piece = self.buffer.get_mut(length..).unwrap_or_default();
        let read = self.bytes.read(piece).map_err(SplitError::Read)?;
        self.buffer.truncate(length + read);
        self.is_drained = read == 0;
        Ok(())
    }
}

impl Parts for Lines<'_> {
    fn add_next(&mut self, group: &mut Group) -> Result<bool, SplitError> {
        let mut searched = self.at;
        loop {
            let rest = self.buffer.get(searched..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', rest) {
                let end = searched + length;
                let bytes = self.buffer.get(self.at..end).unwrap_or_default();
                self.at = end + 1;
                self.line += 1;
                if bytes.is_empty() && self.line == 1 {
                    continue_or_end(self)?;
                    return Ok(false);
                }
                group.add(None, false, self.line, bytes);
                return Ok(true);
            }
            if self.is_drained {
                // Every line of ours ends; what does not was cut off.
                let is_cut = self.at < self.buffer.len();
                return if is_cut {
                    Err(SplitError::NotJson { line: self.line + 1 })
                } else {
                    Ok(false)
                };
            }
            searched = self.buffer.len() - self.at;
            self.fill()?;
        }
    }
}

/// A file without events is one line end and nothing else.
fn continue_or_end(lines: &mut Lines<'_>) -> Result<(), SplitError> {
    while !lines.is_drained {
        if lines.at < lines.buffer.len() {
            return Err(SplitError::NotJson { line: 2 });
        }
        lines.fill()?;
    }
    if lines.at < lines.buffer.len() { Err(SplitError::NotJson { line: 2 }) } else { Ok(()) }
}
