//! How a call to the app-server can fail.

use std::fmt;

use crate::binding::{RefusalKind, ServerText};

/// Why a call did not succeed. Only a refusal says anything about the thread.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppServerError {
    /// The server is gone; nothing is known about the call.
    #[error("the app-server is closed: {cause}")]
    Closed {
        /// How it went.
        cause: CloseCause,
    },
    /// No answer came in time; the call may still take effect.
    #[error("{method} was not answered in time")]
    TimedOut {
        /// The call.
        method: &'static str,
    },
    /// The caller gave up; the call may still take effect.
    #[error("{method} was cancelled")]
    Cancelled {
        /// The call.
        method: &'static str,
    },
    /// The server refused, with a code and a meaning.
    #[error("{method} was refused: {kind} ({code})")]
    Refused {
        /// The call.
        method: &'static str,
        /// The server's code.
        code: i64,
        /// What the refusal proves.
        kind: RefusalKind,
        /// The server's own words, for the person who asked.
        text: ServerText,
    },
    /// The answer lacks what every answer to this call has.
    #[error("the answer to {method} lacks {what}")]
    Decode {
        /// The call.
        method: &'static str,
        /// What is missing.
        what: &'static str,
    },
}

impl AppServerError {
    /// What a refusal proves; none for everything that is not a refusal.
    #[must_use]
    pub const fn refusal(&self) -> Option<RefusalKind> {
        match self {
            Self::Refused { kind, .. } => Some(*kind),
            _ => None,
        }
    }
}

/// How a server went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseCause {
    /// We closed it.
    ByUs,
    /// It ended its output, or exited.
    Exited {
        /// The exit code, if it had one and it is known.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
    /// Its input could not be written.
    BrokenPipe,
    /// It could not be started.
    NotStarted,
    /// Its version is too old, or it did not tell.
    UnsupportedVersion {
        /// The version that it stated.
        found: Option<String>,
    },
    /// It did not finish the handshake.
    Handshake,
}

impl fmt::Display for CloseCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByUs => formatter.write_str("closed by this side"),
            Self::Exited { code: Some(code), .. } => write!(formatter, "exited with code {code}"),
            Self::Exited { signal: Some(signal), .. } => {
                write!(formatter, "ended by signal {signal}")
            }
            Self::Exited { .. } => formatter.write_str("its output ended"),
            Self::BrokenPipe => formatter.write_str("its input is broken"),
            Self::NotStarted => formatter.write_str("it could not be started"),
            Self::UnsupportedVersion { found: Some(found) } => {
                write!(formatter, "version {found} is not supported")
            }
            Self::UnsupportedVersion { found: None } => formatter.write_str("it states no version"),
            Self::Handshake => formatter.write_str("the handshake failed"),
        }
    }
}
