//! The marker that replaces a secret: `<redacted:kind:3f9a1c>`.
//!
//! The six digits are the start of an HMAC over kind and secret. The same secret
//! gets the same digits in all events and files, and only the holder of the key
//! can test which secret they belong to. A string in the input that merely looks
//! like a marker cannot be distinguished from an older marker: it is kept and
//! counted, but does not protect the text around it.

use std::fmt;
use std::sync::LazyLock;

use hmac::{Hmac, KeyInit as _, Mac as _};
use memchr::memmem::Finder;
use sha2::Sha256;

const OPEN: &[u8] = b"<redacted:";
const HEX: usize = 6;
const MAX_KIND: usize = 64;

/// The secret key of the markers.
#[derive(Clone)]
pub struct MarkerKey([u8; 32]);

impl MarkerKey {
    /// Wraps key bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key of random bytes, which `fill` writes: `getrandom::fill`, for
    /// example.
    ///
    /// # Errors
    /// If `fill` fails.
    pub fn from_random<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut bytes = [0; 32];
        fill(&mut bytes)?;
        Ok(Self::new(bytes))
    }

    /// The key bytes, for storing them.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for MarkerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MarkerKey(…)")
    }
}

/// The prepared key. The first step of the HMAC is the same for every secret.
#[derive(Clone)]
pub(super) struct Stamp(Option<Hmac<Sha256>>);

impl Stamp {
    pub(super) fn new(key: &MarkerKey) -> Self {
        // HMAC accepts keys of any length.
        Self(Hmac::new_from_slice(&key.0).ok())
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stamp(…)")
    }
}

/// The hexadecimal digits in a marker: a short keyed hash of the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits([u8; HEX]);

/// Computes the digits of a secret.
pub(super) fn digits(stamp: &Stamp, kind: &str, secret: &[u8]) -> Digits {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = [b'0'; HEX];
    let Some(mut mac) = stamp.0.clone() else {
        return Digits(out);
    };
    mac.update(kind.as_bytes());
    mac.update(b"\0");
    mac.update(secret);
    let tag = mac.finalize().into_bytes();
    for (place, digit) in out.iter_mut().enumerate() {
        let byte = tag[place / 2];
        let half = if place % 2 == 0 { byte >> 4 } else { byte & 15 };
        *digit = DIGITS[usize::from(half)];
    }
    Digits(out)
}

/// Appends the marker of a secret with these digits to `out`.
pub(super) fn write(out: &mut String, kind: &str, digits: Digits) {
    out.push_str("<redacted:");
    out.push_str(kind);
    out.push(':');
    out.extend(digits.0.map(char::from));
    out.push('>');
}

/// The length of the marker at the start of `text`, if there is one.
fn length(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(OPEN)?;
    let kind = rest.iter().take(MAX_KIND + 1).position(|byte| *byte == b':')?;
    let digits = rest.get(kind + 1..kind + 1 + HEX)?;
    let known = kind > 0
        && rest[..kind].iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        // A kind has few digits; more of them could be a disguised value.
        && rest[..kind].iter().filter(|byte| byte.is_ascii_digit()).count() <= 6
        && digits.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
        && rest.get(kind + 1 + HEX) == Some(&b'>');
    known.then_some(OPEN.len() + kind + 1 + HEX + 1)
}

/// All markers in a string, in order.
pub(super) fn find_all(text: &[u8]) -> Vec<(usize, usize)> {
    if text.len() < OPEN.len() {
        return Vec::new();
    }
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPEN));
    FINDER
        .find_iter(text)
        .filter_map(|start| Some((start, start + length(&text[start..])?)))
        .collect()
}

/// Whether the string is exactly one marker.
///
/// A tool that writes values back must reject such a string, because the secret
/// that it replaced is lost.
#[must_use]
pub fn is_marker(text: &str) -> bool {
    is_whole(text.as_bytes())
}

/// Like [`is_marker`], for bytes.
pub(super) fn is_whole(text: &[u8]) -> bool {
    length(text) == Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_depends_on_kind_secret_and_key() {
        let marker = |key: u8| {
            let stamp = Stamp::new(&MarkerKey::new([key; 32]));
            let mut out = String::new();
            write(&mut out, "github-pat", digits(&stamp, "github-pat", b"value"));
            out
        };
        assert_eq!(marker(7), marker(7));
        assert!(is_marker(&marker(7)));
        assert_eq!(marker(7).len(), "<redacted:github-pat:3f9a1c>".len());
        assert_ne!(marker(7), marker(8));
    }

    #[test]
    fn only_the_exact_format_is_a_marker() {
        for text in [
            "<redacted>",
            "<redacted:x:12345>",
            "<redacted:X:123456>",
            "<redacted::123456>",
            "<redacted:x:12345g>",
            "<redacted:x:123456",
            "<redacted:d3adb33f0123456:123456>",
        ] {
            assert!(!is_marker(text), "{text}");
        }
        assert_eq!(find_all(b"a <redacted:x:123456> b <redacted:y-z:abcdef>"), [(2, 21), (24, 45)]);
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", MarkerKey::new([65; 32])), "MarkerKey(…)");
    }
}
