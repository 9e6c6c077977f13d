//! What an export had to skip or could only take in part, by code and row.

use serde::{Deserialize, Serialize};

/// How many row numbers a warning lists.
const LISTED_ROWS: usize = 20;

/// Where a warning comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarningSource {
    /// The session file.
    Session,
    /// The runtime sidecar.
    Runtime,
    /// The export as a whole.
    Export,
}

/// A kind of warning and how often it occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Warning {
    /// Where it comes from.
    pub source: WarningSource,
    /// The kind; stable across versions.
    pub code: String,
    /// How often.
    pub count: u64,
    /// The first rows concerned, 1-based; 0 where a row is not known.
    pub rows: Vec<u64>,
    /// The kind in words.
    pub message: String,
}

/// The kinds of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidSessionJson,
    InvalidSessionRow,
    CyclicBranch,
    IncompleteBranch,
    InvalidRuntimeJson,
    InvalidRuntimeEvent,
    UnknownLeaf,
    UnknownVersion,
    SessionMissing,
    SessionEmpty,
    SessionWithoutEvents,
    SessionWithoutEntries,
    SessionNotUtf8,
    RuntimeNotUtf8,
    SessionRowShortened,
    RuntimeRowShortened,
    SessionRowTooLarge,
    RuntimeRowTooLarge,
    SessionTooLarge,
    RuntimeTooLarge,
    TooManyRuntimeEvents,
    TooManyEvents,
    PointerIgnored,
    RuntimeRefused,
    RuntimeOfOthers,
    BlobMissing,
    BlobTooLarge,
    TooManyBlobs,
}

impl Code {
    const fn describe(self) -> (WarningSource, &'static str, &'static str) {
        use WarningSource::{Export, Runtime, Session};
        match self {
            Self::InvalidSessionJson => (
                Session,
                "invalid-session-json",
                "Skipped a session JSONL row that is not valid JSON.",
            ),
            Self::InvalidSessionRow => (
                Session,
                "invalid-session-row",
                "Skipped a session JSONL row that is not a session entry object.",
            ),
            Self::CyclicBranch => (
                Session,
                "cyclic-session-branch",
                "Stopped trajectory session branch export at a cyclic parent link.",
            ),
            Self::IncompleteBranch => (
                Session,
                "incomplete-session-branch",
                "Exported the reachable session branch suffix after a missing parent link.",
            ),
            Self::InvalidRuntimeJson => (
                Runtime,
                "invalid-runtime-json",
                "Skipped a runtime trajectory JSONL row that is not valid JSON.",
            ),
            Self::InvalidRuntimeEvent => (
                Runtime,
                "invalid-runtime-event",
                "Skipped a runtime trajectory JSONL row that does not match the session schema.",
            ),
            Self::UnknownLeaf => (
                Session,
                "unknown-leaf-target",
                "Ignored a leaf row whose target is not in the session.",
            ),
            Self::UnknownVersion => (
                Session,
                "unknown-session-version",
                "The session is of a version that is not known here; read it as version 3.",
            ),
            Self::SessionMissing => {
                (Session, "session-missing", "There is no transcript: only runtime events.")
            }
            Self::SessionEmpty => {
                (Session, "session-empty", "The session has no entries yet: nothing was said.")
            }
            Self::SessionWithoutEvents => (
                Session,
                "session-without-events",
                "None of the rows of the session file gives an event; --allow-empty was given.",
            ),
            Self::SessionWithoutEntries => (
                Session,
                "session-without-entries",
                "The session file has rows, but no header and no entries: it may be no transcript.",
            ),
            Self::SessionNotUtf8 => {
                (Session, "session-not-utf8", "Replaced bytes of a session row that are not UTF-8.")
            }
            Self::RuntimeNotUtf8 => {
                (Runtime, "runtime-not-utf8", "Replaced bytes of a runtime row that are not UTF-8.")
            }
            Self::SessionRowShortened => (
                Session,
                "session-row-shortened",
                "Replaced giant values of a session row by markers.",
            ),
            Self::RuntimeRowShortened => (
                Runtime,
                "runtime-row-shortened",
                "Replaced giant values of a runtime row by markers.",
            ),
            Self::SessionRowTooLarge => (
                Session,
                "session-row-too-large",
                "Skipped a session row with more values than can be held.",
            ),
            Self::RuntimeRowTooLarge => (
                Runtime,
                "runtime-row-too-large",
                "Skipped a runtime row with more values than can be held.",
            ),
            Self::SessionTooLarge => (
                Session,
                "session-size-limit",
                "The session file is larger than other exporters accept.",
            ),
            Self::RuntimeTooLarge => (
                Runtime,
                "runtime-size-limit",
                "The runtime file is larger than other exporters accept.",
            ),
            Self::TooManyRuntimeEvents => (
                Runtime,
                "runtime-event-limit",
                "The runtime file has more events than other exporters accept.",
            ),
            Self::TooManyEvents => (
                Export,
                "total-event-limit",
                "The bundle has more events than other exporters accept.",
            ),
            Self::PointerIgnored => (
                Runtime,
                "pointer-ignored",
                "Ignored a pointer that does not lead to a sidecar of this session; --runtime names it.",
            ),
            Self::RuntimeRefused => (
                Runtime,
                "runtime-refused",
                "Did not read a file in the sidecar's place that is a link, not a regular file or not a trajectory.",
            ),
            Self::RuntimeOfOthers => (
                Runtime,
                "runtime-other-session",
                "The sidecar has events, but none of this session; --session-id names another one.",
            ),
            Self::BlobMissing => (
                Runtime,
                "blob-missing",
                "A long text that an event refers to is not in the blob folder.",
            ),
            Self::BlobTooLarge => (
                Export,
                "blob-too-large",
                "A long text cannot be cut into parts to redact and was left out.",
            ),
            Self::TooManyBlobs => (
                Export,
                "too-many-blobs",
                "A long text was left out, as a bundle has no room for more files.",
            ),
        }
    }

