//! What a value looks like: a placeholder, code, a word, a secret.
//!
//! A name shows where a secret may be; this module decides whether the value can
//! be one.

mod code;
mod code_name;
mod format;
mod issued;
mod placeholder;

use std::sync::LazyLock;

pub(in crate::redaction) use code::is_code;
pub(in crate::redaction) use code_name::is_snake_name;
pub(in crate::redaction) use format::{is_date, is_uuid};
pub(in crate::redaction) use issued::looks_issued;
pub(in crate::redaction) use placeholder::{behind_mask, is_placeholder, stands_in};

/// Shannon entropy of the bytes, in bits per byte.
pub(in crate::redaction) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    // The bytes that occur: far fewer than 256.
    let mut seen = [0_u64; 4];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    // The sum of `-share * log2(share)` over the bytes that occur.
    let mut sum = 0.0;
    for (block, mut seen) in seen.into_iter().enumerate() {
        while seen != 0 {
            sum += weighted_log(counts[block * 64 + seen.trailing_zeros() as usize]);
            seen &= seen - 1;
        }
    }
    let total = bytes.len() as f64;
    if bytes.is_empty() { 0.0 } else { total.log2() - sum / total }
}

/// `count * log2(count)`. Most bytes of a secret have the same few counts.
fn weighted_log(count: u32) -> f64 {
    static SMALL: LazyLock<[f64; 32]> = LazyLock::new(|| {
        std::array::from_fn(
            |count| if count > 1 { count as f64 * (count as f64).log2() } else { 0.0 },
        )
    });
    let log = || f64::from(count) * f64::from(count).log2();
    SMALL.get(count as usize).copied().unwrap_or_else(log)
}

/// The number of bytes of each class in a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Classes {
    pub(in crate::redaction) lower: usize,
    pub(in crate::redaction) upper: usize,
    pub(in crate::redaction) digit: usize,
    pub(in crate::redaction) space: usize,
    pub(in crate::redaction) other: usize,
}

impl Classes {
    /// Counts the classes of `bytes`.
    pub(in crate::redaction) fn of(bytes: &[u8]) -> Self {
        let mut classes = Self::default();
        // Branch-free sums that fit into a byte compile to vector instructions.
        for bytes in bytes.chunks(usize::from(u8::MAX)) {
            let (mut lower, mut upper, mut digit, mut space) = (0_u8, 0_u8, 0_u8, 0_u8);
            for byte in bytes {
                lower += u8::from(byte.is_ascii_lowercase());
                upper += u8::from(byte.is_ascii_uppercase());
                digit += u8::from(byte.is_ascii_digit());
                space += u8::from(matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            }
            let [lower, upper, digit, space] = [lower, upper, digit, space].map(usize::from);
            classes.lower += lower;
            classes.upper += upper;
            classes.digit += digit;
            classes.space += space;
            classes.other += bytes.len() - lower - upper - digit - space;
        }
        classes
    }

    pub(in crate::redaction) const fn letters(self) -> usize {
        self.lower + self.upper
    }
}

/// Whether a value is `word`, ignoring case. Most values differ in length or
/// first letter, which the inlined part checks.
#[inline]
pub(in crate::redaction) fn is_same(value: &[u8], word: &str) -> bool {
    let word = word.as_bytes();
    let head = |text: &[u8]| text.first().map(|letter| letter | 0x20);
    value.len() == word.len() && head(value) == head(word) && value.eq_ignore_ascii_case(word)
}

fn eq_any(value: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| is_same(value, word))
}

fn is_identifier(value: &[u8]) -> bool {
    !value.is_empty()
        && !value[0].is_ascii_digit()
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether a value is a word or a name: letters and joining signs only, and not
/// random.
pub(in crate::redaction) fn is_word(value: &[u8]) -> bool {
    value
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'\'' | b'.'))
        && !is_random_letters(value)
}

/// Whether the case of the letters changes more often than in words.
fn is_random_letters(value: &[u8]) -> bool {
    if value.len() < 8 {
        return false;
    }
    let changes = value
        .windows(2)
        .filter(|pair| {
            pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
                || pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase()
        })
        .count();
    changes * 5 >= value.len() * 2 && entropy(value) > 2.8 && !code_name::is_camel_name(value)
}

/// Whether a value is a sentence: several plain words.
pub(super) fn is_sentence(value: &[u8]) -> bool {
    let mut words = 0_usize;
    let mut plain = 0_usize;
    let mut common = false;
    for word in value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        words += 1;
        let bare: &[u8] = trim_punctuation(word);
        if !bare.is_empty()
            && bare.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'\''))
        {
            plain += 1;
        }
        common |= eq_any(bare, COMMON);
    }
    words >= 2 && (common && plain * 2 > words || words >= 4 && plain * 5 >= words * 4)
}

const COMMON: &[&str] = &[
    "the",
    "a",
    "an",
    "is",
    "are",
    "your",
    "my",
    "enter",
    "please",
    "must",
    "not",
    "for",
    "to",
    "of",
    "and",
    "or",
    "in",
    "with",
    "required",
    "invalid",
    "password",
    "token",
    "key",
    "was",
    "be",
    "by",
    "from",
    "use",
    "at",
    "least",
    "has",
    "no",
    "this",
    "that",
    "authentication",
    "unit",
    "if",
    "on",
    "minor",
    "major",
    "before",
    "after",
    "square",
    "variable",
    "expired",
    "needed",
    "new",
    "forgot",
    "reset",
    "change",
    "confirm",
    "repeat",
    "show",
    "hide",
    "api",
];

fn trim_punctuation(word: &[u8]) -> &[u8] {
    let start = word.iter().position(u8::is_ascii_alphanumeric).unwrap_or(word.len());
    let end = word.iter().rposition(u8::is_ascii_alphanumeric).map_or(start, |place| place + 1);
    word.get(start..end).unwrap_or_default()
}

