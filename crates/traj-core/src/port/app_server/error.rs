//! How a call to the app-server can fail.

use std::fmt;

use crate::binding::{RefusalKind, ServerText};

/// Why a call failed. Only a refusal says anything about the thread.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppServerError {
    /// The server exited; whether the call took effect is unknown.
    #[error("the app-server is closed: {cause}")]
    Closed {
        /// Why it closed.
        cause: CloseCause,
    },
    /// No response arrived in time; the call may still take effect.
    #[error("{method} timed out")]
    TimedOut {
        /// The call.
        method: &'static str,
    },
    /// The caller cancelled the call; it may still take effect.
    #[error("{method} was cancelled")]
    Cancelled {
        /// The call.
        method: &'static str,
    },
    /// The server refused, with a code and a message.
    #[error("{method} was refused: {kind} ({code})")]
    Refused {
        /// The call.
        method: &'static str,
        /// The server's code.
        code: i64,
        /// What the refusal proves.
        kind: RefusalKind,
        /// The server's own message, for the person who asked.
        text: ServerText,
    },
    /// The response lacks a required member.
    #[error("the response to {method} lacks {what}")]
    Decode {
        /// The call.
        method: &'static str,
        /// What is missing.
        what: &'static str,
    },
}

impl AppServerError {
    /// What a refusal proves; `None` for other errors.
    #[must_use]
    pub const fn refusal(&self) -> Option<RefusalKind> {
        match self {
            Self::Refused { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// Why the server closed; `None` for other errors.
    #[must_use]
    pub const fn close_cause(&self) -> Option<&CloseCause> {
        match self {
            Self::Closed { cause } => Some(cause),
            _ => None,
        }
    }
}

/// Why the connection to a server closed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseCause {
    /// The client closed it.
    ByUs,
    /// It closed its output, or exited.
    Exited {
        /// The exit code, if it is known.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// The end of its standard error, redacted. It may quote files and settings, so it is for
        /// the person who started the server.
        last_words: Option<ServerText>,
    },
    /// Writing to its input failed.
    BrokenPipe,
    /// It could not be started.
    NotStarted,
    /// The system could not start its program.
    NoProgram {
        /// The system's message.
        reason: String,
    },
    /// Its version is too old or unknown.
    UnsupportedVersion {
        /// The version that it stated.
        found: Option<String>,
    },
    /// It did not finish the handshake.
    Handshake,
}

impl CloseCause {
    /// The end of a server whose last words are unknown.
    #[must_use]
    pub const fn exited(code: Option<i32>, signal: Option<i32>) -> Self {
        Self::Exited { code, signal, last_words: None }
    }

    /// The end of the server's standard error, redacted, for the person who started it.
    #[must_use]
    pub fn last_words(&self) -> Option<&str> {
        match self {
            Self::Exited { last_words: Some(words), .. } => Some(words.reveal()),
            _ => None,
        }
    }

    /// What the person who started the server can do about it.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Exited { .. } | Self::BrokenPipe => {
                Some("run `codex app-server` in a terminal to see why it exits")
            }
            Self::NotStarted | Self::NoProgram { .. } => {
                Some("check that the Codex executable exists and can be run")
            }
            Self::UnsupportedVersion { .. } => Some("install a newer version of Codex"),
            Self::Handshake => Some("check that the program is the Codex CLI"),
            Self::ByUs => None,
        }
    }
}

impl fmt::Display for CloseCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByUs => formatter.write_str("closed by the client"),
            Self::Exited { code: Some(code), .. } => write!(formatter, "exited with code {code}"),
            Self::Exited { signal: Some(signal), .. } => {
                write!(formatter, "ended by signal {signal}")
            }
            Self::Exited { .. } => formatter.write_str("its output ended"),
            Self::BrokenPipe => formatter.write_str("cannot write to its input"),
            Self::NotStarted => formatter.write_str("it could not be started"),
            Self::NoProgram { reason } => write!(formatter, "it could not be started: {reason}"),
            Self::UnsupportedVersion { found: Some(found) } => {
                write!(formatter, "version {found} is not supported")
            }
            Self::UnsupportedVersion { found: None } => {
                formatter.write_str("its version is unknown")
            }
            Self::Handshake => formatter.write_str("the handshake failed"),
        }
    }
}
