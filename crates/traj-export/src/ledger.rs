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

/// How much of a part the rules have seen, and left as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Seen {
    #[default]
    Nothing,
    /// An event's message; its frame was put around it later.
    Message,
    All,
}

/// What is known of one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartNote {
    /// The hash of its bytes.
    pub(crate) hash: u64,
    pub(crate) seen: Seen,
}

impl Record for PartNote {
    const SIZE: usize = 9;

    fn encode(&self, bytes: &mut Encoder<'_>) {
        bytes.u64(self.hash);
        bytes.u8(match self.seen {
            Seen::Nothing => 0,
            Seen::Message => 1,
            Seen::All => 2,
        });
    }

    fn decode(bytes: &mut Decoder<'_>) -> Self {
        let hash = bytes.u64();
        let seen = match bytes.u8() {
            1 => Seen::Message,
            2 => Seen::All,
            _ => Seen::Nothing,
        };
        Self { hash, seen }
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
    /// The notes on the parts of the next group. A part without one was not
    /// seen.
    pub(crate) fn next(&mut self, group: &Group) -> Result<Vec<PartNote>, BundleSinkError> {
        let mut notes = Vec::new();
        for part in group.parts() {
            let has_note = (part.is_item || !self.only_items) && self.at < self.store.len();
            notes.push(if has_note { self.store.get(self.at)? } else { PartNote::default() });
            self.at += u64::from(has_note);
        }
        Ok(notes)
    }
}

/// An event and its data stand around a message.
const MESSAGE_DEPTH: usize = 2;

/// Reads a part as far as the rules have not seen it; `None` where they have
/// seen all of it. What they have seen is still checked to be JSON.
pub(crate) fn parse_unseen<'t>(
    text: &'t str,
    note: PartNote,
    hasher: &TextHasher,
) -> Result<Option<Json<'t>>, ParseError> {
    if note.seen == Seen::Nothing || hasher.hash(text.as_bytes()) != note.hash {
        return Json::parse(text).map(Some);
    }
    if note.seen == Seen::All {
        return Json::parse_shallow(text, 0).map(|_| None);
    }
    // Nothing but the message lies this deep.
    let event = Json::parse_shallow(text, MESSAGE_DEPTH)?;
    if has_only_a_message(&event) { Ok(Some(event)) } else { Json::parse(text).map(Some) }
}

/// Whether an event is flat but for a message in its data.
fn has_only_a_message(event: &Json<'_>) -> bool {
    let Some(event) = event.as_object() else { return false };
    event.iter().all(|(name, value)| match value {
        Json::Object(data) if name == "data" => {
            data.len() == 1 && data.iter().all(|(name, _)| name == "message")
        }
        value => !matches!(value, Json::Array(_) | Json::Object(_)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str, seen: Seen) -> Option<String> {
        let hasher = TextHasher::default();
        let note = PartNote { hash: hasher.hash(line.as_bytes()), seen };
        parse_unseen(line, note, &hasher).unwrap().map(|value| value.to_line())
    }

    #[test]
    fn what_was_seen_is_passed_over_and_nothing_else() {
        let event = r#"{"a":1,"data":{"message":{"role":"user","content":[1]}}}"#;
        assert_eq!(parse(event, Seen::All), None);
        assert_eq!(parse(event, Seen::Nothing).as_deref(), Some(event));
        let outer = r#"{"a":1,"data":{"message":{}}}"#;
        assert_eq!(parse(event, Seen::Message).as_deref(), Some(outer));
        // Whatever lies deep beside a message is read.
        for line in [
            r#"{"a":{"b":{"c":1}},"data":{"message":{"role":"user"}}}"#,
            r#"{"a":[[1]],"data":{"message":{"role":"user"}}}"#,
            r#"{"a":1,"data":{"message":{"role":"user"},"b":[[2]]}}"#,
            r#"{"a":1,"data":{"arguments":{"b":[[2]]}}}"#,
        ] {
            assert_eq!(parse(line, Seen::Message).as_deref(), Some(line));
        }
    }

    #[test]
    fn other_bytes_than_those_seen_are_read() {
        let hasher = TextHasher::default();
        let note = PartNote { hash: hasher.hash(b"{\"a\":1}"), seen: Seen::All };
        assert_eq!(parse_unseen("{\"a\":1}", note, &hasher), Ok(None));
        assert!(parse_unseen("{\"a\":2}", note, &hasher).unwrap().is_some());
        // Damage is told even where the bytes are the ones seen.
        let broken = PartNote { hash: hasher.hash(b"{\"a\""), seen: Seen::All };
        assert!(parse_unseen("{\"a\"", broken, &hasher).is_err());
    }
}
