//! The exact context of a model call.
//!
//! Newer versions of Claude Code record what every request contained: the system
//! prompt and the tools, and each message, by the SHA-256 of its canonical JSON. A
//! request repeats the first messages of an earlier one and adds others. The
//! model's own messages are not repeated; they are in its rows. From these rows, the
//! context of a call is rebuilt and verified.
//!
//! A session is read twice: once for the requests, once for the messages that the
//! call needs. Only those are kept in memory. A bundle has the same rows, redacted:
//! a part that redaction changed cannot be verified there.
//!
//! - `rows`: the rows of a session or a bundle;
//! - `requests`: which messages each request contained;
//! - `messages`: the values of one context;
//! - `table`: where the parts of all contexts are.

mod canonical;
mod messages;
mod requests;
mod rows;
mod table;
#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;

use crate::json::Json;
use crate::port::{BundleSourceError, Source, SourceError};
use crate::timestamp::UnixMillis;

pub use self::rows::{ContextRow, ContextRows, TakeContextRow, contains_any};
pub use self::table::{ContextTable, TableBasis, TableChange, TablePart, TableRequest};

use self::messages::Messages;
use self::requests::Requests;
use self::rows::SourceRows;

/// Why a context cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The session does not record requests.
    #[error("the session does not record what its model calls contained")]
    NotRecorded,
    /// No recorded request belongs to this call.
    #[error("no recorded request belongs to this call")]
    UnknownCall,
    /// The session has more requests, or the context more bytes, than can be held.
    #[error("the recorded requests of the session are too many or too large")]
    TooLarge,
    /// The session cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The bundle cannot be read.
    #[error(transparent)]
    Bundle(#[from] BundleSourceError),
}

/// Whether a part of a context is what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextCheck {
    /// Its hash is the recorded one.
    Verified,
    /// Its hash differs: the session was changed.
    Differs,
    /// It comes from a bundle, and its hash differs: redaction changed the text, so
    /// whether anything else changed cannot be verified.
    Redacted,
    /// The session does not contain it.
    Missing,
}

impl ContextCheck {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Differs => "differs",
            Self::Redacted => "redacted",
            Self::Missing => "missing",
        }
    }
}

/// What the model saw at one call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallContext {
    /// The id of the request.
    pub request: String,
    /// The id of the model's answer, if one is recorded.
    pub answer: Option<String>,
    /// The sub-agent that asked, if it was one.
    pub agent: Option<String>,
    /// When it was sent.
    pub at: Option<UnixMillis>,
    /// The model and its settings.
    pub settings: Json<'static>,
    /// The system prompt and the tools.
    pub frame: ContextPart,
    /// The messages, in order.
    pub messages: Vec<ContextPart>,
    /// How it differs from the request before it in the same conversation.
    pub since: Option<ContextChange>,
}

impl CallContext {
    /// Whether every part is what was sent.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        let mut parts = self.messages.iter().chain(std::iter::once(&self.frame));
        parts.all(|part| part.check == ContextCheck::Verified)
    }
}

/// A message, or the frame around the messages.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContextPart {
    /// Its recorded hash, in hexadecimal; empty if not even that is recorded.
    pub hash: String,
    /// Whether it is what was sent.
    pub check: ContextCheck,
    /// Its value; null if it is missing.
    pub value: Json<'static>,
}

/// What changed since the request before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextChange {
    /// The id of the request before.
    pub request: String,
    /// How many messages are the same, from the beginning.
    pub kept: u64,
    /// How many of its messages are gone or replaced.
    pub dropped: u64,
    /// How many messages are new.
    pub added: u64,
    /// Whether the system prompt or the tools changed.
    pub has_new_frame: bool,
    /// Whether the settings changed.
    pub has_new_settings: bool,
}

/// Builds the context of a call. `call` is the id of a request, of the model's
/// answer or of one of its tool calls, or `last` for the newest request.
///
/// # Errors
/// See [`ContextError`].
pub fn call_context(source: &dyn Source, call: &str) -> Result<CallContext, ContextError> {
    context_in(&SourceRows(source), call)
}

/// Like [`call_context`], from rows of any origin.
///
/// # Errors
/// See [`ContextError`].
pub fn context_in(rows: &dyn ContextRows, call: &str) -> Result<CallContext, ContextError> {
    let requests = Requests::read(rows, call)?;
    let wanted = requests.wanted(call)?;
    let messages = Messages::read(rows, &requests, &wanted)?;
    Ok(requests.context(&wanted, messages))
}
