//! Images, audio and documents in the formats of all providers.
//!
//! A marker replaces the bytes. It has the media type, the size and the SHA-256
//! of the decoded original: `<media:image/png;bytes=68;sha256=…>`.

mod declared;
mod extent;
mod head;
mod picture;
mod reader;
mod stream;
#[cfg(test)]
mod uri_tests;

use crate::json::{Json, Object};
use declared::declared_type;
pub(super) use declared::{may_be_type, says_type};
use extent::Extents;
use head::{UriHead, says_base64};
use reader::{Coding, Reader};
pub use stream::{MediaMark, MediaStream};

/// A smaller data URI is kept: a pixel, or an icon's metadata.
const MIN_IN_TEXT: usize = 128;
/// A longer string in a field of payload is payload.
const LONGEST_SMALL: usize = 256;
/// Shortest bare base64 string that counts as media.
const MIN_BARE: usize = 100;

/// How base64-encoded media begin, with their types.
const HEADS: &[(&str, &str)] = &[
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("Qk0", "image/bmp"),
    ("SUkqA", "image/tiff"),
    ("JVBERi0", "application/pdf"),
    ("SUQz", "audio/mpeg"),
    ("//uQ", "audio/mpeg"),
    ("T2dnUw", "audio/ogg"),
    ("ZkxhQw", "audio/flac"),
    ("AAAAHGZ0eX", "video/mp4"),
    ("AAAAIGZ0eX", "video/mp4"),
    ("AAAAGGZ0eX", "video/mp4"),
    ("GkXfo", "video/webm"),
    ("UEsDB", "application/zip"),
];

/// Members that may contain the bytes.
const BYTES: &[&str] = &[
    "data",
    "blob",
    "b64_json",
    "base64",
    "bytes_base64",
    "image_base64",
    "audio",
    "content",
    "file_data",
    "fileData",
];
/// Whether a member with this name may contain the bytes of a medium.
pub(super) fn holds_bytes(name: &str) -> bool {
    BYTES.contains(&name)
}

/// Type, size and digest of a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Medium {
    media_type: String,
    bytes: u64,
    sha256: String,
}

impl Medium {
    /// The marker that replaces the medium.
    pub(super) fn marker(&self) -> String {
        format!("<media:{};bytes={};sha256={}>", self.media_type, self.bytes, self.sha256)
    }

    /// Decodes a string, and measures and digests the bytes.
    fn read(media_type: &str, text: &str, coding: Coding) -> Self {
        let mut reader = Reader::new(coding);
        reader.push(text.as_bytes());
        reader.finish(media_type)
    }
}

/// The media type of a bare base64 string, by its first characters.
fn sniff(text: &str) -> Option<&'static str> {
    let (_, media_type) = HEADS.iter().find(|(head, _)| text.starts_with(head))?;
    Some(
        if *media_type == "image/webp"
            && text.get(11..16).is_some_and(|kind| kind.starts_with("BV"))
        {
            "audio/wav"
        } else {
            media_type
        },
    )
}

fn is_base64(text: &str) -> bool {
    is_base64_of(text, |_| false)
}

/// Whether both ends of a string consist of base64 and allowed bytes. The middle
/// is not checked.
fn is_base64_of(text: &str, is_allowed: impl Fn(&u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let edges = bytes.iter().take(4096).chain(bytes.iter().rev().take(64));
    edges.clone().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'\n' | b'\r')
            || is_allowed(byte)
    }) && edges.count() > 0
}

/// The medium, if all of the string is a data URI or bare base64.
pub(super) fn whole(text: &str) -> Option<Medium> {
    if text.len() < 16 {
        return None;
    }
    if let Some(rest) = strip_ignore_case(text, "data:") {
        let (head, body) = rest.split_once(',')?;
        let media_type = head.split(';').next().unwrap_or_default();
        if head.len() < 128
            && says_base64(head)
            && is_base64_of(body, |byte| *byte == b'%')
            && body.len() * 3 / 4 >= MIN_IN_TEXT
        {
            return Some(Medium::read(media_type, body, Coding::Base64));
        }
        return None;
    }
    if text.len() >= MIN_BARE
        && let Some(media_type) = sniff(text)
        && is_base64(text)
    {
        return Some(Medium::read(media_type, text, Coding::Base64));
    }
    None
}

/// Whether a string under the name of a payload is too long for a name or a URL.
pub(super) fn is_long(text: &str) -> bool {
    text.len() > LONGEST_SMALL && text.chars().nth(LONGEST_SMALL).is_some()
}

/// The medium of a long value that begins with `data:`, whatever follows. With
/// a space or a line end after the colon, it is an event of a stream, or prose.
pub(super) fn long_uri(text: &str) -> Option<Medium> {
    let rest = strip_ignore_case(text, "data:").filter(|_| is_long(text))?;
    let is_uri = match rest.split_once(',') {
        Some((head, _)) if head.len() < 128 => !head.contains(char::is_whitespace),
        _ => !rest.contains(char::is_whitespace),
    };
    is_uri.then(|| {
        let (start, coding) = bytes_of(text);
        let head = rest.split([',', ';']).next().unwrap_or_default();
        let media_type = if head.contains('/') { head } else { "text/plain" };
        Medium::read(media_type, text.get(start..).unwrap_or_default(), coding)
    })
}

/// The medium of a long string in a field of payload, whatever its bytes are.
pub(super) fn payload(text: &str) -> Medium {
    whole(text).or_else(|| long_uri(text)).unwrap_or_else(|| {
        let media_type = if text.trim_start().starts_with("<svg") {
            "image/svg+xml"
        } else {
            "application/octet-stream"
        };
        Medium::read(media_type, text, Coding::Plain)
    })
}

