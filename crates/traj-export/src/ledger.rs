//! What the rules have seen of the parts of a file, in the order of the parts.
//!
//! Written while the bundle is written, read while it is read back: a part of
//! which the rules have seen every byte, and left it as it is, need not be
//! looked at again.

use traj_core::json::{Json, ParseError};
use traj_core::port::{BundleFile, BundleSinkError};
use traj_core::redaction::TextHasher;

use crate::parts::Group;
use crate::record::{Decoder, Encoder, Record, RecordStore};

/// What is known of one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartNote {
    /// The hash of its bytes, if the rules have seen them and let them stay.
    pub(crate) seen: Option<u64>,
}

impl Record for PartNote {
    const SIZE: usize = 9;

    fn encode(&self, bytes: &mut Encoder<'_>) {
        bytes.u64(self.seen.unwrap_or_default());
        bytes.u8(u8::from(self.seen.is_some()));
    }

    fn decode(bytes: &mut Decoder<'_>) -> Self {
        let hash = bytes.u64();
        Self { seen: (bytes.u8() == 1).then_some(hash) }
    }
}

/// The notes on the two files that hold nearly everything.
pub(crate) struct Ledger {
    /// On the lines of `events.jsonl`.
    pub(crate) events: RecordStore<PartNote>,
    /// On the entries of `session-branch.json`.
    pub(crate) entries: RecordStore<PartNote>,
    hasher: TextHasher,
}

impl Ledger {
    /// An empty ledger of parts that are known by this hash.
    pub(crate) fn new(hasher: TextHasher) -> Self {
        Self { events: RecordStore::new(), entries: RecordStore::new(), hasher }
    }

    /// The notes on a file, to be read from the start.
    pub(crate) fn notes(&mut self, file: BundleFile) -> Option<Notes<'_>> {
        let (store, only_items) = match file {
            BundleFile::Events => (&mut self.events, false),
            BundleFile::SessionBranch => (&mut self.entries, true),
            _ => return None,
        };
        Some(Notes { store, hasher: &self.hasher, only_items, at: 0 })
    }
}

/// The notes on one file.
pub(crate) struct Notes<'l> {
    store: &'l mut RecordStore<PartNote>,
    pub(crate) hasher: &'l TextHasher,
    /// Whether there are notes on items only.
    only_items: bool,
    at: u64,
}

impl Notes<'_> {
    /// Adds the notes on the parts of the next group. A part without one was
    /// not seen.
    pub(crate) fn next(
        &mut self,
        group: &Group,
        notes: &mut Vec<PartNote>,
    ) -> Result<(), BundleSinkError> {
        for part in group.parts() {
            let has_note = (part.is_item || !self.only_items) && self.at < self.store.len();
            notes.push(if has_note { self.store.get(self.at)? } else { PartNote::default() });
            self.at += u64::from(has_note);
        }
        Ok(())
    }
}

/// Reads a part unless the rules have seen it, as it is. What they have seen is
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
    fn other_bytes_than_those_seen_are_read() {
        let hasher = TextHasher::default();
        let note = PartNote { seen: Some(hasher.hash(b"{\"a\":1}")) };
        assert_eq!(parse_unseen("{\"a\":1}", note, &hasher), Ok(None));
        assert!(parse_unseen("{\"a\":2}", note, &hasher).unwrap().is_some());
        assert!(parse_unseen("{\"a\":1}", PartNote::default(), &hasher).unwrap().is_some());
        // Damage is told even where the bytes are the ones seen.
        let broken = PartNote { seen: Some(hasher.hash(b"{\"a\"")) };
        assert!(parse_unseen("{\"a\"", broken, &hasher).is_err());
    }
}
