//! The part of a row that decides its place in the tree.

use super::EntryKey;
use crate::json::Json;

/// The role of a row in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowKind {
    /// The header of the session.
    Header,
    /// A control row: the active leaf is now another entry.
    Leaf,
    /// Everything else.
    Entry,
}

/// The type of a header.
const HEADER: &str = "session";

/// Ids and flags of one row; no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skeleton {
    /// What the row is.
    pub kind: RowKind,
    /// The entry's own id, if it has one.
    pub id: Option<EntryKey>,
    /// Where the walk continues: the parent, or the target of a leaf row.
    pub next: Option<EntryKey>,
    /// Whether the row has a timestamp, as entries on a branch must.
    pub timed: bool,
    /// Whether the entry was appended beside the branch and does not become the
    /// leaf.
    pub side: bool,
}

impl Skeleton {
    /// Reads a row; `None` if it is not a session row.
    #[must_use]
    pub fn read(row: &Json<'_>) -> Option<Self> {
        let object = row.as_object()?;
        let kind = match object.get("type")?.as_str()? {
            HEADER => RowKind::Header,
            // A `leaf` row without a valid target is an ordinary entry.
            "leaf" if object.get("targetId").is_some_and(is_target) => RowKind::Leaf,
            "message" => {
                object.get("message")?.as_object()?.get("role")?.as_str()?;
                RowKind::Entry
            }
            _ => RowKind::Entry,
        };
        let key = |name: &str| object.get(name).and_then(Json::as_str).map(EntryKey::of);
        let next = if kind == RowKind::Leaf { key("targetId") } else { key("parentId") };
        Some(Self {
            kind,
            id: key("id"),
            next: next.filter(|next| !next.is_empty()),
            timed: matches!(object.get("timestamp"), Some(Json::String(_) | Json::Number(_))),
            side: object.get("appendMode").and_then(Json::as_str) == Some("side"),
        })
    }

    /// Whether a row is the header of a session.
    #[must_use]
    pub fn is_header(row: &Json<'_>) -> bool {
        row.get("type").and_then(Json::as_str) == Some(HEADER)
    }

    /// A row without a timestamp.
    #[must_use]
    pub const fn new(kind: RowKind, id: Option<EntryKey>, next: Option<EntryKey>) -> Self {
        Self { kind, id, next, timed: false, side: false }
    }

    /// Whether the row can be part of a branch.
    #[must_use]
    pub const fn is_candidate(&self) -> bool {
        matches!(self.kind, RowKind::Entry) && self.id.is_some() && self.timed
    }
}

/// Whether this is a valid target of a leaf row: an entry, or null for none.
fn is_target(target: &Json<'_>) -> bool {
    matches!(target, Json::Null) || target.as_str().is_some_and(|target| !target.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{RowKind, Skeleton};
    use crate::json::Json;

    fn read(row: &str) -> Option<Skeleton> {
        Skeleton::read(&Json::parse(row).unwrap())
    }

    #[test]
    fn rows_that_are_not_session_rows() {
        for row in [
            "null",
            "[]",
            "42",
            r#"{"notype":1}"#,
            r#"{"type":5}"#,
            r#"{"type":"message","id":"x"}"#,
            r#"{"type":"message","message":[]}"#,
            r#"{"type":"message","message":{"content":"no role"}}"#,
        ] {
            assert_eq!(read(row), None, "{row}");
        }
    }

    #[test]
    fn only_timed_entries_with_a_string_id_are_candidates() {
        let candidate = |row| read(row).unwrap().is_candidate();
        assert!(candidate(r#"{"type":"label","id":"a","timestamp":1}"#));
        assert!(!candidate(r#"{"type":"label","id":7,"timestamp":1}"#));
        assert!(!candidate(r#"{"type":"label","id":"a"}"#));
        assert!(!candidate(r#"{"type":"session","id":"a","timestamp":1}"#));
        assert!(!candidate(r#"{"type":"leaf","id":"a","timestamp":1,"targetId":null}"#));
    }

    #[test]
    fn a_leaf_row_leads_to_its_target() {
        let leaf = read(r#"{"type":"leaf","id":"l","parentId":"p","targetId":"t"}"#).unwrap();
        assert_eq!(leaf.kind, RowKind::Leaf);
        assert_eq!(leaf.next, Some(super::EntryKey::of("t")));
        for nowhere in ["5", "\"\"", "{}"] {
            let row = format!(r#"{{"type":"leaf","id":"l","parentId":"p","targetId":{nowhere}}}"#);
            let row = read(&row).unwrap();
            assert_eq!((row.kind, row.next), (RowKind::Entry, Some(super::EntryKey::of("p"))));
        }
    }
}
