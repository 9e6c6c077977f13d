//! A small, owner-only log of lines next to a session file.

use std::error::Error;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Why a log could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineLogError {
    /// The log is a link, has several names, or is not a regular file.
    #[error("{name} is not a plain file")]
    Refused {
        /// The log's name.
        name: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Storage failed.
    #[error("cannot use {name}")]
    Storage {
        /// The log's name.
        name: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A log of lines that only its owner can read.
///
/// Implementations make appended lines durable before returning, append all
/// lines of a call or none, and allow several processes to use the log at the
/// same time. An empty log has no file.
pub trait LineLog: Debug {
    /// Appends lines, given without newlines.
    ///
    /// # Errors
    /// See [`LineLogError`]; nothing was appended.
    fn append(&self, lines: &[String]) -> Result<(), LineLogError>;

    /// Passes every complete line to `visit` until it breaks.
    ///
    /// # Errors
    /// See [`LineLogError`].
    fn read(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), LineLogError>;

    /// Keeps only the lines for which `keep` returns true, atomically. `keep`
    /// may see a line twice if another process appends at the same time.
    ///
    /// # Errors
    /// See [`LineLogError`]; the log is unchanged.
    fn retain(&self, keep: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), LineLogError>;
}
