//! Inline images: their representation, and the text that may replace one.

use super::text;
use crate::json::{Json, Object};

/// A cheap test for lines that may contain an image.
pub(crate) fn may_hold_image(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"image").is_some()
}

/// An inline image.
pub(crate) struct ImageBlock<'j> {
    pub(crate) data: &'j str,
    pub(crate) media_type: String,
    /// The kind of text block that may replace the image.
    pub(crate) text_kind: &'static str,
}

/// The inline image in a block, if it is one.
pub(crate) fn image_of<'j>(value: &'j Json<'_>) -> Option<ImageBlock<'j>> {
    let media_type = |kind: Option<&str>| kind.unwrap_or("image").to_owned();
    match text(value, "type")? {
        "image" => {
            if let Some(data) = text(value, "data") {
                let media_type = media_type(text(value, "mimeType"));
                return Some(ImageBlock { data, media_type, text_kind: "text" });
            }
            let source = value.get("source")?;
            let data = text(source, "data")?;
            let media_type = media_type(text(source, "media_type"));
            Some(ImageBlock { data, media_type, text_kind: "text" })
        }
        kind @ ("input_image" | "image_url") => {
            let link = value.get("image_url")?;
            let data = link.as_str().or_else(|| text(link, "url"))?;
            let rest = data.strip_prefix("data:")?;
            let media_type = media_type(rest.split([';', ',']).next());
            let text_kind = if kind == "input_image" { "input_text" } else { "text" };
            Some(ImageBlock { data, media_type, text_kind })
        }
        _ => None,
    }
}

/// A text block that replaces an image.
pub(crate) fn text_instead(kind: &'static str, note: String) -> Json<'static> {
    let mut block = Object::with_capacity(2);
    block.push("type", kind);
    block.push("text", note);
    Json::Object(block)
}
