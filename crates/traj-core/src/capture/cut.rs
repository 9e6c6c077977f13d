//! Cutting redacted data to its limits, with a marker and a blob for what is
//! cut.

use super::blob::Blob;
use crate::json::{Json, Object};
use crate::limits::Limits;
use crate::redaction::Redacted;

/// Cuts texts, arrays, objects and depth; what is cut is added to `blobs`.
pub(super) fn to_limits(
    data: Redacted<Json<'static>>,
    limits: &Limits,
    blobs: &mut Vec<Blob>,
) -> Redacted<Json<'static>> {
    if fits(data.as_ref(), limits, 0) {
        return data;
    }
    let mut cut = Vec::new();
    let data = data.map(|data| Cutter { limits, cut: &mut cut }.value(data, 0));
    blobs.extend(cut);
    data
}

/// Puts data that is too large as a whole into a blob.
pub(super) fn whole_data(
    data: &Redacted<Json<'static>>,
    limit: usize,
) -> (Redacted<Json<'static>>, Blob) {
    let blob = Blob::new(data.to_line());
    let mut marker = Object::with_capacity(5);
    marker.push("truncated", true);
    marker.push("originalBytes", blob.text().as_ref().len());
    marker.push("limitBytes", limit);
    marker.push("reason", "trajectory-event-size-limit");
    name_blob(&mut marker, &blob);
    (Redacted::part_of_redacted(Json::Object(marker)), blob)
}

/// Whether nothing has to be cut, as is so of nearly all events. A text has at
/// most as many UTF-16 units as bytes.
fn fits(value: &Json<'_>, limits: &Limits, depth: usize) -> bool {
    match value {
        Json::String(text) => text.len() <= limits.text_units,
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

struct Cutter<'a> {
    limits: &'a Limits,
    cut: &'a mut Vec<Blob>,
}

impl Cutter<'_> {
    fn value(&mut self, value: Json<'static>, depth: usize) -> Json<'static> {
        match value {
            Json::String(text) => self.text(text.into_owned()),
            Json::Array(_) | Json::Object(_) if depth >= self.limits.depth => {
                let mut marker = marker("trajectory-depth-limit");
                marker.push("limitDepth", self.limits.depth);
                self.store(value.to_line(), &mut marker);
                Json::Object(marker)
            }
            Json::Array(items) => self.array(items, depth),
            Json::Object(object) => self.object(object, depth),
            scalar => scalar,
        }
    }

    fn text(&mut self, text: String) -> Json<'static> {
        // A text has at most as many UTF-16 units as bytes.
        if text.len() <= self.limits.text_units {
            return Json::from(text);
        }
        let units = text.chars().map(char::len_utf16).sum::<usize>();
        if units <= self.limits.text_units {
            return Json::from(text);
        }
        let mut marker = marker("trajectory-field-size-limit");
        marker.push("originalChars", units);
        marker.push("limitChars", self.limits.text_units);
        marker.push("originalBytes", text.len());
        let preview: String = text.chars().take(self.limits.preview_characters).collect();
        marker.push("preview", preview);
        self.store(text, &mut marker);
        Json::Object(marker)
    }

    fn array(&mut self, mut items: Vec<Json<'static>>, depth: usize) -> Json<'static> {
        let limit = self.limits.array_items;
        let mut cut_here = None;
        if items.len() > limit {
            let mut marker = marker("trajectory-array-size-limit");
            marker.push("originalLength", items.len());
            marker.push("limitItems", limit);
            let whole = Json::Array(items);
            self.store(whole.to_line(), &mut marker);
            items = if let Json::Array(items) = whole { items } else { Vec::new() };
            items.truncate(limit);
            cut_here = Some(Json::Object(marker));
        }
        let mut kept: Vec<Json<'static>> =
            items.into_iter().map(|item| self.value(item, depth + 1)).collect();
        kept.extend(cut_here);
        Json::Array(kept)
    }

    fn object(&mut self, mut object: Object<'static>, depth: usize) -> Json<'static> {
        let limit = self.limits.object_members;
        let mut cut_here = None;
        if object.len() > limit {
            let mut marker = marker("trajectory-object-size-limit");
            marker.push("originalKeys", object.len());
            marker.push("limitKeys", limit);
            let whole = Json::Object(object);
            self.store(whole.to_line(), &mut marker);
            object = if let Json::Object(object) = whole { object } else { Object::new() };
            object.truncate(limit);
            cut_here = Some(Json::Object(marker));
        }
        let mut kept: Object<'static> =
            object.into_iter().map(|(name, value)| (name, self.value(value, depth + 1))).collect();
        kept.push_some("_truncated", cut_here);
        Json::Object(kept)
    }

    fn store(&mut self, text: String, marker: &mut Object<'static>) {
        let blob = Blob::new(Redacted::part_of_redacted(text));
        name_blob(marker, &blob);
        self.cut.push(blob);
    }
}

fn marker(reason: &'static str) -> Object<'static> {
    let mut marker = Object::with_capacity(8);
    marker.push("truncated", true);
    marker.push("reason", reason);
    marker
}

fn name_blob(marker: &mut Object<'static>, blob: &Blob) {
    marker.push("blob", blob.digest().as_str().to_owned());
}
