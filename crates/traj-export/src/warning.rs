//! Warnings and notices of an export: rows that were skipped or shortened, and
//! other notes.

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

/// A kind of warning, and how often it occurred.
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
    /// The first rows concerned, 1-based; 0 if the warning is not about a row.
    pub rows: Vec<u64>,
    /// The message for this kind.
    pub message: String,
}

/// Defines the kinds of warning, one row each: name, source, code, message.
macro_rules! warning_codes {
    ($($name:ident: $source:ident, $code:literal, $message:literal;)*) => {
        /// The kinds of warning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($name,)*
        }

        impl Code {
            /// The source, the stable code and the message.
            const fn describe(self) -> (WarningSource, &'static str, &'static str) {
                match self {
                    $(Self::$name => (WarningSource::$source, $code, $message),)*
                }
            }
        }
    };
}

warning_codes! {
    InvalidSessionJson: Session, "invalid-session-json",
        "Skipped a session JSONL row that is not valid JSON.";
    InvalidSessionRow: Session, "invalid-session-row",
        "Skipped a session JSONL row that is not a session entry object.";
    CyclicBranch: Session, "cyclic-session-branch",
        "Stopped trajectory session branch export at a cyclic parent link.";
    IncompleteBranch: Session, "incomplete-session-branch",
        "Exported the reachable session branch suffix after a missing parent link.";
    InvalidRuntimeJson: Runtime, "invalid-runtime-json",
        "Skipped a runtime trajectory JSONL row that is not valid JSON.";
    InvalidRuntimeEvent: Runtime, "invalid-runtime-event",
        "Skipped a runtime trajectory JSONL row that does not match the session schema.";
    UnknownLeaf: Session, "unknown-leaf-target",
        "Ignored a leaf row whose target is not in the session.";
    UnknownVersion: Session, "unknown-session-version",
        "The session's version is unknown; it was read as version 3.";
    SessionMissing: Session, "session-missing",
        "There is no transcript; the bundle contains runtime events only.";
    SessionEmpty: Session, "session-empty",
        "The session has no entries and no runtime events.";
    SessionWithoutEvents: Session, "session-without-events",
        "The rows of the session file produce no events; --allow-empty was given.";
    SessionWithoutEntries: Session, "session-without-entries",
        "The session file has rows, but no header and no entries: it may not be a transcript.";
    SessionNotUtf8: Session, "session-not-utf8",
        "Replaced bytes of a session row that are not UTF-8.";
    RuntimeNotUtf8: Runtime, "runtime-not-utf8",
        "Replaced bytes of a runtime row that are not UTF-8.";
    SessionRowShortened: Session, "session-row-shortened",
        "Replaced very large values of a session row with markers.";
    RuntimeRowShortened: Runtime, "runtime-row-shortened",
        "Replaced very large values of a runtime row with markers.";
    SessionRowTooLarge: Session, "session-row-too-large",
        "Skipped a session row that has too many values.";
    RuntimeRowTooLarge: Runtime, "runtime-row-too-large",
        "Skipped a runtime row that has too many values.";
    SessionTooLarge: Session, "session-size-limit",
        "The session file is larger than other exporters accept.";
    RuntimeTooLarge: Runtime, "runtime-size-limit",
        "The runtime file is larger than other exporters accept.";
    TooManyRuntimeEvents: Runtime, "runtime-event-limit",
        "The runtime file has more events than other exporters accept.";
    TooManyEvents: Export, "total-event-limit",
        "The bundle has more events than other exporters accept.";
    PointerIgnored: Runtime, "pointer-ignored",
        "Ignored a pointer that does not lead to a sidecar of this session; use --runtime to name one.";
    RuntimeRefused: Runtime, "runtime-refused",
        "Did not read the file at the sidecar's path: it is a link, not a regular file or not a trajectory.";
    RuntimeOfOthers: Runtime, "runtime-other-session",
        "The sidecar has events of another session; use --session-id to name the session.";
    BlobMissing: Runtime, "blob-missing",
        "A long text that an event refers to is not in the blob directory.";
    BlobTooLarge: Export, "blob-too-large",
        "Left out a long text that cannot be split into parts for redaction.";
    TooManyBlobs: Export, "too-many-blobs",
        "Left out a long text, because the bundle cannot hold more files.";
}

impl Code {
    /// Whether the original exporter has this kind. Its readers expect no other
    /// warnings, so the other kinds are notices.
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

/// Warnings grouped by kind, in the order in which each kind first occurred.
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

    /// Appends warnings of other kinds.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.groups.append(&mut others.groups);
    }

    /// The warnings that the original exporter also has, and the notices.
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
