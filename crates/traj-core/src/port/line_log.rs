//! A small owner-only log of lines beside a session.

use std::error::Error;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Why a log could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineLogError {
    /// The log is a link, has several names, or is not a regular file.
    #[error("{name} is not a plain file of its own")]
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
/// Implementations make appended lines durable before they return, keep all
/// lines of a call or none, and let several processes use one log at a time.
/// A log without lines has no file.
pub trait LineLog: Debug {
    /// Appends lines, given without line ends.
    ///
    /// # Errors
    /// See [`LineLogError`]; nothing was appended.
    fn append(&self, lines: &[String]) -> Result<(), LineLogError>;

    /// Shows every complete line until the callback stops.
    ///
    /// # Errors
    /// See [`LineLogError`].
    fn read(&self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), LineLogError>;

    /// Keeps the lines that `keep` wants, in one step. A line may be shown
    /// twice when another process appends at the same time.
    ///
    /// # Errors
    /// See [`LineLogError`]; the log is as it was.
    fn retain(&self, keep: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), LineLogError>;
}
