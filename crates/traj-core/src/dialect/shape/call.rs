//! Calls and results anywhere in a value: as blocks of a message, in rows of a
//! rollout, and in sidecar events, which contain whole conversations.

use super::text;
use crate::json::{Json, Object};

/// Members that hold a tool's input, best first.
const INPUTS: [&str; 4] = ["arguments", "input", "parameters", "args"];

/// Members of a result that name its call.
const CALLS: [&str; 4] = ["toolCallId", "tool_call_id", "toolUseId", "tool_use_id"];

/// Members that hold a tool's output.
pub(crate) const RESULTS: [&str; 10] = [
    "content",
    "output",
    "result",
    "contentItems",
    "content_items",
    "aggregated_output",
    "aggregatedOutput",
    "formatted_output",
    "stdout",
    "stderr",
];

/// Whether a block is a tool call, however its type is spelled.
pub(crate) fn is_call(block: &Json<'_>) -> bool {
    let Some(kind) = text(block, "type") else { return false };
    let plain: String = crate::dialect::transcript::trim(kind)
        .chars()
        .filter(|character| !matches!(character, '_' | '-'))
        .map(|character| character.to_ascii_lowercase())
        .collect();
    matches!(plain.as_str(), "toolcall" | "tooluse" | "functioncall" | "customtoolcall")
}

/// The id of a call.
pub(crate) fn call_id<'j>(call: &'j Json<'_>) -> Option<&'j str> {
    call.get("call_id").or_else(|| call.get("id")).and_then(Json::as_str)
}

/// The id of the call that a value is the result of.
pub(crate) fn result_id<'j>(result: &'j Json<'_>) -> Option<&'j str> {
    CALLS.iter().find_map(|name| text(result, name))
}

/// The id of the call that a value of any kind belongs to.
pub(crate) fn any_id<'j>(value: &'j Json<'_>) -> Option<&'j str> {
    result_id(value).or_else(|| text(value, "call_id")).or_else(|| text(value, "id"))
}

/// Whether the payload of a rollout row is the output of a call.
pub(crate) fn is_output(payload: &Json<'_>) -> bool {
    text(payload, "type").is_some_and(|kind| kind.ends_with("_output"))
}

/// Whether a value holds a tool's input.
pub(crate) fn has_input(value: &Json<'_>) -> bool {
    is_call(value) || INPUTS.iter().any(|name| value.get(name).is_some())
}

/// Replaces the input of a call, with a string where it was a string; returns
/// whether the call changed.
pub(crate) fn set_input(call: &mut Object<'_>, input: Object<'static>) -> bool {
    let name = INPUTS.into_iter().find(|name| call.contains(name)).unwrap_or(INPUTS[0]);
    let input = Json::Object(input);
    let value = match call.get(name) {
        Some(Json::String(_)) => Json::from(input.to_line()),
        _ => input,
    };
    if call.get(name) == Some(&value) {
        return false;
    }
    call.insert(name, value);
    true
}
