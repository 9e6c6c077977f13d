//! Pieces as chat messages.

use traj_core::json::{Json, Object};
use traj_core::run::Outcome;

use crate::convert::losses::{Loss, Losses};
use crate::convert::notes::CallArguments;
use crate::convert::pieces::{Call, Message, Piece};
use crate::inspect::story::What;

/// The messages of a piece.
pub(super) fn chat_messages(piece: Piece, losses: &mut Losses) -> Vec<Json<'static>> {
    match piece {
        Piece::Message(message) => assistant(message, losses),
        Piece::Step(step) => match step.what {
            What::Prompt { text, images, .. } => {
                losses.add(Loss::Images, images);
                vec![of("user", text.text)]
            }
            _ => Vec::new(),
        },
    }
}

/// A message with only a text.
pub(super) fn of(role: &'static str, text: String) -> Json<'static> {
    let mut message = Object::new();
    message.push("role", role);
    message.push("content", text);
    Json::Object(message)
}

/// What the model answered in the end.
pub(super) fn final_output(model: &str, answer: Option<&str>) -> Json<'static> {
    let mut output = Object::new();
    output.push("model", model.to_owned());
    let choice = |text: &str| {
        let mut choice = Object::new();
        choice.push("message", of("assistant", text.to_owned()));
        choice.push("stop_reason", "stop");
        Json::Object(choice)
    };
    output.push("choices", Json::Array(answer.map(choice).into_iter().collect()));
    Json::Object(output)
}

fn assistant(message: Message, losses: &mut Losses) -> Vec<Json<'static>> {
    let mut object = Object::new();
    object.push("role", "assistant");
    object.push("source", "generate");
    let model = message.model.as_ref().and_then(|model| model.usage.model.clone());
    object.push_some("model", model);
    if message.reasoning.is_empty() {
        object.push("content", message.text());
    } else {
        let part = |kind: &'static str, text: &str| {
            let mut part = Object::new();
            part.push("type", kind);
            part.push(kind, text.to_owned());
            Json::Object(part)
        };
        let reasoning = message.reasoning.iter().map(|text| part("reasoning", text));
        let texts = message.texts.iter().map(|text| part("text", text));
        object.push("content", Json::Array(reasoning.chain(texts).collect()));
    }
    let ids: Vec<String> = message.calls.iter().map(id_of).collect();
    if !message.calls.is_empty() {
        let calls = message.calls.iter().zip(&ids).map(|(call, id)| asked(call, id));
        object.push("tool_calls", Json::Array(calls.collect()));
    }
    let mut messages = vec![Json::Object(object)];
    for (call, id) in message.calls.iter().zip(ids) {
        losses.add(Loss::Images, call.note.images);
        losses.add(Loss::NoCallId, u64::from(call.shown.id.is_none()));
        if call.shown.outcome != Outcome::Unanswered.name() {
            messages.push(answered(call, id));
        }
    }
    messages
}

fn id_of(call: &Call) -> String {
    call.shown.id.clone().unwrap_or_else(|| format!("call-{}", call.note.seq))
}

fn asked(call: &Call, id: &str) -> Json<'static> {
    let mut object = Object::new();
    object.push("id", id.to_owned());
    object.push("function", call.shown.tool.clone());
    object.push("type", "function");
    let mut wrapped = Object::new();
    let arguments = match &call.note.arguments {
        CallArguments::Value(value) if value.as_object().is_some() => value.clone(),
        CallArguments::None => Json::Object(wrapped),
        CallArguments::Value(value) => {
            wrapped.push("value", value.clone());
            Json::Object(wrapped)
        }
        CallArguments::Text(text) => {
            wrapped.push("text", text.clone());
            Json::Object(wrapped)
        }
    };
    object.push("arguments", arguments);
    Json::Object(object)
}

fn answered(call: &Call, id: String) -> Json<'static> {
    let shown = &call.shown;
    let mut object = Object::new();
    object.push("role", "tool");
    object.push("content", shown.output.text.clone());
    object.push("tool_call_id", id);
    object.push("function", shown.tool.clone());
    let mut metadata = Object::new();
    metadata.push("outcome", shown.outcome);
    metadata.push_some("exit_code", shown.exit_code);
    metadata.push_some("duration_ms", shown.duration_millis);
    object.push("metadata", Json::Object(metadata));
    let kinds = [
        (Outcome::TimedOut, "timeout"),
        (Outcome::Declined, "approval"),
        (Outcome::Interrupted, "cancelled"),
    ];
    let kind = kinds.iter().find(|(outcome, _)| outcome.name() == shown.outcome);
    let kind = kind.map(|(_, kind)| *kind).or(shown.is_failure.then_some("unknown"));
    if let Some(kind) = kind {
        let mut error = Object::new();
        error.push("type", kind);
        error.push("message", shown.error.clone().unwrap_or_else(|| shown.in_words.clone()));
        object.push("error", Json::Object(error));
    }
    Json::Object(object)
}
