//! A file that refers to the events for its long strings.

use traj_core::port::{BundleContent, BundleSourceError, Source};

use super::{ChunkContent, FileContent, PageBytes, damaged};
use crate::page::files::CHUNK_BYTES;
use crate::page::files::copies::COPY;

/// The rows of the events, for files that refer to them.
#[derive(Debug)]
pub(super) struct EventRowReader<'p> {
    source: &'p dyn Source,
    /// The first row of each chunk.
    first_rows: &'p [u64],
    /// Where each chunk begins in the page, after its tag.
    pub(super) offsets: Vec<u64>,
    /// The chunk that was read last, and where its rows begin.
    chunk: Option<usize>,
    content: Vec<u8>,
    starts: Vec<usize>,
}

impl<'p> EventRowReader<'p> {
    pub(super) fn new(source: &'p dyn Source, first_rows: &'p [u64]) -> Self {
        let (content, starts) = (Vec::new(), Vec::new());
        Self { source, first_rows, offsets: Vec::new(), chunk: None, content, starts }
    }

    /// A part of a row.
    fn part(&mut self, row: u64, start: u64, length: u64) -> Result<&[u8], BundleSourceError> {
        let nothing = || damaged("a copy refers to nothing");
        let after = self.first_rows.partition_point(|first| *first <= row);
        let chunk = after.checked_sub(1).ok_or_else(nothing)?;
        if self.chunk != Some(chunk) {
            self.read(chunk)?;
        }
        let first = self.first_rows.get(chunk).copied().ok_or_else(nothing)?;
        let place = usize::try_from(row - first).map_err(|_| nothing())?;
        let begin = self.starts.get(place).copied().ok_or_else(nothing)? as u64;
        let begin = begin.checked_add(start).ok_or_else(nothing)?;
        let end = begin.checked_add(length).ok_or_else(nothing)?;
        let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        let part = range.and_then(|(begin, end)| self.content.get(begin..end));
        part.ok_or_else(nothing)
    }

    fn read(&mut self, chunk: usize) -> Result<(), BundleSourceError> {
        let offset = self.offsets.get(chunk).copied();
        let offset = offset.ok_or_else(|| damaged("a copy refers to nothing"))?;
        let mut page = PageBytes::at(self.source, offset);
        let mut content = ChunkContent::default();
        let mut buffer = vec![0; 64 * 1024];
        self.chunk = None;
        self.content.clear();
        loop {
            let read = content.read(&mut page, &mut buffer)?;
            if read == 0 {
                break;
            }
            self.content.extend_from_slice(buffer.get(..read).unwrap_or_default());
            if self.content.len() as u64 > CHUNK_BYTES {
                return Err(damaged("a copy refers to a row that is too long"));
            }
        }
        let ends = memchr::memchr_iter(b'\n', &self.content).map(|end| end + 1);
        self.starts = std::iter::once(0).chain(ends).collect();
        self.chunk = Some(chunk);
        Ok(())
    }
}

/// The content of a file with its copies filled in.
pub(super) struct ExpandedContent<'c, 'p, 's> {
    pub(super) file: FileContent<'c, 's>,
    pub(super) rows: &'c mut EventRowReader<'p>,
    /// How many bytes follow, as the head says.
    pub(super) left: u64,
    pub(super) encoded: Vec<u8>,
    pub(super) taken: usize,
    /// The rest of a copy.
    pub(super) copied: Vec<u8>,
    pub(super) copied_taken: usize,
}

impl ExpandedContent<'_, '_, '_> {
    /// The next bytes of the encoded file; none at its end.
    fn peek(&mut self) -> Result<&[u8], BundleSourceError> {
        if self.taken == self.encoded.len() {
            self.encoded.resize(64 * 1024, 0);
            let read = self.file.read(&mut self.encoded)?;
            self.encoded.truncate(read);
            self.taken = 0;
        }
        Ok(self.encoded.get(self.taken..).unwrap_or_default())
    }

    fn number(&mut self) -> Result<u64, BundleSourceError> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = *self.peek()?.first().ok_or_else(|| damaged("a copy is truncated"))?;
            self.taken += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged("a copy is not valid"))
    }

    /// Reads the copy that comes next.
    fn copy(&mut self) -> Result<(), BundleSourceError> {
        self.taken += 1;
        let (row, start, length) = (self.number()?, self.number()?, self.number()?);
        let part = self.rows.part(row, start, length)?;
        self.copied.clear();
        self.copied.extend_from_slice(part);
        self.copied_taken = 0;
        Ok(())
    }
}

impl BundleContent for ExpandedContent<'_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        loop {
            let copied = self.copied.get(self.copied_taken..).unwrap_or_default();
            let is_copy = !copied.is_empty();
            let next = if is_copy { copied } else { self.peek()? };
            let next = if is_copy {
                next
            } else {
                next.get(..memchr::memchr(COPY, next).unwrap_or(next.len())).unwrap_or_default()
            };
            let count = next.len().min(buffer.len());
            if count == 0 {
                if buffer.is_empty() {
                    return Ok(0);
                }
                if self.peek()?.first() == Some(&COPY) {
                    self.copy()?;
                    continue;
                }
                return if self.left == 0 { Ok(0) } else { Err(damaged("a file is too short")) };
            }
            for (to, from) in buffer.iter_mut().zip(next) {
                *to = *from;
            }
            if is_copy {
                self.copied_taken += count;
            } else {
                self.taken += count;
            }
            let left = self.left.checked_sub(count as u64);
            self.left = left.ok_or(BundleSourceError::Bomb)?;
            return Ok(count);
        }
    }
}
