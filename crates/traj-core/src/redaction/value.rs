//! What a value looks like: a placeholder, a piece of code, a word, a secret.
//!
//! Names say where a secret may stand; this module says whether the thing that
//! stands there can be one.

/// Words that stand in a credential's place and are none.
const LITERALS: &[&str] = &[
    "true",
    "false",
    "null",
    "nil",
    "none",
    "undefined",
    "yes",
    "no",
    "on",
    "off",
    "required",
    "optional",
    "string",
    "str",
    "number",
    "boolean",
    "bool",
    "int",
    "integer",
    "bytes",
    "object",
    "any",
    "unknown",
    "void",
    "never",
    "array",
    "list",
    "dict",
    "hidden",
    "masked",
    "redacted",
    "removed",
    "secret",
    "password",
    "passwd",
    "token",
    "key",
    "apikey",
    "api_key",
    "changeme",
    "change-me",
    "change_me",
    "changeit",
    "placeholder",
    "example",
    "dummy",
    "todo",
    "fixme",
    "empty",
    "default",
    "bearer",
    "basic",
    "value",
    "text",
    "name",
    "enabled",
    "disabled",
    "ok",
    "missing",
    "invalid",
    "expired",
    "include",
    "omit",
    "same-origin",
    "strict",
    "lax",
    "plain",
    "n/a",
    "na",
    "tbd",
    "await",
    "new",
    "self",
    "this",
    "await ",
    "let",
    "const",
    "var",
    "return",
    "sensitive",
    "accepted",
    "rejected",
    "denied",
    "granted",
    "valid",
    "set",
    "unset",
    "present",
    "absent",
    "failed",
    "ok.",
    "not",
    "input",
    "stdin",
    "prompt",
    "environment",
    "env",
    "file",
    "keychain",
    "vault",
    "auto",
    "manual",
    "oauth",
    "oauth2",
    "jwt",
    "saml",
    "sso",
    "ssh",
];

/// Shannon entropy of the bytes, in bits a byte.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let total = bytes.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.log2()
        })
        .sum()
}

/// How many bytes of each class a value has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Classes {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digit: usize,
    pub(super) space: usize,
    pub(super) other: usize,
}

impl Classes {
    /// Counts the classes of `bytes`.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut classes = Self::default();
        for byte in bytes {
            match byte {
                b'a'..=b'z' => classes.lower += 1,
                b'A'..=b'Z' => classes.upper += 1,
                b'0'..=b'9' => classes.digit += 1,
                b' ' | b'\t' | b'\n' | b'\r' => classes.space += 1,
                _ => classes.other += 1,
            }
        }
        classes
    }

    pub(super) const fn letters(self) -> usize {
        self.lower + self.upper
    }
}

