//! The bytes of a page, from front to back, in bounded memory.

use memchr::memmem;
use traj_core::port::{BundleSourceError, Source};

use super::damaged;

/// How much is read at a time.
const BLOCK: usize = 64 * 1024;

/// Bytes of a page that are read in order.
#[derive(Debug)]
pub(in crate::page) struct PageBytes<'s> {
    source: &'s dyn Source,
    /// Where the buffer ends in the page.
    position: u64,
    buffer: Vec<u8>,
    /// How much of the buffer was taken.
    taken: usize,
}

impl<'s> PageBytes<'s> {
    pub(super) fn new(source: &'s dyn Source) -> Self {
        Self::at(source, 0)
    }

    pub(super) fn at(source: &'s dyn Source, position: u64) -> Self {
        Self { source, position, buffer: Vec::new(), taken: 0 }
    }

    /// Where the next byte is.
    pub(super) fn position(&self) -> u64 {
        self.position - (self.buffer.len() - self.taken) as u64
    }

    /// The next bytes, as many as are there at once; none at the end.
    pub(in crate::page) fn peek(&mut self) -> Result<&[u8], BundleSourceError> {
        if self.taken == self.buffer.len() {
            self.read_on()?;
        }
        Ok(self.buffer.get(self.taken..).unwrap_or_default())
    }

    pub(in crate::page) fn take(&mut self, count: usize) {
        self.taken = self.buffer.len().min(self.taken + count);
    }

    /// Adds the next block to the bytes that were not taken; returns whether
    /// there was one.
    fn read_on(&mut self) -> Result<bool, BundleSourceError> {
        let left = self.source.len().saturating_sub(self.position);
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(BLOCK);
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let kept = self.buffer.len();
        self.buffer.resize(kept + size, 0);
        let space = self.buffer.get_mut(kept..).unwrap_or_default();
        self.source.read_exact_at(self.position, space).map_err(|error| {
            BundleSourceError::Storage { name: "page".to_owned(), source: Box::new(error) }
        })?;
        self.position += size as u64;
        Ok(size > 0)
    }

    /// Takes the bytes that have to come next.
    pub(in crate::page) fn expect(&mut self, bytes: &[u8]) -> Result<(), BundleSourceError> {
        let mut left = bytes;
        while !left.is_empty() {
            let next = self.peek()?;
            let count = next.len().min(left.len());
            if count == 0 || next.get(..count) != left.get(..count) {
                return Err(damaged("it has unexpected content"));
            }
            self.take(count);
            left = left.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    /// Takes everything up to the end of a mark.
    pub(super) fn skip_past(&mut self, mark: &[u8]) -> Result<(), BundleSourceError> {
        self.until(mark, usize::MAX, &mut |_| {})
    }

    /// What is between two marks; at most `most` bytes.
    pub(super) fn between(
        &mut self,
        begin: &[u8],
        end: &[u8],
        most: usize,
    ) -> Result<Vec<u8>, BundleSourceError> {
        self.until(begin, most, &mut |_| {})?;
        let mut content = Vec::new();
        self.until(end, most, &mut |part| content.extend_from_slice(part))?;
        Ok(content)
    }

    /// Shows everything up to a mark, and takes it with the mark.
    fn until(
        &mut self,
        mark: &[u8],
        most: usize,
        show: &mut dyn FnMut(&[u8]),
    ) -> Result<(), BundleSourceError> {
        let mut seen = 0_usize;
        loop {
            let rest = self.buffer.get(self.taken..).unwrap_or_default();
            if let Some(place) = memmem::find(rest, mark) {
                show(rest.get(..place).unwrap_or_default());
                self.take(place + mark.len());
                return Ok(());
            }
            // The mark may begin in the last bytes.
            let count = rest.len().saturating_sub(mark.len() - 1);
            show(rest.get(..count).unwrap_or_default());
            self.take(count);
            seen = seen.saturating_add(count);
            if seen > most {
                return Err(damaged("a part is too long"));
            }
            if !self.read_on()? {
                return Err(damaged("a part is missing"));
            }
        }
    }
}
