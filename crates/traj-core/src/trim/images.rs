//! Inline images: where they stand, and what stands in their place.

use sha2::{Digest as _, Sha256};

use super::SENTINEL;
use crate::json::{Json, Object};

/// What tells one picture from another.
pub(super) type ImageKey = [u8; 16];

/// A cheap test for lines that may hold an image.
pub(super) fn may_hold_image(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"image").is_some()
}

/// Shows every inline image below `value` to `decide`, in order, and puts a
/// text in the place of those it does not want; returns the bytes saved.
pub(super) fn strip(value: &mut Json<'_>, decide: &mut dyn FnMut(ImageKey) -> bool) -> u64 {
    match value {
        Json::Array(items) => items.iter_mut().map(|item| strip(item, decide)).sum(),
        Json::Object(_) => {
            if let Some(image) = image_of(value) {
                let key = key_of(image.data);
                let (bytes, kind) = (image.data.len() as u64, image.text_kind);
                let note = format!(
                    "{SENTINEL} {} of {bytes} encoded bytes, repeated further on",
                    image.media_type
                );
                if decide(key) {
                    return 0;
                }
                let mut block = Object::with_capacity(2);
                block.push("type", kind);
                block.push("text", note);
                *value = Json::Object(block);
                return bytes;
            }
            let Json::Object(object) = value else { return 0 };
            object.iter_mut().map(|(_, member)| strip(member, decide)).sum()
        }
        _ => 0,
    }
}

struct Image<'j> {
    data: &'j str,
    media_type: String,
    /// The kind of text block that may stand where the image stood.
    text_kind: &'static str,
}

fn image_of<'j>(value: &'j Json<'_>) -> Option<Image<'j>> {
    let text = |value: &'j Json<'_>, name: &str| value.get(name).and_then(Json::as_str);
    let media_type = |kind: Option<&str>| kind.unwrap_or("image").to_owned();
    match text(value, "type")? {
        "image" => {
            if let Some(data) = text(value, "data") {
                let media_type = media_type(text(value, "mimeType"));
                return Some(Image { data, media_type, text_kind: "text" });
            }
            let source = value.get("source")?;
            let data = text(source, "data")?;
            let media_type = media_type(text(source, "media_type"));
            Some(Image { data, media_type, text_kind: "text" })
        }
        kind @ ("input_image" | "image_url") => {
            let link = value.get("image_url")?;
            let data = link.as_str().or_else(|| text(link, "url"))?;
            let rest = data.strip_prefix("data:")?;
            let media_type = media_type(rest.split([';', ',']).next());
            let text_kind = if kind == "input_image" { "input_text" } else { "text" };
            Some(Image { data, media_type, text_kind })
        }
        _ => None,
    }
}

fn key_of(data: &str) -> ImageKey {
    let digest = Sha256::digest(data.as_bytes());
    std::array::from_fn(|index| digest[index])
}
