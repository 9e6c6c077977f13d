//! The marker that replaces a secret: `<redacted:kind:3f9a1c>`.
//!
//! The six digits are the head of an HMAC over kind and secret, so the same
//! secret is recognised across events and files by everyone who has the key and
//! by nobody else. A string that merely looks like a marker cannot be
//! distinguished from an older marker. It is kept, counted as found in the
//! input, and protects nothing but itself.

use std::fmt;
use std::sync::LazyLock;

use hmac::{Hmac, KeyInit as _, Mac as _};
use memchr::memmem::Finder;
use sha2::Sha256;

const OPEN: &[u8] = b"<redacted:";
const HEX: usize = 6;
const MAX_KIND: usize = 64;

/// The secret key under which markers are computed.
#[derive(Clone)]
pub struct MarkerKey([u8; 32]);

impl MarkerKey {
    /// Wraps key bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
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

/// A prepared key: the first step of the keyed hash is the same for every
/// secret.
#[derive(Clone)]
pub(super) struct Stamp(Option<Hmac<Sha256>>);

impl Stamp {
    pub(super) fn new(key: &MarkerKey) -> Self {
        // A key of 32 bytes is never refused.
        Self(Hmac::new_from_slice(&key.0).ok())
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stamp(…)")
    }
}

/// The short keyed hash of a secret, in digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits([u8; HEX]);

/// The digits of a secret.
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

/// The length of the marker at the head of `text`, if there is one.
fn length(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(OPEN)?;
    let kind = rest.iter().take(MAX_KIND + 1).position(|byte| *byte == b':')?;
    let digits = rest.get(kind + 1..kind + 1 + HEX)?;
    let known = kind > 0
        && rest[..kind].iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        // Digits in a kind are few; a longer run is a value in disguise.
        && rest[..kind].iter().filter(|byte| byte.is_ascii_digit()).count() <= 6
        && digits.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
        && rest.get(kind + 1 + HEX) == Some(&b'>');
    known.then_some(OPEN.len() + kind + 1 + HEX + 1)
}

/// All markers of a text, in order.
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

/// Whether the text is one marker and nothing else.
///
/// A tool that writes values back must refuse such a string: the secret that it
/// replaced is gone.
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
    fn a_marker_names_the_kind_and_the_secret() {
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
    fn only_the_exact_form_is_a_marker() {
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
    fn a_key_does_not_print_itself() {
        assert_eq!(format!("{:?}", MarkerKey::new([65; 32])), "MarkerKey(…)");
    }
}
