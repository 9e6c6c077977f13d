//! Harmless texts that programs and documents have in place of a secret: paths,
//! templates, translations, types, durations.

use crate::redaction::field_name::FOREIGN_LABELS;
use crate::redaction::paths::starts_with_label;
use crate::redaction::text::value::{Classes, made_of_words};

/// Whether a value is a text that a program completes, with nothing but words
/// around the gaps: `sha256:${hash}`, `channels.${id}.token`, `run=${params.run}`.
pub(super) fn is_template(value: &[u8]) -> bool {
    let mut rest = value;
    let mut words = Vec::new();
    let mut has_gap = false;
    while let Some(open) = memchr::memmem::find(rest, b"${") {
        has_gap = true;
        words.extend_from_slice(&rest[..open]);
        words.push(b'.');
        let close = memchr::memchr(b'}', &rest[open..]);
        let gap = rest.get(open + 2..open + close.unwrap_or(2)).unwrap_or_default();
        if !is_balanced(gap) {
            return false;
        }
        rest = close.and_then(|close| rest.get(open + close + 1..)).unwrap_or_default();
    }
    words.extend_from_slice(rest);
    has_gap && (words.len() <= 8 || made_of_words(&words))
}

/// Whether a value is the word for a password in another language: `Пароль (не
/// зберігається)`, `API 密码`.
pub(super) fn is_translation(value: &[u8]) -> bool {
    if value.is_ascii() && !value.contains(&b'(') || Classes::of(value).digit > 0 {
        return false;
    }
    FOREIGN_LABELS.iter().any(|(label, _)| {
        let label = label.as_bytes();
        if label.is_ascii() {
            value.get(..label.len()).is_some_and(|head| head.eq_ignore_ascii_case(label))
                && value.get(label.len()..).is_some_and(|rest| rest.starts_with(b" "))
        } else {
            memchr::memmem::find(value, label).is_some()
        }
    })
}

/// Whether every bracket of an expression is closed; noise has others.
fn is_balanced(gap: &[u8]) -> bool {
    let count = |sign: u8| memchr::memchr_iter(sign, gap).count();
    count(b'(') == count(b')') && count(b'[') == count(b']')
}

/// Endings of the names of files.
const FILES: &[&[u8]] = &[
    b".pem", b".key", b".der", b".p8", b".p12", b".bin", b".json", b".txt", b".yaml", b".yml",
    b".py", b".js", b".rs", b".go", b".toml", b".conf", b".html", b".md",
];

/// Whether a value is a version such as `^0.3.0`.
fn is_version(value: &[u8]) -> bool {
    let bare = value.strip_prefix(b"^").or_else(|| value.strip_prefix(b"~")).unwrap_or(value);
    bare.len() < value.len()
        && bare.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && bare.contains(&b'.')
}

pub(super) fn is_path(value: &[u8]) -> bool {
    value.starts_with(b"/")
        || is_version(value)
        || FILES.iter().any(|ending| value.ends_with(ending)) && Classes::of(value).other < 6
        || value.starts_with(b"~/")
        || value.starts_with(b"./")
        || value.windows(3).any(|window| window == b"://")
        || starts_with_label(value)
}

/// Whether a value is a length of time: `3,897ms`, `5.1s`.
pub(super) fn is_duration(value: &[u8]) -> bool {
    let number = value.strip_suffix(b"ms").or_else(|| value.strip_suffix(b"s")).unwrap_or(value);
    number.len() < value.len()
        && number.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.'))
}

/// Whether a value is a number with a unit: `16px`, `1.5rem`, `30d`.
pub(super) fn is_measure(value: &[u8]) -> bool {
    let number = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
        .count();
    let unit = &value[number..];
    number > 0 && unit.len() <= 3 && unit.iter().all(u8::is_ascii_lowercase)
}

/// Whether `value` is a public key, which is not a secret under any name.
pub(super) fn is_public(value: &[u8]) -> bool {
    const HEADS: &[&[u8]] = &[
        b"ssh-ed25519 ",
        b"ssh-rsa ",
        b"ssh-dss ",
        b"ecdsa-sha2-",
        b"sk-ssh-",
        b"sk-ecdsa-",
        b"age1",
        b"-----BEGIN PUBLIC",
        b"-----BEGIN CERT",
        b"pk_live_",
        b"pk_test_",
    ];
    HEADS.iter().any(|head| value.starts_with(head))
}

/// Whether `value` is a type name: `String`, `CancellationToken`,
/// `Option<Token>`.
pub(super) fn is_type_name(value: &[u8]) -> bool {
    let bare = value.strip_suffix(b"?").unwrap_or(value);
    let bare = bare.strip_prefix(b"&").unwrap_or(bare);
    let bare = bare.split(|byte| matches!(byte, b'<' | b'[')).next().unwrap_or(bare);
    if bare.is_empty() || !bare.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    // Not all capitals, and a common ending of a type name.
    let classes = Classes::of(bare);
    classes.lower > 0
        && classes.upper > 0
        && [
            &b"String"[..],
            b"Token",
            b"Secret",
            b"Password",
            b"Key",
            b"Credential",
            b"Credentials",
            b"Bytes",
            b"Str",
            b"Any",
            b"Option",
            b"Buffer",
        ]
        .iter()
        .any(|tail| bare.ends_with(tail))
}

/// Whether a text has a word that phrases of random words do not have.
pub(super) fn says_something(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "the",
        "is",
        "are",
        "your",
        "must",
        "for",
        "to",
        "enter",
        "please",
        "not",
        "required",
        "invalid",
        "passphrase",
        "password",
        "key",
        "of",
        "if",
        "no",
        "optional",
        "used",
        "wrong",
    ];
    value
        .split(|byte| *byte == b' ')
        .any(|word| WORDS.iter().any(|other| word.eq_ignore_ascii_case(other.as_bytes())))
}
