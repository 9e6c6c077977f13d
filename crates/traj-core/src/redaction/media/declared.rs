//! What an object says of itself: that it is a medium, and of which type.

use super::sniffed;
use crate::json::{Json, Object};

/// Members that hold the type.
const TYPES: &[&str] = &[
    "media_type",
    "mimeType",
    "mime_type",
    "mediaType",
    "contentType",
    "content_type",
    "format",
    "type",
];

/// Whether a member of this name may say what medium it is.
pub(in crate::redaction) fn says_type(name: &str) -> bool {
    TYPES.contains(&name)
}

/// Whether a text may say what medium something is; most say something else.
pub(in crate::redaction) fn may_be_type(text: &str) -> bool {
    let first = text.trim_start().as_bytes().first();
    first.is_some_and(|first| b"iav".contains(&first.to_ascii_lowercase()))
        || memchr::memchr(b'/', text.as_bytes()).is_some()
}

/// The media type an object declares, or the one its bytes announce.
pub(super) fn declared_type(object: &Object<'_>) -> Option<String> {
    let text_of = |name: &str| object.get(name).and_then(Json::as_str);
    for name in TYPES {
        let Some(declared) = text_of(name) else {
            continue;
        };
        let lower = declared.trim().to_ascii_lowercase();
        let top = lower.split('/').next().unwrap_or_default();
        if lower.contains('/')
            && (matches!(top, "image" | "audio" | "video" | "font")
                || lower.starts_with("application/pdf")
                || lower.starts_with("application/octet-stream")
                || lower.starts_with("application/vnd.")
                || lower.starts_with("application/zip"))
        {
            return Some(lower);
        }
        if matches!(
            lower.as_str(),
            "image" | "audio" | "video" | "input_image" | "input_audio" | "image_url"
        ) {
            // A better answer may stand in another member.
            return Some(
                TYPES
                    .iter()
                    .filter_map(|name| text_of(name))
                    .find(|text| text.contains('/'))
                    .map_or_else(|| sniffed(object, &lower), str::to_owned),
            );
        }
        if *name == "format"
            && matches!(lower.as_str(), "wav" | "mp3" | "flac" | "opus" | "pcm16" | "ogg")
        {
            return Some(format!("audio/{lower}"));
        }
    }
    None
}
