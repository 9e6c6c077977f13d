//! Rewriting a file of lines that its owner may append to at any moment.

use std::error::Error;
use std::fmt::Debug;

/// A cause that only the adapter understands.
type Cause = Box<dyn Error + Send + Sync>;

/// What becomes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line is kept or replaced, never removed")]
pub enum LineVerdict {
    /// The line stays as it is, byte for byte.
    Keep,
    /// The line becomes this, given without a line end; its own line end stays.
    Replace(Vec<u8>),
}

/// Decides line by line what a rewrite changes.
pub trait LineEdit {
    /// Whether a block of whole lines may hold a line that matters. A block
    /// for which this is `false` passes without being cut into lines.
    fn concerns(&self, block: &[u8]) -> bool;

    /// Decides about one line, given without its line end.
    fn line(&mut self, line: &[u8]) -> LineVerdict;

    /// Hears of a line that was too long to be read and passed as it is.
    fn passed_over(&mut self, bytes: u64);

    /// Called once, after the last line and before the new text takes effect;
    /// an error leaves the file as it was.
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
    /// Every line is shown to the edit; nothing is written.
    Preview,
    /// The result replaces the file, unless no line changed.
    Commit,
}

/// What a rewrite did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteReport {
    /// Lines that changed.
    pub changed_lines: u64,
    /// Lines that were too long to be read.
    pub passed_over: u64,
    /// Bytes of the file when the rewrite began.
    pub bytes_before: u64,
    /// Bytes those became.
    pub bytes_after: u64,
    /// Bytes that other processes appended during the rewrite and that were kept.
    pub merged_bytes: u64,
    /// A writer still holds the old file open; what it appends from now on
    /// goes to a file that is kept beside the session, not into the session.
    pub held_open: bool,
}

/// Why a file could not be rewritten; it is as it was.
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
    #[error("{name} is not a plain file of its own: {reason}")]
    Refused {
        /// The file's name.
        name: String,
        /// What it is instead.
        reason: &'static str,
    },
    /// A writer keeps the file open, so a replaced file would lose its lines.
    #[error("{name} is held open by a writer")]
    Busy {
        /// The file's name.
        name: String,
    },
    /// Someone else replaced the file, or rewrites it right now.
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
/// Implementations show every line to the edit once, in order, and replace the
/// file in one step that readers see whole or not at all. Lines that anyone
/// appended meanwhile are in the result, after the edited ones and in the
/// order of their writing. Mode and owner stay. On an error the file is as it
/// was. Of two rewrites at once one waits, or fails with
/// [`RewriteError::Conflict`].
pub trait SessionRewriter: Debug {
    /// Shows every line to `edit`, and puts the result in place if `mode` says
    /// so and a line changed.
    ///
    /// # Errors
    /// See [`RewriteError`].
    fn rewrite(
        &self,
        edit: &mut dyn LineEdit,
        mode: RewriteMode,
    ) -> Result<RewriteReport, RewriteError>;
}
