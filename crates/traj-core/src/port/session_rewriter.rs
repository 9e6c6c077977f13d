//! Rewrites a file of lines that its owner may append to at any time.

use std::error::Error;
use std::fmt::Debug;

/// A cause that only the adapter understands.
type Cause = Box<dyn Error + Send + Sync>;

/// What happens to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line is kept or replaced, never removed")]
pub enum LineVerdict {
    /// The line stays unchanged, byte for byte.
    Keep,
    /// The line is replaced with this, given without a newline; its newline
    /// stays.
    Replace(Vec<u8>),
}

/// Decides for each line whether a rewrite changes it.
pub trait LineEdit {
    /// Whether a block of complete lines may contain a line to change. If not,
    /// the block is copied without being split into lines.
    fn concerns(&self, block: &[u8]) -> bool;

    /// Decides about one line, given without its newline.
    fn line(&mut self, line: &[u8]) -> LineVerdict;

    /// Called for a line that was too long to read and was copied unchanged.
    fn passed_over(&mut self, bytes: u64);

    /// Called once, after the last line and before the new content takes
    /// effect; on an error, the file stays unchanged.
    ///
    /// # Errors
    /// When the rewrite must not take effect.
    fn before_commit(&mut self) -> Result<(), Cause> {
        Ok(())
    }
}

/// Whether a rewrite takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a rewrite takes effect or does not")]
pub enum RewriteMode {
    /// The edit sees the lines, but nothing is written.
    Preview,
    /// The result replaces the file, if any line changed.
    Commit,
}

/// What a rewrite did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteReport {
    /// Lines that changed.
    pub changed_lines: u64,
    /// Lines that were too long to read.
    pub passed_over: u64,
    /// Bytes of the file when the rewrite began.
    pub bytes_before: u64,
    /// The size that those bytes have now.
    pub bytes_after: u64,
    /// Bytes that other processes appended during the rewrite and that were kept.
    pub merged_bytes: u64,
    /// A writer still has the old file open; whatever it appends from now on
    /// goes to a file that is kept next to the session file, not into the
    /// session.
    pub held_open: bool,
}

/// Why a file could not be rewritten; the file is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The file does not exist.
    #[error("{name} does not exist")]
    Missing {
        /// The file's name.
        name: String,
    },
    /// The file is a link, has several names, or is not a regular file.
    #[error("{name} is not a plain file: {reason}")]
    Refused {
        /// The file's name.
        name: String,
        /// What it is instead.
        reason: &'static str,
    },
    /// A writer has the file open, and replacing the file would lose its lines.
    #[error("{name} is held open by a writer")]
    Busy {
        /// The file's name.
        name: String,
    },
    /// Another process replaced the file, or is rewriting it now.
    #[error("{name} was replaced by another process")]
    Conflict {
        /// The file's name.
        name: String,
    },
    /// The edit asked to stop.
    #[error("the rewrite of {name} was cancelled")]
    CalledOff {
        /// The file's name.
        name: String,
        /// Why.
        source: Cause,
    },
    /// Storage failed.
    #[error("cannot rewrite {name}")]
    Storage {
        /// The file's name.
        name: String,
        /// Why.
        source: Cause,
    },
}

/// Rewrites one file of lines.
///
/// Implementations pass the lines of every block that concerns the edit to it
/// once, in order, and replace the file atomically. Lines that anyone appended
/// in the meantime are in the result, after the edited ones and in the order
/// they were written. Mode and owner are kept. On an error, the file is
/// unchanged. Of two concurrent rewrites, one waits or fails with
/// [`RewriteError::Conflict`].
pub trait SessionRewriter: Debug {
    /// Passes the lines to `edit` and replaces the file if `mode` allows it and
    /// a line changed.
    ///
    /// # Errors
    /// See [`RewriteError`].
    fn rewrite(
        &self,
        edit: &mut dyn LineEdit,
        mode: RewriteMode,
    ) -> Result<RewriteReport, RewriteError>;
}
