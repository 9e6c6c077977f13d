//! Message rows of a session: the result's own row, and the trim call's block.

use super::tally::{Tally, Wanted};
use super::value;
use crate::json::{Json, Object};

/// Trims a message row; returns whether it changed.
///
/// Of several rows for one call only the first is trimmed, and of several
/// blocks with one id only the first is shortened: that is what hosts and
/// agents of the other runtimes expect.
pub(super) fn trim_row(row: &mut Json<'_>, wanted: &mut Wanted, tally: &mut Tally) -> bool {
    if row.get("type").and_then(Json::as_str) != Some("message") {
        return false;
    }
    let Some(message) = row.as_object_mut().and_then(|row| row.get_mut("message")) else {
        return false;
    };
    match message.get("role").and_then(Json::as_str) {
        Some("toolResult" | "tool") => trim_result(message, wanted, tally),
        Some("assistant") => blocks(message).is_some_and(|blocks| {
            let mut changed = false;
            for block in blocks {
                changed |= compact_call(block, wanted, tally);
            }
            changed
        }),
        Some("user") => blocks(message).is_some_and(|blocks| {
            let mut changed = false;
            for block in blocks {
                if block.get("type").and_then(Json::as_str) == Some("tool_result") {
                    changed |= trim_result_block(block, wanted, tally);
                }
            }
            changed
        }),
        _ => false,
    }
}

/// The id of the call that a result answers.
pub(super) fn result_id<'j>(message: &'j Json<'_>) -> Option<&'j str> {
    ["toolCallId", "tool_call_id", "toolUseId", "tool_use_id"]
        .iter()
        .find_map(|name| message.get(name).and_then(Json::as_str))
}

/// Whether a row is the result of the call `id`.
pub(super) fn is_result_of(row: &Json<'_>, id: &str) -> bool {
    let Some(message) = row.get("message") else { return false };
    let is_result = |value: &Json<'_>| result_id(value) == Some(id);
    row.get("type").and_then(Json::as_str) == Some("message")
        && match message.get("role").and_then(Json::as_str) {
            Some("toolResult" | "tool") => is_result(message),
            Some("user") => message.get("content").and_then(Json::as_array).is_some_and(|blocks| {
                blocks.iter().any(|block| {
                    block.get("type").and_then(Json::as_str) == Some("tool_result")
                        && is_result(block)
                })
            }),
            _ => false,
        }
}

fn blocks<'j, 'a>(message: &'j mut Json<'a>) -> Option<&'j mut Vec<Json<'a>>> {
    match message.as_object_mut()?.get_mut("content")? {
        Json::Array(blocks) => Some(blocks),
        _ => None,
    }
}

fn trim_result(message: &mut Json<'_>, wanted: &mut Wanted, tally: &mut Tally) -> bool {
    let Some(id) = result_id(message).map(str::to_owned) else { return false };
    let Some(item) = wanted.take_target(&id) else { return false };
    let text = item.text();
    let Some(blocks) = blocks(message).filter(|blocks| !blocks.is_empty()) else {
        tally.errors.push(format!("toolResult {id} has no content[] to trim"));
        tally.skipped += 1;
        return false;
    };
    finish(value::replace_texts(blocks, &text, tally), &id, tally)
}

/// A result inside a user message; its content may be a plain text.
fn trim_result_block(block: &mut Json<'_>, wanted: &mut Wanted, tally: &mut Tally) -> bool {
    let Some(id) = result_id(block).map(str::to_owned) else { return false };
    let Some(item) = wanted.take_target(&id) else { return false };
    let text = item.text();
    let content = block.as_object_mut().and_then(|block| block.get_mut("content"));
    let outcome = match content {
        Some(Json::Array(blocks)) => value::replace_texts(blocks, &text, tally),
        Some(content @ Json::String(_)) => value::replace_text(content, &text, tally),
        _ => value::Replaced::Nothing,
    };
    finish(outcome, &id, tally)
}

fn finish(outcome: value::Replaced, id: &str, tally: &mut Tally) -> bool {
    match outcome {
        value::Replaced::Nothing => {
            tally.errors.push(format!("toolResult {id} has no text blocks"));
            tally.skipped += 1;
            false
        }
        value::Replaced::Same => {
            tally.applied += 1;
            false
        }
        value::Replaced::Changed => {
            tally.applied += 1;
            true
        }
    }
}

fn compact_call(block: &mut Json<'_>, wanted: &mut Wanted, tally: &mut Tally) -> bool {
    if !value::is_call_block(block) {
        return false;
    }
    let Some(id) = value::call_id(block).map(str::to_owned) else { return false };
    let Some(item) = wanted.take_self(&id) else { return false };
    let input = item.compacted_input();
    tally.self_compacted += 1;
    block.as_object_mut().is_some_and(|block| value::set_input(block, input))
}

/// Gives an object a member in the place of the old one; tells a change.
pub(super) fn set_member<'a>(object: &mut Object<'a>, name: &'static str, value: Json<'a>) -> bool {
    if object.get(name) == Some(&value) {
        return false;
    }
    object.insert(name, value);
    true
}
