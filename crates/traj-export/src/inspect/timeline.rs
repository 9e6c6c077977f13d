//! What happened, in a few words each.

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
        "user.message" | "assistant.message" => shorten(&message_text(data.get("message")?)),
        "prompt.submitted" => shorten(text("prompt")?),
        "session.ended" => short(text("status")?),
        "session.model_change" => {
            format!("{}/{}", short(text("provider")?), short(text("modelId")?))
        }
        "session.compaction" | "session.branch_summary" => shorten(text("summary")?),
        "session.info" => shorten(text("name")?),
        _ => return None,
    })
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
