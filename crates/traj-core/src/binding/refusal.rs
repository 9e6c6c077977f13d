//! What an error from the server means.

use std::fmt;

use crate::binding::RefusalWordings;

/// The error code of an overloaded server that rejects a request without reading it.
pub const OVERLOADED: i64 = -32001;
const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const INTERNAL: i64 = -32603;

/// What a refusal proves. Only [`RefusalKind::ThreadGone`] may lead to a binding being replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalKind {
    /// No data of the thread is left: it was deleted, or never ran a turn.
    ThreadGone,
    /// The thread is not loaded in this server process, but may be resumable.
    ThreadNotLoaded,
    /// The thread is archived and must be unarchived first.
    ThreadArchived,
    /// Another process has the thread open.
    ThreadOpenElsewhere,
    /// The thread's file cannot be read.
    ThreadDamaged,
    /// The string is not a thread id.
    InvalidThreadId,
    /// The server does not support the method.
    Unsupported,
    /// There is no such turn to steer or interrupt.
    NoActiveTurn,
    /// The client did not enable the experimental API.
    ExperimentalApiOff,
    /// The login expired; a person has to log in again.
    LoginExpired,
    /// The server is overloaded; the request was not handled.
    Overloaded,
    /// Anything else.
    Other,
}

impl RefusalKind {
    /// Classifies an error by its code and message.
    #[must_use]
    pub fn classify(code: i64, message: &str, wordings: &RefusalWordings) -> Self {
        let message = message.to_lowercase();
        let says = |texts: &[String]| texts.iter().any(|text| message.contains(text.as_str()));
        match code {
            OVERLOADED => Self::Overloaded,
            _ if says(&wordings.gone) => Self::ThreadGone,
            _ if says(&wordings.open_elsewhere) => Self::ThreadOpenElsewhere,
            _ if says(&wordings.archived) => Self::ThreadArchived,
            _ if says(&wordings.invalid_id) => Self::InvalidThreadId,
            _ if says(&wordings.not_loaded) => Self::ThreadNotLoaded,
            _ if says(&wordings.no_active_turn) => Self::NoActiveTurn,
            _ if says(&wordings.experimental_off) => Self::ExperimentalApiOff,
            INTERNAL if says(&wordings.damaged) => Self::ThreadDamaged,
            UNKNOWN_METHOD => Self::Unsupported,
            // Codex reports an unknown method as an invalid request.
            INVALID_REQUEST if says(&wordings.unsupported) => Self::Unsupported,
            _ => Self::Other,
        }
    }

    /// A short, stable name for people and programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ThreadGone => "thread-gone",
            Self::ThreadNotLoaded => "thread-not-loaded",
            Self::ThreadArchived => "thread-archived",
            Self::ThreadOpenElsewhere => "thread-open-elsewhere",
            Self::ThreadDamaged => "thread-damaged",
            Self::InvalidThreadId => "invalid-thread-id",
            Self::Unsupported => "unsupported",
            Self::NoActiveTurn => "no-active-turn",
            Self::ExperimentalApiOff => "experimental-api-off",
            Self::LoginExpired => "login-expired",
            Self::Overloaded => "overloaded",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The server's own message. It may quote a prompt, so it is shown only to a person who asked for
/// it, never in an error message or a log.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerText(String);

impl ServerText {
    /// Wraps the server's message.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The message, for a reply to the person who started the turn.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ServerText({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages observed with 0.135.0 and 0.166.0; scenario 82 is the unknown variant.
    #[test]
    fn observed_refusals_are_classified() {
        use RefusalKind as K;
        let id = "00000000-0000-7000-8000-000000000000";
        let rows = [
            (-32600, format!("thread not found: {id}"), K::ThreadNotLoaded),
            (-32600, format!("thread not loaded: {id}"), K::ThreadNotLoaded),
            (-32600, format!("no rollout found for thread id {id}"), K::ThreadGone),
            (-32600, format!("thread {id} already has an active writer"), K::ThreadOpenElsewhere),
            (
                -32600,
                format!(
                    "session {id} is archived. Run `codex unarchive {id}` to unarchive it first."
                ),
                K::ThreadArchived,
            ),
            (-32600, "invalid session id: invalid character".to_owned(), K::InvalidThreadId),
            (-32600, "invalid thread id: invalid length".to_owned(), K::InvalidThreadId),
            (
                -32603,
                "final paginated rollout record at 7 is missing an ordinal".to_owned(),
                K::ThreadDamaged,
            ),
            (
                -32600,
                "Invalid request: unknown variant `x`, expected one of `initialize`".to_owned(),
                K::Unsupported,
            ),
            (-32601, "list_turns is not supported yet".to_owned(), K::Unsupported),
            (-32600, "no active turn to interrupt".to_owned(), K::NoActiveTurn),
            (-32600, "expected active turn id `A` but found `B`".to_owned(), K::NoActiveTurn),
            (
                -32600,
                "turn/start.collaborationMode requires experimentalApi capability".to_owned(),
                K::ExperimentalApiOff,
            ),
            (-32001, "Server overloaded; retry later.".to_owned(), K::Overloaded),
            (-32600, "Not initialized".to_owned(), K::Other),
            (-32603, "internal error".to_owned(), K::Other),
        ];
        let wordings = RefusalWordings::standard();
        for (code, text, expected) in rows {
            assert_eq!(K::classify(code, &text, &wordings), expected, "{text}");
        }
    }

    #[test]
    fn the_server_text_is_not_in_its_debug_output() {
        let text = ServerText::new("the prompt was: hello".to_owned());
        assert!(!format!("{text:?}").contains("hello"));
    }
}
