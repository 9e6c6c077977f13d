//! Placeholders: values that stand in for a secret.

use super::{Classes, eq_any, is_identifier};

/// Words used in place of a credential.
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
    "typeof",
    "unsafe",
    "async",
    "super",
    "function",
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
    "option",
    "options",
    "flag",
    "flags",
    "argument",
    "parameter",
    "properties",
    "credentials",
];

const LONGEST_LITERAL: usize = {
    let mut longest = 0;
    let mut place = 0;
    while place < LITERALS.len() {
        if LITERALS[place].len() > longest {
            longest = LITERALS[place].len();
        }
        place += 1;
    }
    longest
};

fn starts_with_ignore_case(value: &[u8], prefix: &str) -> bool {
    value.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn contains_ignore_case(value: &[u8], word: &str) -> bool {
    let Some(first) = word.bytes().next() else { return true };
    memchr::memchr2_iter(first, first.to_ascii_uppercase(), value)
        .any(|start| starts_with_ignore_case(&value[start..], word))
}

/// Whether the value stands in for a secret: `YOUR_API_KEY`, `$TOKEN`,
/// `${TOKEN}`, `<token>`, `***`, `[REDACTED]`, `{{ secret }}`.
pub(in crate::redaction) fn is_placeholder(value: &[u8]) -> bool {
    let value = without_entity(value.trim_ascii());
    // `#token=<token>.` at the end of a sentence
    let value = match value {
        [b'<', .., b'>', b'.' | b',' | b';'] => &value[..value.len() - 1],
        _ => value,
    };
    // `123456:ABC...`
    if value.len() <= 16 && value.ends_with(b"...") {
        return true;
    }
    let Some((&first, rest)) = value.split_first() else {
        return true;
    };
    if value.len() <= LONGEST_LITERAL && eq_any(value, LITERALS) {
        return true;
    }
    // One repeated character.
    if rest.iter().all(|byte| *byte == first) && (value.len() > 2 || !first.is_ascii_alphanumeric())
    {
        return true;
    }
    if value
        .iter()
        .all(|byte| matches!(byte, b'*' | b'.' | b'-' | b'x' | b'X' | b'_' | b'?' | b'#'))
        || matches!(first, b'*' | 0xc2 | 0xe2)
            && std::str::from_utf8(value).is_ok_and(|text| {
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
    // Cheap check first: most secrets have more digits.
    words.digit <= 2
        && words.other + words.digit <= 6
        && value.len() <= 48
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
}

/// Whether the value is plainly a variable, a mask or a name in brackets.
pub(in crate::redaction) fn stands_in(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'$' | b'<' | b'*' | b'{' | b'%')) && is_placeholder(value)
}

/// A value without an escaped `<` at its start: `&lt;token>` is `<token>`.
fn without_entity(value: &[u8]) -> &[u8] {
    const ENTITIES: &[&[u8]] = &[b"&lt;", b"&#x3C;", b"&#x3c;", b"&#60;"];
    let Some(rest) = ENTITIES.iter().find_map(|entity| value.strip_prefix(*entity)) else {
        return value;
    };
    let end = rest.iter().position(|byte| matches!(byte, b'>' | b'&')).unwrap_or(rest.len());
    let word = &rest[..end];
    let is_word = word
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ' | b'.'));
    if is_word && rest.len() - end <= 8 { b"<>" } else { value }
}

/// The rest of a value after a mask such as `[REDACTED]`, `<redacted>` or `***`;
/// without a mask, the whole value.
pub(in crate::redaction) fn behind_mask(value: &[u8]) -> &[u8] {
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

/// Whether a value is a regular expression.
fn is_pattern(value: &[u8]) -> bool {
    if memchr::memchr3(b'[', b'(', b'\\', value).is_none() {
        return false;
    }
    let class = value
        .windows(4)
        .any(|window| matches!(window, b"[A-Z" | b"[a-z" | b"[0-9" | b"[^\\s" | b"[[:a"));
    class
        || value
            .windows(3)
            .any(|window| matches!(window, b"(?:" | b"(?i" | b"\\d{" | b"\\w+" | b"\\S+" | b"\\s*"))
}

/// Whether a value refers to a variable or a stored secret: `$NAME`,
/// `${NAME:-}`, `%NAME%`, `{{ name }}`, `$(command)`, `$env:NAME`, `@NAME@`,
/// `op://vault/item/field`.
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
        [b'%', b's' | b'd' | b'v' | b'r'] | [b'{', b'}'] | b"%s:%s" | b"%s\\n" => true,
        [b'{', name @ .., b'}'] => {
            is_identifier(name) && Classes::of(name).digit == 0
                || name
                    .iter()
                    .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'!'))
        }
        [b'@', name @ .., b'@'] => is_identifier(name),
        _ => {
            starts_with_ignore_case(value, "op://")
                || starts_with_ignore_case(value, "env:")
                || starts_with_ignore_case(value, "file:")
                || starts_with_ignore_case(value, "keyring:")
                || starts_with_ignore_case(value, "ssm:")
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
                || matches!(
                    byte,
                    b' ' | b'-' | b'_' | b'.' | b':' | b'|' | b'/' | b'*' | b'[' | b']'
                )
        })
        && Classes::of(inner).digit <= 6
}
