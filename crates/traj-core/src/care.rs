//! Looking after recorded sessions: watch, list, shorten, repair and clean up.
//!
//! In reading order:
//!
//! - [`session_store`]: which session belongs to a key of `sessions.json`.
//! - [`tail`]: the newest events of a session, live.
//! - [`rewrite`]: how a file is rewritten while its owner appends to it.
//! - [`trim`]: replaces the text of past tool results.
//! - [`repair`]: diagnoses a damaged file and rebuilds a sound copy.
//! - [`prune`]: decides which files of vanished sessions may be removed.
//!
//! Everything here only decides; adapters read and write.

pub mod prune;
pub mod repair;
pub mod rewrite;
pub mod session_store;
pub mod tail;
pub mod trim;
