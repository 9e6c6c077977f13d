//! Message rows of a session: the result's own row, and the trim call's block.

use super::tally::{OpenItems, Tally};
use super::value;
use crate::dialect::shape::message::MessageParts;
use crate::dialect::shape::{call, message};
use crate::json::Json;

/// Trims a message row; returns whether it changed.
///
/// Only the first of several rows for a call is trimmed, and only the first of
/// several blocks with the same id is shortened, as hosts and agents of the other
/// runtimes expect.
pub(in crate::care::trim) fn trim_row(
    row: &mut Json<'_>,
    wanted: &mut OpenItems,
    tally: &mut Tally,
) -> bool {
    let mut changed = false;
    match message::parts_of(row) {
        Some(MessageParts::Result(message)) => changed = trim_result(message, wanted, tally),
        Some(MessageParts::Calls(blocks)) => {
            for block in blocks {
                changed |= compact_call(block, wanted, tally);
            }
        }
        Some(MessageParts::Results(blocks)) => {
            for block in blocks.iter_mut().filter(|block| message::is_result_block(block)) {
                changed |= trim_result_block(block, wanted, tally);
            }
        }
        None => {}
    }
    changed
}

fn trim_result(message: &mut Json<'_>, wanted: &mut OpenItems, tally: &mut Tally) -> bool {
    let Some(id) = call::result_id(message).map(str::to_owned) else { return false };
    let Some(item) = wanted.take_target(&id) else { return false };
    let text = item.text();
    let Some(blocks) = message::blocks_mut(message).filter(|blocks| !blocks.is_empty()) else {
        tally.errors.push(format!("toolResult {id} has no content[] to trim"));
        tally.skipped += 1;
        return false;
    };
    finish(value::replace_texts(blocks, &text, tally), &id, tally)
}

/// A result inside a user message; its content may be a plain string.
fn trim_result_block(block: &mut Json<'_>, wanted: &mut OpenItems, tally: &mut Tally) -> bool {
    let Some(id) = call::result_id(block).map(str::to_owned) else { return false };
    let Some(item) = wanted.take_target(&id) else { return false };
    let text = item.text();
    let outcome = match message::content_mut(block) {
        Some(Json::Array(blocks)) => value::replace_texts(blocks, &text, tally),
        Some(content @ Json::String(_)) => value::replace_text(content, &text, tally),
        _ => value::TextChange::Nothing,
    };
    finish(outcome, &id, tally)
}

fn finish(outcome: value::TextChange, id: &str, tally: &mut Tally) -> bool {
    match outcome {
        value::TextChange::Nothing => {
            tally.errors.push(format!("toolResult {id} has no text blocks"));
            tally.skipped += 1;
            false
        }
        value::TextChange::Same => {
            tally.applied += 1;
            false
        }
        value::TextChange::Changed => {
            tally.applied += 1;
            true
        }
    }
}

fn compact_call(block: &mut Json<'_>, wanted: &mut OpenItems, tally: &mut Tally) -> bool {
    if !call::is_call(block) {
        return false;
    }
    let Some(id) = call::call_id(block).map(str::to_owned) else { return false };
    let Some(item) = wanted.take_self(&id) else { return false };
    let input = item.compacted_input();
    tally.self_compacted += 1;
    block.as_object_mut().is_some_and(|block| call::set_input(block, input))
}
