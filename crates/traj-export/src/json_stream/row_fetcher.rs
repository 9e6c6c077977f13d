//! Reads indexed rows again, mostly in file order.

use std::ops::Range;

use traj_core::port::{Source, SourceError};

use crate::json_stream::long_rows::{self, CutValue, LoadedRow, ShortenedRow};
use crate::json_stream::rows::ByteRange;

/// How much is read ahead while rows are requested in file order.
const WINDOW: usize = 512 * 1024;

/// How much is read ahead otherwise. It grows again when rows are requested in
/// order.
const SMALL_WINDOW: usize = 8 * 1024;

/// Reads rows by position, through a buffer that moves with them.
pub(crate) struct RowFetcher<'s> {
    source: &'s dyn Source,
    window: Vec<u8>,
    start: u64,
    ahead: usize,
    /// The values that were cut from rows.
    pub(crate) giants: Vec<CutValue>,
    /// How many media were replaced in rows that were appended.
    pub(crate) media: u64,
}

impl<'s> RowFetcher<'s> {
    pub(crate) const fn new(source: &'s dyn Source) -> Self {
        Self { source, window: Vec::new(), start: 0, ahead: WINDOW, giants: Vec::new(), media: 0 }
    }

    /// The row at `place`, shortened if necessary.
    pub(crate) fn fetch(&mut self, place: ByteRange) -> Result<LoadedRow, SourceError> {
        match self.window(place)? {
            Some(row) => Ok(LoadedRow::Whole(row.to_vec())),
            None => self.load(place),
        }
    }

    /// Appends the row at `place` to `rows`, and returns its range there;
    /// `None` if the row does not fit.
    pub(crate) fn fetch_into(
        &mut self,
        place: ByteRange,
        rows: &mut Vec<u8>,
    ) -> Result<Option<Range<usize>>, SourceError> {
        let start = rows.len();
        if let Some(row) = self.window(place)? {
            rows.extend_from_slice(row);
        } else {
            let loaded = self.load(place)?;
            if let LoadedRow::Short(short) = &loaded {
                self.media += short.media;
            }
            let Some(row) = loaded.bytes() else { return Ok(None) };
            rows.extend_from_slice(row);
        }
        Ok(Some(start..rows.len()))
    }

    /// A long row, or as much of it as fits into memory.
    fn load(&mut self, place: ByteRange) -> Result<LoadedRow, SourceError> {
        let loaded = long_rows::load(self.source, place)?;
        if let LoadedRow::Short(ShortenedRow { giants, .. }) = &loaded {
            self.giants.extend_from_slice(giants);
        }
        Ok(loaded)
    }

    /// Moves the buffer to `place`, and returns the row there; `None` if it is
    /// too long.
    fn window(&mut self, place: ByteRange) -> Result<Option<&[u8]>, SourceError> {
        if place.length > WINDOW as u64 {
            return Ok(None);
        }
        let end = self.start + self.window.len() as u64;
        if place.offset < self.start || place.offset + place.length > end {
            let is_behind = place.offset >= self.start;
            self.ahead = if is_behind { WINDOW.min(4 * self.ahead) } else { SMALL_WINDOW };
            self.start = place.offset;
            let left = self.source.len().saturating_sub(place.offset);
            let length = left.min(self.ahead as u64).max(place.length);
            self.window.resize(usize::try_from(length).unwrap_or(WINDOW), 0);
            self.source.read_exact_at(self.start, &mut self.window)?;
        }
        let offset = usize::try_from(place.offset - self.start).unwrap_or(usize::MAX);
        let length = usize::try_from(place.length).unwrap_or(usize::MAX);
        Ok(Some(self.window.get(offset..offset.saturating_add(length)).unwrap_or_default()))
    }
}
