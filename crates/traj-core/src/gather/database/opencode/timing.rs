//! What the order of opencode's rows depends on: who wrote a message, and when its
//! parts happened.

use crate::json::{Json, Object};
use crate::port::Cell;

/// Deep enough for `state.time.start`.
const DEPTH: usize = 4;

/// What is known of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageFacts {
    pub(super) is_assistant: bool,
    /// Whether its text replaces the conversation before it.
    is_summary: bool,
    /// Whether a fork copied it.
    pub(super) is_inherited: bool,
    pub(super) completed: Option<i64>,
}

impl MessageFacts {
    /// The facts of a message written at `at`, in a session created at `created`.
    pub(super) fn of(data: Option<&Cell>, at: Option<i64>, created: Option<i64>) -> Self {
        let text = data.and_then(Cell::as_str).unwrap_or_default();
        Self::of_json(&Json::parse_shallow(text, DEPTH).unwrap_or_default(), at, created)
    }

    pub(super) fn of_json(data: &Json<'_>, at: Option<i64>, created: Option<i64>) -> Self {
        Self {
            is_assistant: data.get("role").and_then(Json::as_str) == Some("assistant"),
            is_summary: data.get("summary").and_then(Json::as_bool) == Some(true),
            is_inherited: at.zip(created).is_some_and(|(at, created)| at < created),
            completed: data.get("time").and_then(|time| time.get("completed")?.as_i64()),
        }
    }

    /// Whose message it is.
    pub(super) const fn role(self) -> &'static str {
        match (self.is_assistant, self.is_summary) {
            (false, _) => "user",
            (true, false) => "assistant",
            (true, true) => "summary",
        }
    }
}

/// When a part happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartTimes {
    pub(super) written: Option<i64>,
    pub(super) started: Option<i64>,
    /// When the tool answered; only of a finished tool part.
    pub(super) ended: Option<i64>,
}

impl PartTimes {
    pub(super) fn of(data: Option<&Cell>, written: Option<i64>) -> Self {
        let text = data.and_then(Cell::as_str).unwrap_or_default();
        Self::of_json(&Json::parse_shallow(text, DEPTH).unwrap_or_default(), written)
    }

    pub(super) fn of_json(data: &Json<'_>, written: Option<i64>) -> Self {
        let is_tool = data.get("type").and_then(Json::as_str) == Some("tool");
        let state = data.get("state").filter(|_| is_tool);
        let time = state.and_then(|state| state.get("time")).or_else(|| data.get("time"));
        let time = |name: &str| time.and_then(|time| time.get(name)?.as_i64());
        let status = state.and_then(|state| state.get("status")?.as_str());
        let is_finished = matches!(status, Some("completed" | "error"));
        let ended = is_finished.then(|| time("end").or_else(|| time("start")).or(written));
        Self { written, started: time("start"), ended: ended.flatten() }
    }
}

/// A tool part, as it was when its call began.
pub(super) fn call_of(part: &Json<'_>) -> Option<Json<'static>> {
    let state = part.get("state")?;
    let mut began = Object::new();
    began.push("status", "running");
    began.push_some("input", state.get("input").cloned());
    let start = state.get("time").and_then(|time| time.get("start")).cloned();
    began.push_some("time", start.map(|start| Object::from_iter([("start", start)])));
    let mut call = part.as_object()?.clone();
    call.insert("state", began);
    Some(Json::from(call).into_owned())
}