fn eq_any(value: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

fn starts_with_ignore_case(value: &[u8], prefix: &str) -> bool {
    value.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn contains_ignore_case(value: &[u8], word: &str) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

fn is_identifier(value: &[u8]) -> bool {
    !value.is_empty()
        && !value[0].is_ascii_digit()
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether the value stands for a secret without being one: `YOUR_API_KEY`,
/// `$TOKEN`, `${TOKEN}`, `<token>`, `***`, `[REDACTED]`, `{{ secret }}`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let Some((&first, rest)) = value.split_first() else {
        return true;
    };
    if eq_any(value, LITERALS) {
        return true;
    }
    // One character over and over, or a mask with nothing else.
    if rest.iter().all(|byte| *byte == first) && (value.len() > 2 || !first.is_ascii_alphanumeric())
    {
        return true;
    }
    if value
        .iter()
        .all(|byte| matches!(byte, b'*' | b'.' | b'-' | b'x' | b'X' | b'_' | b'?' | b'#'))
        || std::str::from_utf8(value).is_ok_and(|text| {
            text.chars().all(|letter| matches!(letter, '•' | '…' | '●' | '*' | '·'))
        })
    {
        return true;
    }
    let colour =
        matches!(value.len(), 4 | 7 | 9) && first == b'#' && rest.iter().all(u8::is_ascii_hexdigit);
    if colour || is_reference(value) || is_bracketed_word(value) || is_pattern(value) {
        return true;
    }
    let words = Classes::of(value);
    let wordy = words.other + words.digit <= 6 && value.len() <= 48;
    wordy
        && (starts_with_ignore_case(value, "your")
            || starts_with_ignore_case(value, "my-")
            || starts_with_ignore_case(value, "insert-")
            || starts_with_ignore_case(value, "replace")
            || starts_with_ignore_case(value, "enter-")
            || contains_ignore_case(value, "-here")
            || contains_ignore_case(value, "_here")
            || contains_ignore_case(value, "your-")
            || contains_ignore_case(value, "your_")
            || contains_ignore_case(value, "placeholder")
            || contains_ignore_case(value, "example"))
        && words.digit <= 2
}

/// The rest of a value behind a mask that stands before it: `[REDACTED]x`,
/// `<redacted>x`, `***x`.
pub(super) fn behind_mask(value: &[u8]) -> &[u8] {
    let close = match value.first() {
        Some(b'[') => memchr::memchr(b']', value),
        Some(b'<') => memchr::memchr(b'>', value),
        Some(b'(') => memchr::memchr(b')', value),
        Some(b'*') => value.iter().rposition(|byte| *byte == b'*'),
        _ => None,
    };
    match close {
        Some(close)
            if close < 24
                && value.len() - close > 6
                && (value[0] == b'*' || is_bracketed_word(&value[..=close])) =>
        {
            &value[close + 1..]
        }
        _ => value,
    }
}

/// A regular expression rather than what it matches.
fn is_pattern(value: &[u8]) -> bool {
    let class = value
        .windows(4)
        .any(|window| matches!(window, b"[A-Z" | b"[a-z" | b"[0-9" | b"[^\\s" | b"[[:a"));
    class
        || value
            .windows(3)
            .any(|window| matches!(window, b"(?:" | b"(?i" | b"\\d{" | b"\\w+" | b"\\S+" | b"\\s*"))
}

/// A reference to a variable: `$NAME`, `${NAME:-}`, `%NAME%`, `{{ name }}`,
/// `$(command)`, `$env:NAME`, `@NAME@`, `op://vault/item/field`.
fn is_reference(value: &[u8]) -> bool {
    match value {
        [b'$', b'{' | b'(' | b'[', ..] | [b'{', b'{', ..] | [b'<', b'%' | b'?', ..] => true,
        [b'$', name @ ..] => {
            is_identifier(name)
                || starts_with_ignore_case(name, "env:")
                || (name.first().is_some_and(u8::is_ascii_alphabetic)
                    && Classes::of(name).digit == 0
                    && name.iter().all(|byte| {
                        byte.is_ascii_alphabetic()
                            || matches!(byte, b'_' | b'.' | b'-' | b'>' | b'[' | b']' | b'\'')
                    }))
        }
        [b'%', name @ .., b'%'] => is_identifier(name),
        [b'%', b's' | b'd' | b'v' | b'r'] | [b'{', b'}'] => true,
        [b'{', name @ .., b'}'] => {
            is_identifier(name) && Classes::of(name).digit == 0
                || name
                    .iter()
                    .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'!'))
        }
        [b'@', name @ .., b'@'] => is_identifier(name),
        _ => {
            starts_with_ignore_case(value, "op://")
                || starts_with_ignore_case(value, "vault:")
                || starts_with_ignore_case(value, "secretref:")
                || starts_with_ignore_case(value, "arn:")
        }
    }
}

/// `<token>`, `[REDACTED]`, `(hidden)`, `<your token here>`.
fn is_bracketed_word(value: &[u8]) -> bool {
    let ([b'<', inner @ .., b'>'] | [b'[', inner @ .., b']'] | [b'(', inner @ .., b')']) = value
    else {
        return false;
    };
    inner.len() <= 48
        && inner.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b' ' | b'-' | b'_' | b'.' | b':' | b'|' | b'/' | b'*')
        })
        && Classes::of(inner).digit <= 4
}

