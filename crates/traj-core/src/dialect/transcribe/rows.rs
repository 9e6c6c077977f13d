//! Parts of rows: content, outcomes and tokens.

use crate::json::{Json, Number, Object};
use crate::run::{Content, Outcome, StatedCost, Usage};

/// Content as it is, or as one text if a reader would take parts of it for calls
/// or results.
pub(super) fn content_of(content: Content<'_>) -> Json<'_> {
    match content {
        Content::None => Json::from(""),
        Content::Text(text) => Json::from(text),
        Content::Value(value) if is_plain(value) => value.clone(),
        Content::Value(_) => Json::from(content.to_text()),
    }
}

/// Whether a value is a text, or blocks of texts and images.
fn is_plain(value: &Json<'_>) -> bool {
    let is_block = |block: &Json<'_>| {
        let kind = block.get("type").and_then(Json::as_str);
        kind.is_some_and(|kind| matches!(kind, "text" | "image"))
    };
    match value {
        Json::String(_) => true,
        Json::Array(blocks) => blocks.iter().all(is_block),
        _ => false,
    }
}

/// The members that state how a call failed.
pub(super) fn failure_members<'r>(outcome: &Outcome<'r>, details: &mut Object<'r>) {
    match outcome {
        Outcome::Failed(failure) => {
            details.push_some("exitCode", failure.exit_code);
            details.push_some("signal", failure.signal.clone());
            details.push_some("error", failure.error.clone());
        }
        Outcome::TimedOut => details.push("timedOut", true),
        Outcome::Declined => details.push("status", "declined"),
        Outcome::Interrupted => details.push("status", "interrupted"),
        _ => {}
    }
}

/// Tokens as OpenClaw writes them: what was read from a cache or written to one
/// is not part of the input.
pub(super) fn usage_object<'r>(usage: &Usage, cost: Option<StatedCost>) -> Json<'r> {
    let beside = usage.cached.saturating_add(usage.cache_write);
    let mut object = Object::new();
    object.push("input", usage.input.saturating_sub(beside));
    object.push("output", usage.output);
    object.push("cacheRead", usage.cached);
    object.push("cacheWrite", usage.cache_write);
    object.push("reasoning", usage.reasoning);
    object.push("totalTokens", usage.total());
    if let Some(cost) = cost.and_then(|cost| Number::from_f64(cost.dollars)) {
        let mut total = Object::new();
        total.push("total", cost);
        object.push("cost", Json::Object(total));
    }
    Json::Object(object)
}
