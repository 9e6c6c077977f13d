//! The reply that a chat shows, or the reason why there is none.

use std::error::Error;

use traj_core::binding::{ServerText, chat_text};
use traj_core::port::AppServerError;
use traj_core::redaction::RedactionReport;

use super::ConversationOptions;
use crate::bound_turn::{BoundTurn, BoundTurnError};
use crate::lifecycle::{HowOpened, LifecycleError};
use crate::turn::TurnOutcome;

/// The reply to a message whose turn ran. Lost history is reported first, once.
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
    match &turn.ready.how {
        HowOpened::Replaced { lost } if lost.turns > 0 => {
            let turns = match lost.turns {
                1 => "its only turn is lost".to_owned(),
                turns => format!("its {turns} turns are lost"),
            };
            format!(
                "Codex no longer has the earlier thread of this conversation; {turns}.\n\n{text}"
            )
        }
        HowOpened::Rotated { .. } => {
            let notice = turn.ready.how.notice();
            notice.into_iter().chain([text]).collect::<Vec<_>>().join("\n\n")
        }
        _ => text,
    }
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
