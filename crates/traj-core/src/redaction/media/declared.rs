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

/// What a member says that is only the kind of a medium.
const KINDS: &[&str] = &["image", "audio", "video", "input_image", "input_audio", "image_url"];

/// What a `format` says of a sound.
const SOUND_FORMATS: &[&str] = &["wav", "mp3", "flac", "opus", "pcm16", "ogg"];

/// Whether a member of this name may say what medium it is.
pub(in crate::redaction) fn says_type(name: &str) -> bool {
    TYPES.contains(&name)
}

/// Whether a text may say what medium something is; most say something else.
pub(in crate::redaction) fn may_be_type(text: &str) -> bool {
    let first = text.trim_start().as_bytes().first().map(u8::to_ascii_lowercase);
    KINDS.iter().chain(SOUND_FORMATS).any(|kind| kind.as_bytes().first().copied() == first)
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
        if KINDS.contains(&lower.as_str()) {
            // A better answer may be in another member.
            return Some(
                TYPES
                    .iter()
                    .filter_map(|name| text_of(name))
                    .find(|text| text.contains('/'))
                    .map_or_else(|| sniffed(object, &lower), str::to_owned),
            );
        }
        if *name == "format" && SOUND_FORMATS.contains(&lower.as_str()) {
            return Some(format!("audio/{lower}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says() -> impl Strategy<Value = String> {
        let words: Vec<&str> = KINDS.iter().chain(SOUND_FORMATS).copied().collect();
        let word = prop::sample::select(words).prop_map(str::to_owned);
        let full = "(image|audio|Video|font|application)/(png|pdf|zip|octet-stream|vnd.x)";
        let blanks = prop::sample::select(vec!["", " ", "\t"]);
        let text = prop_oneof![word, full, "[a-z/_]{0,12}"];
        (blanks.clone(), text, any::<bool>(), blanks).prop_map(|(before, text, upper, behind)| {
            let text = if upper { text.to_uppercase() } else { text };
            format!("{before}{text}{behind}")
        })
    }

    proptest! {
        /// A string that the quick check skips is not one of them.
        #[test]
        fn whatever_declares_a_medium_may_be_a_type(
            name in prop::sample::select(TYPES.to_vec()),
            text in says(),
        ) {
            let mut object = Object::new();
            object.push(name, text.as_str());
            if declared_type(&object).is_some() {
                prop_assert!(says_type(name) && may_be_type(&text));
            }
        }
    }
}