fn strip_ignore_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    if head.eq_ignore_ascii_case(prefix) { text.get(prefix.len()..) } else { None }
}

/// Whether there may be data URIs inside a longer string.
pub(super) fn may_be_in(text: &str) -> bool {
    text.len() >= MIN_IN_TEXT && UriHead::find(text, 0).is_some()
}

/// The data URIs inside a longer string, with their ranges.
pub(super) fn in_text(text: &str) -> Vec<(usize, usize, Medium)> {
    let mut out = Vec::new();
    let mut extents = Extents::new(text.as_bytes());
    let mut place = 0;
    while let Some(head) = UriHead::find(text, place) {
        let end = extents.end(&head);
        let length = match head.coding {
            Coding::Base64 => (end - head.body) * 3 / 4,
            Coding::Plain => end - head.start,
        };
        place = head.body;
        if length >= MIN_IN_TEXT
            && let Some(body) = text.get(head.body..end)
        {
            out.push((head.start, end, Medium::read(head.media_type, body, head.coding)));
            place = end;
        }
    }
    out
}

/// Where the encoded bytes begin in a string that is a medium, and their coding.
fn bytes_of(text: &str) -> (usize, Coding) {
    let Some((head, body)) = strip_ignore_case(text, "data:").and_then(|rest| rest.split_once(','))
    else {
        return (0, Coding::Base64);
    };
    let is_encoded = says_base64(head) || is_base64(body);
    (text.len() - body.len(), if is_encoded { Coding::Base64 } else { Coding::Plain })
}

/// Replaces the bytes in an object that declares a media type, and adds `bytes`
/// and `sha256`. Returns whether it replaced anything.
pub(super) fn object(object: &mut Object<'_>) -> bool {
    let Some(media_type) = declared_type(object) else {
        return false;
    };
    let is_image = media_type.get(..5).is_some_and(|top| top.eq_ignore_ascii_case("image"));
    let Some((name, text)) = BYTES.iter().find_map(|name| {
        let text = object.get(name)?.as_str()?;
        let is_hidden = text.starts_with("<media:") || text.starts_with("<redacted");
        let looks_encoded =
            !text.is_empty() && (strip_ignore_case(text, "data:").is_some() || is_base64(text));
        // The `data` of an image counts even if it is damaged or empty.
        let is_medium = looks_encoded && (*name != "content" || text.len() > MIN_BARE)
            || is_image && *name == "data";
        (!is_hidden && is_medium).then_some((*name, text))
    }) else {
        return false;
    };
    let (start, coding) = bytes_of(text);
    let medium = Medium::read(&media_type, text.get(start..).unwrap_or_default(), coding);
    object.insert(name, medium.marker());
    object.insert("bytes", medium.bytes);
    object.insert("sha256", medium.sha256);
    true
}

/// The media type of the bytes in an object, by their first characters.
fn sniffed(object: &Object<'_>, fallback: &str) -> String {
    BYTES
        .iter()
        .filter_map(|name| object.get(name).and_then(Json::as_str))
        .find_map(sniff)
        .map_or_else(|| fallback.trim_start_matches("input_").to_owned(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::reader::STANDARD;
    use super::*;

    fn pixel() -> String {
        // A PNG signature and filler; nothing decodes the image.
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.extend((0..200_u8).map(|byte| byte.wrapping_mul(37)));
        STANDARD.encode(bytes)
    }

    fn digest() -> String {
        Medium::read("image/png", &pixel(), Coding::Base64).sha256
    }

    #[test]
    fn every_format_is_recognised() {
        for json in [
            format!(r#"{{"type":"image","data":"{}","mimeType":"image/png"}}"#, pixel()),
            format!(r#"{{"type":"base64","media_type":"image/png","data":"{}"}}"#, pixel()),
            format!(r#"{{"mimeType":"image/png","data":"{}"}}"#, pixel()),
            format!(r#"{{"mimeType":"image/png","blob":"{}"}}"#, pixel()),
            format!(r#"{{"type":"image","data":"data:image/png;base64,{}"}}"#, pixel()),
        ] {
            let Ok(Json::Object(mut value)) = Json::parse(&json) else { panic!("not an object") };
            assert!(object(&mut value), "{json}");
            assert_eq!(value.get("bytes").and_then(Json::as_u64), Some(208));
            assert_eq!(value.get("sha256").and_then(Json::as_str), Some(digest().as_str()));
            assert!(!object(&mut value), "twice");
        }
        assert!(whole(&pixel()).is_some());
        assert!(whole(&format!("data:image/png;base64,{}", pixel())).is_some());
        assert_eq!(in_text(&format!("see ![x](data:image/png;base64,{}) there", pixel())).len(), 1);
    }

    #[test]
    fn image_data_is_hidden_even_if_damaged_or_empty() {
        for (data, bytes) in [(" aGVs bG8= ", 5), ("/9j/..%", 3), ("", 0)] {
            let json = format!(r#"{{"type":" IMAGE ","data":"{data}"}}"#);
            let Ok(Json::Object(mut value)) = Json::parse(&json) else { panic!("not an object") };
            assert!(object(&mut value), "{json}");
            assert!(value.get("data").unwrap().as_str().unwrap().starts_with("<media:image"));
            assert_eq!(value.get("bytes").and_then(Json::as_u64), Some(bytes), "{json}");
            assert!(!object(&mut value), "twice");
        }
    }

    #[test]
    fn small_uris_are_kept() {
        assert_eq!(whole("data:image/png;base64,O8PG2++j5uCo9EcE"), None);
        assert!(in_text("charset=utf-8;base64").is_empty());
    }
}