/// Whether a value looks like a random secret even without a strong name: long
/// enough, and not words, a path, a UUID or a date.
pub(in crate::redaction) fn looks_random(value: &[u8]) -> bool {
    if value.len() < 14 || value.len() > 4096 || is_uuid(value) {
        return false;
    }
    if !value.iter().all(u8::is_ascii_graphic) {
        return false;
    }
    let classes = Classes::of(value);
    if classes.letters() == 0 || is_code(value) {
        return false;
    }
    if value.contains(&b'/')
        && (value[0] == b'/'
            || value.starts_with(b"~/")
            || value.starts_with(b"./")
            || value.windows(3).any(|w| w == b"://"))
    {
        return false;
    }
    // Numbers with separators: a date, a Windows SID.
    if classes.letters() < 3 || is_date(value) {
        return false;
    }
    // A path has a segment that is a plain word; base64 does not.
    let is_step = |step: &[u8]| step.len() > 2 && step.iter().all(u8::is_ascii_lowercase);
    if value.contains(&b'/') && value.split(|byte| *byte == b'/').any(is_step) {
        return false;
    }
    if made_of_words(value) || code_name::has_camel_words(value) {
        return false;
    }
    if classes.digit == 0 {
        return is_random_letters(value);
    }
    let bits = entropy(value);
    if value.iter().all(u8::is_ascii_hexdigit) {
        return value.len() >= 20 && bits > 2.7;
    }
    bits > 3.2 || (value.len() < 20 && bits > 2.9)
}

/// Whether all segments between separators are words or short numbers:
/// `Linux-cargo-registry-build-main`, `user:1234:profile:v2`.
pub(in crate::redaction) fn made_of_words(value: &[u8]) -> bool {
    let mut segments = 0_usize;
    for segment in value
        .split(|byte| matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b',' | b'+' | b'=' | b'@'))
    {
        if segment.is_empty() {
            continue;
        }
        segments += 1;
        let classes = Classes::of(segment);
        let single_case = classes.lower == 0
            || classes.upper == 0
            || (classes.upper == 1 && segment[0].is_ascii_uppercase());
        let is_camel = || {
            classes.digit == 0 && classes.other == 0 && !is_random_letters(segment)
                || code_name::has_camel_words(segment)
        };
        let number = classes.digit == segment.len() && segment.len() <= 8;
        let word = classes.other == 0
            && single_case
            && (classes.digit == 0 || classes.digit <= 3 && segment.len() <= 10)
            && segment.len() <= 20;
        if !(number || word || segment.len() <= 24 && is_camel()) {
            return false;
        }
    }
    segments > 1 || segments == 1 && Classes::of(value).digit == 0
}

/// Whether a person may have chosen the value as a password: no spaces, and
/// letters with a digit, with a special character or in random case.
pub(in crate::redaction) fn looks_chosen(value: &[u8]) -> bool {
    if value.len() < 4 || value.len() > 256 {
        return false;
    }
    let classes = Classes::of(value);
    if classes.space > 0 {
        return false;
    }
    (classes.digit > 0 && classes.letters() > 0)
        || (classes.letters() > 3
            && value.iter().any(|byte| {
                matches!(
                    byte,
                    b'!' | b'#' | b'$' | b'%' | b'^' | b'*' | b'@' | b'~' | b'+' | b'?' | b'&'
                )
            }))
        || is_random_letters(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_distinguished_from_values() {
        for text in [
            "YOUR_API_KEY",
            "your-api-key-here",
            "$TOKEN",
            "${TOKEN:-}",
            "<token>",
            "***",
            "[REDACTED]",
            "{{ secret }}",
            "xxxxxxxx",
            "changeme",
            "%TOKEN%",
            "<your token>",
            "••••••",
            "$env:TOKEN",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in [
            "hunter2",
            "pass",
            "Ember3294willow",
            "<redacted>jm8ax1rdWLu5",
            "***4jG1fLFCRm",
            "$2b$12$abc",
        ] {
            assert!(!is_placeholder(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn random_values_are_distinguished_from_names() {
        for text in [
            "aMjxes65KX3AYYwjq4vyE6TDQOqq",
            "38e0bf83ebba23b2dace14044cf39d8d",
            "u+REWZoW7uJFtSsvU-Pu",
        ] {
            assert!(looks_random(text.as_bytes()), "{text}");
        }
        for text in [
            "Linux-cargo-registry-build-main",
            "agent:ops:slack:channel:general",
            "order-2026-0001",
            "logs/app/2026-04-02.log.gz",
            "settings.editor.fontSize",
            "/run/secrets/db_password",
            "5402b1fd-a66a-4a88-906e-4308dc0e066c",
            "user:1234:profile:v2",
        ] {
            assert!(!looks_random(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn code_is_not_a_value() {
        for text in [
            "getpass.getpass(",
            "tokens.next().unwrap();",
            "os.environ.get(",
            "self.token",
            "tokenEntry?.[0]",
            "section?.token",
            "Constants$1.EMPTY_STRING",
            "createPrivateKey$1",
            "!this.config.token",
            "#[const_ptr_if(ossl300)]",
            "binascii.a2b_base64(request",
            "CryptoJS.HmacSHA512(message",
            "AES_128_COLUMN_KEYS[1]",
            "this.#client.clientSecret",
            "summary.decryptionKeyBase64",
            "d[key]",
            "Foo::bar",
        ] {
            assert!(is_code(text.as_bytes()), "{text}");
        }
        assert!(!is_code(b"hunter2"));
        assert!(!is_code(b"d)m*_5^1ot0^!gnh^aro"));
    }
}