    /// Whether the original exporter knows this kind. Its readers see only
    /// those; the others are told apart as notices.
    const fn is_original(self) -> bool {
        matches!(
            self,
            Self::InvalidSessionJson
                | Self::InvalidSessionRow
                | Self::CyclicBranch
                | Self::IncompleteBranch
                | Self::InvalidRuntimeJson
                | Self::InvalidRuntimeEvent
        )
    }
}

/// Warnings as they come up, grouped by kind in the order first seen.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    groups: Vec<(Code, u64, Vec<u64>)>,
}

impl Warnings {
    pub(crate) fn add(&mut self, code: Code, row: u64) {
        let group = self.groups.iter_mut().find(|(known, ..)| *known == code);
        if let Some((_, count, rows)) = group {
            *count += 1;
            if rows.len() < LISTED_ROWS {
                rows.push(row);
            }
        } else {
            self.groups.push((code, 1, vec![row]));
        }
    }

    /// Adds those that came up elsewhere, of kinds that are not among these.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.groups.append(&mut others.groups);
    }

    /// Warnings that the original knows, then those that it does not.
    pub(crate) fn finish(self) -> (Vec<Warning>, Vec<Warning>) {
        let (original, ours): (Vec<_>, Vec<_>) =
            self.groups.into_iter().partition(|(code, ..)| code.is_original());
        let list = |groups: Vec<(Code, u64, Vec<u64>)>| groups.into_iter().map(warning).collect();
        (list(original), list(ours))
    }
}

fn warning((code, count, rows): (Code, u64, Vec<u64>)) -> Warning {
    let (source, code, message) = code.describe();
    Warning { source, code: code.to_owned(), count, rows, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Code, Warnings};

    #[test]
    fn warnings_are_grouped_and_rows_capped() {
        let mut warnings = Warnings::default();
        warnings.add(Code::InvalidSessionRow, 4);
        (5..40).for_each(|row| warnings.add(Code::InvalidSessionJson, row));
        warnings.add(Code::InvalidSessionRow, 50);
        warnings.add(Code::SessionNotUtf8, 60);
        let (original, ours) = warnings.finish();
        assert_eq!(original.len(), 2);
        assert_eq!((original[0].count, &original[0].rows[..]), (2, &[4, 50][..]));
        assert_eq!((original[1].count, original[1].rows.len()), (35, 20));
        assert_eq!(ours[0].code, "session-not-utf8");
    }
}
