//! Fetching rows again, mostly one behind the other.

use traj_core::port::{Source, SourceError};

use crate::rows::{MAX_ROW_BYTES, Place};
use crate::shrink::{self, Giant, Loaded};

/// How much is read ahead.
const WINDOW: usize = 512 * 1024;

/// Reads rows by place through a window that moves with them.
pub(crate) struct RowFetcher<'s> {
    source: &'s dyn Source,
    window: Vec<u8>,
    start: u64,
    /// The texts that were left out of rows.
    pub(crate) giants: Vec<Giant>,
}

impl<'s> RowFetcher<'s> {
    pub(crate) const fn new(source: &'s dyn Source) -> Self {
        Self { source, window: Vec::new(), start: 0, giants: Vec::new() }
    }

    /// The row at `place`, shortened if it has to be.
    pub(crate) fn fetch(&mut self, place: Place) -> Result<Loaded, SourceError> {
        if place.length > MAX_ROW_BYTES || place.length > WINDOW as u64 {
            let loaded = shrink::load(self.source, place)?;
            if let Loaded::Short(_, giants) = &loaded {
                self.giants.extend_from_slice(giants);
            }
            return Ok(loaded);
        }
        let end = self.start + self.window.len() as u64;
        if place.offset < self.start || place.offset + place.length > end {
            self.start = place.offset;
            let left = self.source.len().saturating_sub(place.offset);
            let length = left.min(WINDOW as u64).max(place.length);
            self.window.resize(usize::try_from(length).unwrap_or(WINDOW), 0);
            self.source.read_exact_at(self.start, &mut self.window)?;
        }
        let offset = usize::try_from(place.offset - self.start).unwrap_or(usize::MAX);
        let length = usize::try_from(place.length).unwrap_or(usize::MAX);
        let row = self.window.get(offset..offset.saturating_add(length)).unwrap_or_default();
        Ok(Loaded::Whole(row.to_vec()))
    }
}