/// Whether an unquoted value is an expression of a program rather than data.
pub(super) fn is_code(value: &[u8]) -> bool {
    if value.is_empty() {
        return true;
    }
    // Signs that passwords have and expressions rarely do.
    let odd = value.iter().any(|byte| matches!(byte, b'^' | b'%' | b'@' | b'#' | b'~' | b'*'));
    if odd && Classes::of(value).digit > 1 {
        return false;
    }
    if value.windows(2).any(|pair| {
        matches!(pair, b"::" | b"->" | b"=>" | b"()" | b"&&" | b"||" | b"[]" | b"]." | b").")
    }) {
        return true;
    }
    // `name(`, `name[`: a call or an index behind an identifier.
    if let Some(place) = value.iter().position(|byte| matches!(byte, b'(' | b'[' | b'{')) {
        let head = &value[..place];
        if head
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'&' | b'!'))
            && Classes::of(head).digit <= 2
            && !head.is_empty()
            && head.len() < 40
        {
            return true;
        }
        if place == 0 {
            return true;
        }
    }
    if matches!(
        value[0],
        b'&' | b'|' | b'=' | b'!' | b'(' | b')' | b'[' | b'{' | b'}' | b'\\' | b',' | b';'
    ) && value.len() < 24
        && Classes::of(value).digit < 2
    {
        return true;
    }
    // `token?`, `3i32`, `0x1f`
    let asked = value
        .strip_suffix(b"?")
        .is_some_and(|head| is_identifier(head) && Classes::of(head).digit == 0 && head.len() < 16);
    asked || is_number(value) || is_dotted_reference(value)
}

/// A number as programs write it, with a base or a type.
fn is_number(value: &[u8]) -> bool {
    value[0].is_ascii_digit()
        && value.len() <= 12
        && (value.starts_with(b"0x") && value[2..].iter().all(u8::is_ascii_hexdigit)
            || [
                &b"i8"[..],
                b"u8",
                b"i16",
                b"u16",
                b"i32",
                b"u32",
                b"i64",
                b"u64",
                b"usize",
                b"isize",
                b"f32",
                b"f64",
                b"L",
                b"UL",
                b"n",
            ]
            .iter()
            .any(|kind| {
                value.strip_suffix(*kind).is_some_and(|digits| {
                    digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_')
                })
            }))
}

/// `self.token`, `process.env.TOKEN`, `module.auth.token`: names joined by
/// dots, without the digits a secret has.
pub(super) fn is_dotted_reference(value: &[u8]) -> bool {
    let value = value.strip_suffix(b";").unwrap_or(value);
    let mut parts = 0_usize;
    for part in value.split(|byte| *byte == b'.') {
        if !is_identifier(part)
            || Classes::of(part).digit > 1
            || part.len() > 32
            || is_random_letters(part)
        {
            return false;
        }
        parts += 1;
    }
    parts >= 2
}

/// Letters, underscores and hyphens only: a word or a name, not a random value.
pub(super) fn is_word(value: &[u8]) -> bool {
    value
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'\'' | b'.'))
        && !is_random_letters(value)
}

/// Letters in a mix of cases that no word has.
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
    changes * 5 >= value.len() * 2 && entropy(value) > 2.8
}

/// A sentence for a reader: several plain words.
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

/// The form 8-4-4-4-12 of hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a value without any strong name beside it has the look of a random
/// secret: long enough, no words, no path, no identifier, no date.
pub(super) fn looks_random(value: &[u8]) -> bool {
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
    if made_of_words(value) {
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

/// Segments between separators that are all words, small numbers or hex-free
/// names: `Linux-cargo-registry-build-main`, `user:1234:profile:v2`.
fn made_of_words(value: &[u8]) -> bool {
    let mut segments = 0_usize;
    let mut wordy = 0_usize;
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
        let camel = classes.digit == 0 && classes.other == 0 && !is_random_letters(segment);
        let number = classes.digit == segment.len() && segment.len() <= 8;
        let word = classes.other == 0
            && single_case
            && (classes.digit == 0 || classes.digit <= 3 && segment.len() <= 10)
            && segment.len() <= 20;
        if number || word || (camel && segment.len() <= 24) {
            wordy += 1;
        }
    }
    segments > 0 && wordy == segments && (segments > 1 || Classes::of(value).digit == 0)
}

/// Whether a person may have chosen the value as a password: no blanks, and a
/// digit, a sign or a change of case in it.
pub(super) fn looks_chosen(value: &[u8]) -> bool {
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
    fn placeholders_are_told_from_values() {
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
    fn random_values_are_told_from_names() {
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
    fn code_is_no_value() {
        for text in [
            "getpass.getpass(",
            "tokens.next().unwrap();",
            "os.environ.get(",
            "self.token",
            "d[key]",
            "Foo::bar",
        ] {
            assert!(is_code(text.as_bytes()), "{text}");
        }
        assert!(!is_code(b"hunter2"));
        assert!(!is_code(b"d)m*_5^1ot0^!gnh^aro"));
    }
}
