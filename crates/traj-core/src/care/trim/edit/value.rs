//! Results and calls anywhere in a value: in rows of a Codex rollout, and in
//! sidecar events, which contain whole conversations.

use super::tally::{OpenItems, Tally};
use crate::capture::BlobDigest;
use crate::dialect::shape::{call, message};
use crate::json::Json;

/// What happened to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::care::trim) enum TextChange {
    /// There was no text.
    Nothing,
    /// It was already the replacement.
    Same,
    /// It was replaced.
    Changed,
}

impl TextChange {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Changed, _) | (_, Self::Changed) => Self::Changed,
            (Self::Same, _) | (_, Self::Same) => Self::Same,
            _ => Self::Nothing,
        }
    }
}

/// Trims every result and shortens every trim call in `value`; returns whether
/// anything changed.
pub(in crate::care::trim) fn trim_everywhere(
    value: &mut Json<'_>,
    wanted: &mut OpenItems,
    tally: &mut Tally,
) -> bool {
    let mut changed = false;
    match value {
        Json::Array(items) => {
            for item in items {
                changed |= trim_everywhere(item, wanted, tally);
            }
        }
        Json::Object(_) => {
            changed |= trim_object(value, wanted, tally);
            if let Json::Object(object) = value {
                for (_, member) in object.iter_mut() {
                    changed |= trim_everywhere(member, wanted, tally);
                }
            }
        }
        _ => {}
    }
    changed
}

fn trim_object(value: &mut Json<'_>, wanted: &mut OpenItems, tally: &mut Tally) -> bool {
    let Some(id) = call::any_id(value).map(str::to_owned) else { return false };
    let mut changed = false;
    if let Some(item) = wanted.target(&id)
        && !call::is_call(value)
    {
        let text = item.text();
        let mut outcome = TextChange::Nothing;
        if let Some(object) = value.as_object_mut() {
            for name in call::RESULTS {
                if let Some(member) = object.get_mut(name) {
                    outcome = outcome.and(replace_result(member, &text, tally));
                }
            }
        }
        if outcome != TextChange::Nothing {
            let first = wanted.take_target(&id).is_some();
            tally.applied += u64::from(first);
            tally.copies += u64::from(!first);
        }
        changed |= outcome == TextChange::Changed;
    }
    if let Some(item) = wanted.self_call(&id)
        && call::has_input(value)
    {
        let input = item.compacted_input();
        if let Some(object) = value.as_object_mut() {
            changed |= call::set_input(object, input);
        }
        tally.self_compacted += u64::from(wanted.take_self(&id).is_some());
    }
    changed
}

/// Replaces every text block in a list.
pub(in crate::care::trim) fn replace_texts(
    blocks: &mut [Json<'_>],
    text: &str,
    tally: &mut Tally,
) -> TextChange {
    let mut outcome = TextChange::Nothing;
    for block in blocks {
        if let Some(slot) = message::block_text_mut(block) {
            outcome = outcome.and(replace_result(slot, text, tally));
        }
    }
    outcome
}

/// Replaces a plain string.
pub(in crate::care::trim) fn replace_text(
    slot: &mut Json<'_>,
    text: &str,
    tally: &mut Tally,
) -> TextChange {
    let before = slot.as_str().map_or(0, str::len);
    if slot.as_str() == Some(text) {
        return TextChange::Same;
    }
    tally.trimmed_bytes += signed(before) - signed(text.len());
    *slot = Json::from(text.to_owned());
    TextChange::Changed
}

/// Replaces a result of any shape, keeping the shapes that readers rely on.
fn replace_result(slot: &mut Json<'_>, text: &str, tally: &mut Tally) -> TextChange {
    if let Some(blob) = blob_of(slot) {
        tally.blobs.insert(blob);
    }
    match slot {
        Json::Null | Json::Bool(_) | Json::Number(_) => TextChange::Nothing,
        Json::String(_) => replace_text(slot, text, tally),
        Json::Array(blocks) => replace_texts(blocks, text, tally),
        Json::Object(_) => match message::content_mut(slot) {
            Some(content @ (Json::String(_) | Json::Array(_))) => {
                replace_result(content, text, tally)
            }
            _ => {
                let before = slot.to_line().len();
                tally.trimmed_bytes += signed(before) - signed(text.len());
                *slot = Json::from(text.to_owned());
                TextChange::Changed
            }
        },
    }
}

/// The name of the blob for a string that was too long for its event.
pub(in crate::care::trim) fn blob_of(value: &Json<'_>) -> Option<BlobDigest> {
    let is_marker = value.get("truncated").and_then(Json::as_bool) == Some(true);
    value.get("blob").and_then(Json::as_str).filter(|_| is_marker).and_then(BlobDigest::parse)
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
