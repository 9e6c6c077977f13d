//! Images of a turn: checks and sniffs inline data, and distinguishes paths from URLs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// File extensions of images.
const ENDINGS: [&str; 6] = [".avif", ".gif", ".jpeg", ".jpg", ".png", ".webp"];

/// Checks inline image data and returns a data URL with the type detected from the bytes.
///
/// White space is removed. Anything but base64 of a PNG, JPEG, WEBP or GIF is rejected.
#[must_use]
pub(super) fn inline_image(mime: &str, data: &str) -> Option<String> {
    if !has_prefix(mime.trim(), "image/") {
        return None;
    }
    let compact: String = data.chars().filter(|character| *character > ' ').collect();
    let bytes = STANDARD.decode(&compact).ok()?;
    let sniffed = sniff(&bytes)?;
    Some(format!("data:{sniffed};base64,{compact}"))
}

fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        _ => None,
    }
}

/// Whether the media type or the file name says that this is an image.
pub(super) fn is_image(mime: Option<&str>, location: &str) -> bool {
    let name = location.split(['?', '#']).next().unwrap_or(location).to_lowercase();
    mime.is_some_and(|mime| has_prefix(mime, "image/"))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Where an image is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ImageLocation {
    Local(String),
    Remote(String),
}

/// Distinguishes local paths from URLs; `None` for an invalid `file:` URL.
pub(super) fn locate(text: &str) -> Option<ImageLocation> {
    if has_prefix(text, "file://") {
        return file_path(text).map(ImageLocation::Local);
    }
    let bytes = text.as_bytes();
    let is_windows =
        matches!(bytes, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let is_remote = text.starts_with("//") || (!is_windows && has_scheme(text));
    let owned = text.to_owned();
    Some(if is_remote { ImageLocation::Remote(owned) } else { ImageLocation::Local(owned) })
}

fn has_prefix(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The path of a `file:` URL on this host, with escapes decoded.
fn file_path(text: &str) -> Option<String> {
    let rest = text.get("file://".len()..)?;
    let (host, path) = rest.find('/').map(|at| rest.split_at(at))?;
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let decoded = String::from_utf8(bytes).ok()?;
    (!decoded.contains('\0')).then_some(decoded)
}
