//! The reply that a chat shows, or the reason why there is none.

use std::error::Error;

use traj_core::binding::{ServerText, chat_text};
use traj_core::port::AppServerError;
use traj_core::redaction::RedactionReport;

use super::ConversationOptions;
use crate::bound_turn::{BoundTurn, BoundTurnError};
use crate::lifecycle::LifecycleError;
use crate::turn::TurnOutcome;

/// The reply to a message whose turn ran, preceded by what the person must know about its thread.
pub(super) fn turn_reply(turn: &BoundTurn, options: &ConversationOptions) -> String {
    let text = match &turn.report.outcome {
        TurnOutcome::Completed if turn.report.text.is_empty() => {
            options.profile.empty_reply.clone()
        }
        TurnOutcome::Completed => turn.report.text.clone(),
        TurnOutcome::Interrupted => "Codex was interrupted.".to_owned(),
        TurnOutcome::TimedOut { .. } => "Codex took too long and was interrupted.".to_owned(),
        TurnOutcome::Failed { message } => {
            let message = message.as_deref().unwrap_or("codex app-server turn failed");
            format!("Codex app-server turn failed: {}", shown(message, options))
        }
    };
    let parts: Vec<String> = turn.ready.notices().into_iter().chain([text]).collect();
    parts.join("\n\n")
}

/// A failure with its causes, redacted and safe to show. Includes the server's own message, since
/// the reader is the user who started the turn.
pub(super) fn failure_reply(
    what: &str,
    error: &(dyn Error + 'static),
    options: &ConversationOptions,
) -> String {
    let mut messages: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let message = error.to_string();
        if !messages.contains(&message) {
            messages.push(message);
        }
        if let Some(words) = server_words(error) {
            messages.push(words.reveal().to_owned());
        }
        next = error.source();
    }
    format!("{what}: {}", shown(&messages.join(" | "), options))
}

/// The server's own message in an error that passes on its cause unchanged.
fn server_words<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a ServerText> {
    let of_thread = match error.downcast_ref::<BoundTurnError>() {
        Some(BoundTurnError::Thread(LifecycleError::Server(server))) => Some(server),
        _ => None,
    };
    match of_thread.or_else(|| error.downcast_ref::<AppServerError>()) {
        Some(AppServerError::Refused { text, .. }) => Some(text),
        _ => None,
    }
}

fn shown(text: &str, options: &ConversationOptions) -> String {
    let redacted = options.redactor.text(text, &mut RedactionReport::default()).into_inner();
    chat_text(&redacted)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use traj_core::binding::{BindingOrigin, BindingRecord};
    use traj_core::id::{ThreadId, TurnId};
    use traj_core::port::{DenyAll, ThreadSettings};
    use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
    use traj_core::timestamp::UnixMillis;

    use super::*;
    use crate::lifecycle::{HowOpened, ReadyThread};
    use crate::turn::TurnReport;

    fn reply(outcome: TurnOutcome, text: &str) -> String {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let options = ConversationOptions::standard(Arc::new(DenyAll::new()), redactor);
        let thread = ThreadId::parse("t").unwrap();
        let (turn, text) = (TurnId::parse("u").unwrap(), text.to_owned());
        let ready = ReadyThread {
            record: BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH),
            how: HowOpened::Resumed,
            settings: ThreadSettings::default(),
            effort: None,
            warnings: Vec::new(),
        };
        let report = TurnReport { turn, outcome, text, usage: None };
        turn_reply(&BoundTurn { ready, report }, &options)
    }

    /// Scenarios 67 and 68: a failure gives its reason, if known; partial text is not a reply.
    #[test]
    fn every_end_of_a_turn_has_its_reply() {
        let failed = |message: Option<&str>| {
            reply(TurnOutcome::Failed { message: message.map(str::to_owned) }, "partial")
        };
        assert_eq!(failed(Some("quota")), "Codex app-server turn failed: quota");
        let unknown = "Codex app-server turn failed: codex app-server turn failed";
        assert_eq!(failed(None), unknown);
        assert_eq!(reply(TurnOutcome::Interrupted, "partial"), "Codex was interrupted.");
        assert_eq!(reply(TurnOutcome::Completed, "whole"), "whole");
        let empty = reply(TurnOutcome::Completed, "");
        assert_eq!(empty, "Codex completed without a text reply.");
    }
}
