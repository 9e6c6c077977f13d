//! Cuts redacted data to its limits. Each cut leaves a marker and puts the
//! original into a blob.

use super::blob::Blob;
use crate::json::{Json, Object};
use crate::limits::Limits;
use crate::redaction::Redacted;

/// Cuts long strings, arrays and objects and deep nesting. Adds the originals
/// to `blobs`.
pub(super) fn to_limits(
    data: Redacted<Json<'static>>,
    limits: &Limits,
    blobs: &mut Vec<Blob>,
) -> Redacted<Json<'static>> {
    if fits(data.as_ref(), limits, 0) {
        return data;
    }
    DataCutter { limits, blobs }.value(data, 0)
}

/// Moves data that is too large as a whole into a blob.
pub(super) fn whole_data(
    data: &Redacted<Json<'static>>,
    limit: usize,
) -> (Redacted<Json<'static>>, Blob) {
    let text = data.to_line();
    let mut marker = Redacted::empty_object();
    marker
        .push_true("truncated")
        .push_number("originalBytes", text.as_ref().len())
        .push_number("limitBytes", limit)
        .push_static("reason", "trajectory-event-size-limit");
    let blob = store(text, &mut marker);
    (marker.into_json(), blob)
}

/// Whether nothing has to be cut, which is true of nearly all events. A string
/// never has more UTF-16 units than bytes.
fn fits(value: &Json<'_>, limits: &Limits, depth: usize) -> bool {
    match value {
        Json::String(string) => string.len() <= limits.text_units,
        Json::Array(items) => {
            depth < limits.depth
                && items.len() <= limits.array_items
                && items.iter().all(|item| fits(item, limits, depth + 1))
        }
        Json::Object(object) => {
            depth < limits.depth
                && object.len() <= limits.object_members
                && object.iter().all(|(_, member)| fits(member, limits, depth + 1))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => true,
    }
}

struct DataCutter<'a> {
    limits: &'a Limits,
    blobs: &'a mut Vec<Blob>,
}

impl DataCutter<'_> {
    fn value(&mut self, value: Redacted<Json<'static>>, depth: usize) -> Redacted<Json<'static>> {
        match value.as_ref() {
            Json::String(_) => self.string(value),
            Json::Array(_) | Json::Object(_) if depth >= self.limits.depth => {
                let mut marker = marker("trajectory-depth-limit");
                marker.push_number("limitDepth", self.limits.depth);
                self.blobs.push(store(value.to_line(), &mut marker));
                marker.into_json()
            }
            Json::Array(items) if items.len() > self.limits.array_items => {
                let limit = self.limits.array_items;
                let mut marker = marker("trajectory-array-size-limit");
                marker.push_number("originalLength", items.len()).push_number("limitItems", limit);
                self.container(value, limit, marker, depth)
            }
            Json::Object(object) if object.len() > self.limits.object_members => {
                let limit = self.limits.object_members;
                let mut marker = marker("trajectory-object-size-limit");
                marker.push_number("originalKeys", object.len()).push_number("limitKeys", limit);
                self.container(value, limit, marker, depth)
            }
            Json::Array(_) | Json::Object(_) => self.children(value, depth),
            Json::Null | Json::Bool(_) | Json::Number(_) => value,
        }
    }

    fn string(&mut self, value: Redacted<Json<'static>>) -> Redacted<Json<'static>> {
        let units = match value.as_ref() {
            // A string never has more UTF-16 units than bytes.
            Json::String(string) if string.len() > self.limits.text_units => {
                string.chars().map(char::len_utf16).sum::<usize>()
            }
            _ => return value,
        };
        if units <= self.limits.text_units {
            return value;
        }
        let string = match value.into_string() {
            Ok(string) => string,
            Err(value) => return value,
        };
        let mut marker = marker("trajectory-field-size-limit");
        marker
            .push_number("originalChars", units)
            .push_number("limitChars", self.limits.text_units)
            .push_number("originalBytes", string.as_ref().len())
            .push_string("preview", string.first_characters(self.limits.preview_characters));
        self.blobs.push(store(string, &mut marker));
        marker.into_json()
    }

    /// Cuts an array or object with more than `limit` values to the first ones,
    /// with the marker last.
    fn container(
        &mut self,
        whole: Redacted<Json<'static>>,
        limit: usize,
        mut marker: Redacted<Object<'static>>,
        depth: usize,
    ) -> Redacted<Json<'static>> {
        self.blobs.push(store(whole.to_line(), &mut marker));
        let kept = self.children(whole.truncated(limit), depth);
        kept.with_last("_truncated", marker.into_json())
    }

    fn children(
        &mut self,
        value: Redacted<Json<'static>>,
        depth: usize,
    ) -> Redacted<Json<'static>> {
        value.map_children(|child| self.value(child, depth + 1))
    }
}

fn marker(reason: &'static str) -> Redacted<Object<'static>> {
    let mut marker = Redacted::empty_object();
    marker.push_true("truncated").push_static("reason", reason);
    marker
}

/// Puts `text` into a blob and names it in the marker.
fn store(text: Redacted<String>, marker: &mut Redacted<Object<'static>>) -> Blob {
    let digest = text.sha256();
    let blob = Blob::with_digest(&digest, text);
    marker.push_string("blob", digest);
    blob
}
