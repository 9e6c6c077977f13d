//! Notes on the parts of a file that the rules approved, in the order of the
//! parts.
//!
//! The notes are taken while the bundle is written, and used when it is read
//! back. A part that the rules saw in full and did not change is not scanned
//! again.

use std::num::NonZeroU32;

use traj_core::json::{Json, ParseError};
use traj_core::port::BundleFile;
use traj_core::redaction::TextHasher;

use crate::index::record_store::{FixedRecord, RecordDecoder, RecordEncoder, RecordStore};
use crate::json_stream::splitter::SplitError;

/// The note on one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartNote {
    /// Its length in bytes; `None` if it is unknown.
    pub(crate) length: Option<NonZeroU32>,
    /// The hash of its bytes, if the rules approved them.
    pub(crate) seen: Option<u64>,
}

impl PartNote {
    /// The note on a part that is being written.
    pub(crate) fn on(part: &[u8], seen: Option<u64>) -> Self {
        Self { length: u32::try_from(part.len()).ok().and_then(NonZeroU32::new), seen }
    }

    /// The length as a `usize`.
    pub(crate) fn byte_length(self) -> Option<usize> {
        self.length.and_then(|length| usize::try_from(length.get()).ok())
    }
}

impl FixedRecord for PartNote {
    const SIZE: usize = 13;

    fn encode(&self, bytes: &mut RecordEncoder<'_>) {
        bytes.u32(self.length.map_or(0, NonZeroU32::get));
        bytes.u64(self.seen.unwrap_or_default());
        bytes.u8(u8::from(self.seen.is_some()));
    }

    fn decode(bytes: &mut RecordDecoder<'_>) -> Self {
        let length = NonZeroU32::new(bytes.u32());
        let hash = bytes.u64();
        Self { length, seen: (bytes.u8() == 1).then_some(hash) }
    }
}

/// The notes on the two largest files.
pub(crate) struct ApprovedParts {
    /// Notes on the lines of `events.jsonl`.
    pub(crate) events: RecordStore<PartNote>,
    /// Notes on the entries of `session-branch.json`.
    pub(crate) entries: RecordStore<PartNote>,
    hasher: TextHasher,
}

impl ApprovedParts {
    /// Starts without notes; `hasher` identifies parts.
    pub(crate) fn new(hasher: TextHasher) -> Self {
        Self { events: RecordStore::new(), entries: RecordStore::new(), hasher }
    }

    /// The notes on a file, from the start.
    pub(crate) fn notes(&mut self, file: BundleFile) -> FileNotes<'_> {
        let store = match file {
            BundleFile::Events => &mut self.events,
            BundleFile::SessionBranch => &mut self.entries,
            _ => return FileNotes::none(),
        };
        FileNotes { store: Some(store), hasher: Some(&self.hasher), at: 0 }
    }
}

/// The notes on one file. A part without a note was not approved.
pub(crate) struct FileNotes<'l> {
    store: Option<&'l mut RecordStore<PartNote>>,
    pub(crate) hasher: Option<&'l TextHasher>,
    at: u64,
}

impl FileNotes<'_> {
    /// For a file without notes.
    pub(crate) const fn none() -> Self {
        Self { store: None, hasher: None, at: 0 }
    }

    /// The note on the next part; after the last part, an empty note.
    pub(crate) fn peek(&mut self) -> Result<PartNote, SplitError> {
        match &mut self.store {
            Some(store) if self.at < store.len() => {
                store.get(self.at).map_err(|error| SplitError::Read(Box::new(error)))
            }
            _ => Ok(PartNote::default()),
        }
    }

    /// Returns the note on the next part and advances.
    pub(crate) fn next(&mut self) -> Result<PartNote, SplitError> {
        let note = self.peek()?;
        self.at += 1;
        Ok(note)
    }
}

/// Parses a part unless the rules approved these bytes. Approved bytes are
/// still checked to be JSON.
pub(crate) fn parse_unseen<'t>(
    text: &'t str,
    note: PartNote,
    hasher: &TextHasher,
) -> Result<Option<Json<'t>>, ParseError> {
    if note.seen.is_some_and(|hash| hasher.hash(text.as_bytes()) == hash) {
        return Json::parse_shallow(text, 0).map(|_| None);
    }
    Json::parse(text).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_other_than_the_approved_ones_are_parsed() {
        let hasher = TextHasher::default();
        let note = PartNote::on(b"{\"a\":1}", Some(hasher.hash(b"{\"a\":1}")));
        assert_eq!(parse_unseen("{\"a\":1}", note, &hasher), Ok(None));
        assert!(parse_unseen("{\"a\":2}", note, &hasher).unwrap().is_some());
        assert!(parse_unseen("{\"a\":1}", PartNote::default(), &hasher).unwrap().is_some());
        // Damage is reported even if the bytes are the approved ones.
        let broken = PartNote::on(b"{\"a\"", Some(hasher.hash(b"{\"a\"")));
        assert!(parse_unseen("{\"a\"", broken, &hasher).is_err());
    }
}
