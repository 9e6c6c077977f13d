//! Program expressions, which are not data.

use super::code_name::{is_capitalised, is_code_name};
use super::{Classes, is_identifier, is_random_letters};

/// Whether an unquoted value is a program expression rather than data.
pub(in crate::redaction) fn is_code(value: &[u8]) -> bool {
    if value.is_empty() {
        return true;
    }
    // Most values have only these characters; then of the checks below, only
    // the one for numbers can succeed.
    let is_plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/');
    if value.iter().all(is_plain) {
        return is_number(value) || is_code_name(value);
    }
    // Rust: `*const u8`
    if matches!(value, b"*const" | b"*mut" | b"&mut") {
        return true;
    }
    if has_crossed_brackets(value) {
        return false;
    }
    // Characters that are common in passwords but rare in expressions.
    let odd = value.iter().any(|byte| matches!(byte, b'^' | b'%' | b'@' | b'#' | b'~' | b'*'));
    if odd && Classes::of(value).digit > 1 {
        return false;
    }
    if value.windows(2).any(|pair| {
        matches!(pair, b"::" | b"->" | b"=>" | b"()" | b"&&" | b"||" | b"[]" | b"]." | b").")
    }) {
        return true;
    }
    // `name(`, `name[`: a call or an index after an identifier.
    if let Some(place) = value.iter().position(|byte| matches!(byte, b'(' | b'[' | b'{')) {
        let head = &value[..place];
        if head.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'&' | b'!' | b'$')
        }) && Classes::of(head).digit <= 2
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
    // `SyncBailHook<`, `Option<Token>`
    if let Some(place) = memchr::memchr(b'<', value)
        && value.get(place + 1).is_none_or(u8::is_ascii_alphabetic)
        && is_capitalised(&value[..place])
    {
        return true;
    }
    // `token?`, `3i32`, `0x1f`
    let asked = value
        .strip_suffix(b"?")
        .is_some_and(|head| is_identifier(head) && Classes::of(head).digit == 0 && head.len() < 16);
    asked || is_number(value) || is_dotted_reference(value)
}

/// Whether a bracket is closed by one of another kind: `a{b)c`. Expressions may be
/// cut, but they do not do that.
fn has_crossed_brackets(value: &[u8]) -> bool {
    const DEEPEST: usize = 64;
    let mut open = Vec::new();
    for byte in value {
        match byte {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b')' | b']' | b'}' => match open.pop() {
                Some(close) if close != *byte => return true,
                Some(_) => {}
                None => return false,
            },
            _ => {}
        }
        if open.len() > DEEPEST {
            return false;
        }
    }
    false
}

/// Whether a value is a numeric literal with a base or a type.
fn is_number(value: &[u8]) -> bool {
    // `0xC000_0457_u32`
    if let [b'0', b'x' | b'X', rest @ ..] = value
        && let Some(digits) = rest.strip_suffix(b"_u32").or_else(|| rest.strip_suffix(b"_u64"))
    {
        return digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_');
    }
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

/// `self.token`, `process.env.TOKEN`, `module.auth.token`: identifiers joined by
/// dots, with fewer digits than a secret has.
fn is_dotted_reference(value: &[u8]) -> bool {
    let value = value.strip_suffix(b";").unwrap_or(value);
    // TypeScript: `options.apiKey!`
    let value = value.strip_suffix(b"!").unwrap_or(value);
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
