//! The head of a data URI: `data:image/png;base64,`.

use wide::u8x16;

use super::reader::Coding;

/// The number of bytes that are compared together.
const BLOCK: usize = 16;

const SCHEME: &[u8] = b"data:";

/// Longest head.
const LONGEST_HEAD: usize = 128;

/// The known top-level media types. Without `;base64`, only these count.
const TOP_LEVELS: &[&str] = &[
    "application",
    "audio",
    "chemical",
    "font",
    "image",
    "message",
    "model",
    "multipart",
    "text",
    "video",
];

/// The parsed head of a data URI and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UriHead<'t> {
    pub(super) start: usize,
    /// Where the body begins, after the comma.
    pub(super) body: usize,
    pub(super) media_type: &'t str,
    pub(super) coding: Coding,
}

impl<'t> UriHead<'t> {
    /// The first head in `text` at or after `place`.
    pub(super) fn find(text: &'t str, place: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut from = place + SCHEME.len() - 1;
        while let Some(colon) = next_colon(bytes, from) {
            from = colon + 1;
            let start = from - SCHEME.len();
            let is_scheme = bytes.get(start..from)?.eq_ignore_ascii_case(SCHEME);
            if is_scheme && let Some(head) = Self::read(text, start) {
                return Some(head);
            }
        }
        None
    }

    /// The head whose scheme begins at `start`.
    fn read(text: &'t str, start: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let first = start + SCHEME.len();
        let stretch = stretch(bytes.get(first..)?);
        let head_before = |comma: usize| text.get(first..first + comma);
        let mut commas = memchr::memchr_iter(b',', stretch);
        let nearest = commas.clone().next()?;
        let encoded = commas.find(|comma| head_before(*comma).is_some_and(says_base64));
        let (comma, coding) = match encoded {
            Some(comma) => (comma, Coding::Base64),
            // Without a media type, `data:` is just a word and a colon.
            None if stands_alone(bytes, start) && head_before(nearest).is_some_and(is_type) => {
                (nearest, Coding::Plain)
            }
            None => return None,
        };
        let media_type = head_before(comma)?.split(';').next().unwrap_or_default();
        Some(Self { start, body: first + comma + 1, media_type, coding })
    }
}

/// The first colon at or after `from` that follows an `a`. Colons alone are frequent:
/// a separate search for each next one would cost more than comparing every byte.
fn next_colon(bytes: &[u8], mut from: usize) -> Option<usize> {
    while let Some(block) = bytes.get(from..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        let before = bytes.get(from - 1..).and_then(<[u8]>::first_chunk::<BLOCK>)?;
        let colons = u8x16::new(*block).simd_eq(u8x16::splat(b':'));
        let letters = (u8x16::new(*before) | u8x16::splat(0x20)).simd_eq(u8x16::splat(b'a'));
        let found = (colons & letters).to_bitmask();
        if found != 0 {
            return Some(from + found.trailing_zeros() as usize);
        }
        from += BLOCK;
    }
    let is_end = |at: &usize| {
        bytes.get(*at) == Some(&b':') && matches!(bytes.get(*at - 1), Some(b'a' | b'A'))
    };
    (from..bytes.len()).find(is_end)
}

/// The bytes that may belong to a head. A space may only precede a parameter,
/// and the next `data:` starts another URI.
fn stretch(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.get(..LONGEST_HEAD).unwrap_or(bytes);
    let mut before = b' ';
    let end = bytes.iter().position(|byte| {
        let is_led = *byte == b' ' && before == b';';
        before = *byte;
        !is_led && (byte.is_ascii_whitespace() || matches!(byte, 0..32 | b'"' | b'<' | b'>'))
    });
    let bytes = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
    let next = bytes.windows(SCHEME.len()).position(|word| word.eq_ignore_ascii_case(SCHEME));
    bytes.get(..next.unwrap_or(bytes.len())).unwrap_or_default()
}

/// Whether a head, without its comma, ends with `;base64`.
pub(super) fn says_base64(head: &str) -> bool {
    let word = "base64";
    head.len().checked_sub(word.len()).and_then(|place| head.split_at_checked(place)).is_some_and(
        |(before, end)| {
            end.eq_ignore_ascii_case(word) && before.trim_end_matches(' ').ends_with(';')
        },
    )
}

/// Whether the scheme is a separate word, not the end of a longer one.
fn stands_alone(bytes: &[u8], start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|place| bytes.get(place));
    before.is_none_or(|byte| {
        !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'$')
    })
}

/// Whether a head, without its comma, is a media type with or without
/// parameters.
fn is_type(head: &str) -> bool {
    let is_token = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_')
            })
    };
    let mut parts = head.split(';');
    let is_type = parts.next().and_then(|kind| kind.split_once('/')).is_some_and(|(top, sub)| {
        TOP_LEVELS.iter().any(|known| top.eq_ignore_ascii_case(known)) && is_token(sub)
    });
    is_type
        && parts.all(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, "x"));
            is_token(name.trim_start_matches(' ')) && is_token(value)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_give_type_and_coding() {
        let (base64, plain) = (Coding::Base64, Coding::Plain);
        for (text, start, media_type, coding) in [
            ("see data:image/png;base64,x", 4, "image/png", base64),
            ("DATA:image/PNG;BASE64,x", 0, "image/PNG", base64),
            ("data:;base64,x", 0, "", base64),
            ("data:image/png; base64,x", 0, "image/png", base64),
            ("metadata:image/png;name=a,b;base64,x", 4, "image/png", base64),
            ("data:a,data:image/gif;base64,x", 7, "image/gif", base64),
            ("data:image/svg+xml,x", 0, "image/svg+xml", plain),
            ("(data:image/svg+xml;utf8,x", 1, "image/svg+xml", plain),
            ("data:text/plain; charset=utf-8,x", 0, "text/plain", plain),
        ] {
            let head = UriHead::find(text, 0).expect(text);
            assert_eq!((head.start, head.media_type, head.coding), (start, media_type, coding));
            assert_eq!(text.get(head.body..), Some("x"), "{text}");
        }
    }

    #[test]
    fn words_before_a_colon_are_not_heads() {
        for text in [
            "data: string, x",
            "data:image/*,x",
            "accept data:image/png or text, x",
            "data:\n  a: b, c",
            "data: {\"a\":1,\"b\":2}",
            "data:{\"a\":1,\"b\":2}",
            "data:a/b,c/d",
            "data:1,2,3",
            "url(data:…), x",
            "metadata:text/plain,x",
            "\"data:image/png\" + \";base64,\"",
            "data:<redacted:token:595633>;base64,x",
            "data:",
        ] {
            assert_eq!(UriHead::find(text, 0), None, "{text}");
        }
    }
}
