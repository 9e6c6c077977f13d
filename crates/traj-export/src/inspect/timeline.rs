//! What happened, in a few words each.

use std::collections::VecDeque;

use serde::Serialize;
use traj_core::json::Json;

use super::tally::short;

/// One event in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Moment {
    /// Its place in the bundle.
    pub seq: u64,
    /// When, as its source wrote it.
    pub ts: String,
    /// What kind.
    pub kind: String,
    /// What it was about.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// How many moments of a long session are kept, from its start and from its
/// end: where something broke is mostly the end.
const FIRST: usize = 300;
const LAST: usize = 100;

/// The moments of a session, without those in the middle of a long one.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    first: Vec<Moment>,
    last: VecDeque<Moment>,
    omitted: u64,
}

impl Timeline {
    pub(super) fn push(&mut self, moment: Moment) {
        if self.first.len() < FIRST {
            self.first.push(moment);
            return;
        }
        if self.last.len() == LAST {
            self.last.pop_front();
            self.omitted += 1;
        }
        self.last.push_back(moment);
    }

    /// All that were kept, and how many were not.
    pub(super) fn finish(mut self) -> (Vec<Moment>, u64) {
        self.first.extend(self.last);
        (self.first, self.omitted)
    }
}

/// The moment of an event, if it is one to show.
pub(super) fn moment(kind: &str, event: &Json<'_>) -> Option<Moment> {
    let about = about(kind, event.get("data").unwrap_or(&Json::Null));
    Some(Moment {
        seq: event.get("seq")?.as_u64()?,
        ts: short(event.get("ts")?.as_str()?),
        kind: short(kind),
        about: about.unwrap_or_default(),
    })
}

fn about(kind: &str, data: &Json<'_>) -> Option<String> {
    let text = |name: &str| data.get(name).and_then(Json::as_str);
    Some(match kind {
        "tool.call" => short(text("name")?),
        "tool.result" => {
            let result = data.get("message").unwrap_or(data);
            let name = result.get("toolName").or_else(|| result.get("name"));
            let name = name.and_then(Json::as_str).unwrap_or("tool");
            let flag = |name| result.get(name).and_then(Json::as_bool);
            let is_error = flag("isError") == Some(true) || flag("success") == Some(false);
            format!("{} {}", short(name), if is_error { "failed" } else { "ok" })
        }
        "tool.timeout" => format!("{} timed out", short(text("name").unwrap_or("tool"))),
        "user.message" | "assistant.message" => {
            let message = data.get("message")?;
            error_of(message).unwrap_or_else(|| shorten(&message_text(message)))
        }
        "model.completed" => with_error(completion(data), data),
        "trace.artifacts" => with_error(text("finalStatus").unwrap_or_default(), data),
        "trace.truncated" => "recording ended here".to_owned(),
        "prompt.submitted" => shorten(text("prompt")?),
        "session.ended" => with_error(text("status").unwrap_or_default(), data),
        "session.model_change" => {
            format!("{}/{}", short(text("provider")?), short(text("modelId")?))
        }
        "session.compaction" | "session.branch_summary" => shorten(text("summary")?),
        "session.info" => shorten(text("name")?),
        _ => with_error(text("status").unwrap_or_default(), data),
    })
}

/// How a turn of the model ended.
fn completion(data: &Json<'_>) -> &'static str {
    let is_set = |name: &str| data.get(name).and_then(Json::as_bool) == Some(true);
    if is_set("timedOut") {
        "timed out"
    } else if is_set("aborted") {
        "aborted"
    } else {
        ""
    }
}

/// What is said of an end, and the error that led to it.
fn with_error(said: &str, data: &Json<'_>) -> String {
    let error = error_of(data);
    match (said.is_empty(), error) {
        (_, None) => short(said),
        (true, Some(error)) => error,
        (false, Some(error)) => format!("{}: {error}", short(said)),
    }
}

/// The error that the data of an event, or a message, tells of.
pub(super) fn error_of(data: &Json<'_>) -> Option<String> {
    let text = |value: &Json<'_>| {
        let text = value.as_str().or_else(|| value.get("message").and_then(Json::as_str))?;
        (!text.trim().is_empty()).then(|| shorten(text))
    };
    ["promptError", "terminalError", "errorMessage", "error"]
        .into_iter()
        .find_map(|name| data.get(name).and_then(text))
}

/// The first text of a message.
fn message_text(message: &Json<'_>) -> String {
    match message.get("content") {
        Some(Json::String(text)) => text.clone().into_owned(),
        Some(Json::Array(blocks)) => blocks
            .iter()
            .find_map(|block| block.get("text").and_then(Json::as_str))
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    }
}

fn shorten(text: &str) -> String {
    short(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The model that an event names.
pub(super) fn model_of(event: &Json<'_>) -> Option<String> {
    let text = |value: &Json<'_>, name: &str| {
        value.get(name).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    if let Some(model) = text(event, "modelId") {
        return Some(text(event, "provider").map_or(model.clone(), |of| format!("{of}/{model}")));
    }
    let message = event.get("data")?.get("message")?;
    let model = text(message, "model")?;
    Some(text(message, "provider").map_or(model.clone(), |of| format!("{of}/{model}")))
}
