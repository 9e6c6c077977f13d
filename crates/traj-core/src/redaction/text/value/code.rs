//! Program expressions, which are not data.

use super::code_name::{is_capitalised, is_code_name};
use super::{Classes, is_identifier, is_random_letters};

/// Pairs of characters that only expressions have.
const SIGNS: &[&[u8]] =
    &[b"::", b"->", b"=>", b"()", b"&&", b"||", b"[]", b"].", b").", b"?.", b"??", b"!["];

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
    // Rust: `*const u8`, `#[const_ptr] T`
    if matches!(value, b"*const" | b"*mut" | b"&mut") || value.starts_with(b"#[") {
        return true;
    }
    if is_negated_reference(value) {
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
    if value.windows(2).any(|pair| SIGNS.contains(&pair)) {
        return true;
    }
    // `name(`, `name[`: a call or an index after an identifier.
    if let Some(place) = value.iter().position(|byte| matches!(byte, b'(' | b'[' | b'{')) {
        let head = &value[..place];
        if head.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'&' | b'!' | b'$' | b'#')
        }) && (Classes::of(head).digit <= 2 || is_long_callee(head))
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

/// `!config.token`
fn is_negated_reference(value: &[u8]) -> bool {
    value
        .strip_prefix(b"!")
        .map(|inner| inner.strip_prefix(b"!").unwrap_or(inner))
        .is_some_and(is_dotted_reference)
}

/// `binascii.a2b_base64`, `AES_128_COLUMN_KEYS`: several names, each with one number
/// at most.
fn is_long_callee(head: &[u8]) -> bool {
    let numbers = head
        .split(|byte| matches!(byte, b'.' | b'_' | b'$'))
        .map(|part| part.split(u8::is_ascii_digit).filter(|run| !run.is_empty()).count());
    let is_name = |part: &[u8]| part.len() >= 3 && part.iter().all(u8::is_ascii_alphabetic);
    head.len() >= 8
        && numbers.clone().all(|runs| runs <= 2)
        && (numbers.count() >= 2 || head.starts_with(b"import"))
        && head.split(|byte| matches!(byte, b'.' | b'_')).any(is_name)
}

/// Whether a bracket is closed by one of another kind: `a{b)c`. An expression may be
/// cut off, but its brackets never cross.
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

/// A name without the `$1` that a bundler appends to names that occur twice.
fn without_bundle_number(name: &[u8]) -> &[u8] {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let head = &name[..name.len() - digits];
    if digits <= 2 { head.strip_suffix(b"$").unwrap_or(name) } else { name }
}

/// `self.token`, `process.env.TOKEN`, `module.auth.token`: identifiers joined by
/// dots, with fewer digits than a secret has.
fn is_dotted_reference(value: &[u8]) -> bool {
    let value = value.strip_suffix(b";").unwrap_or(value);
    // TypeScript: `options.apiKey!`
    let value = value.strip_suffix(b"!").unwrap_or(value);
    let mut parts = 0_usize;
    for part in value.split(|byte| *byte == b'.') {
        // `config?.token`, `Constants$1.EMPTY`: optional members and bundled names.
        let part = part.strip_suffix(b"?").unwrap_or(part);
        let part = without_bundle_number(part.strip_prefix(b"#").unwrap_or(part));
        // `summary.decryptionKeyBase64`
        let part = part.strip_suffix(b"64").filter(|head| head.len() >= 8).unwrap_or(part);
        if !is_identifier(part)
            || Classes::of(part).digit > 1
            || part.len() > 32
            || is_random_letters(part)
        {
            return false;
        }
        parts += 1;
    }
    let is_bundled = parts == 1
        && value.len() >= 8
        && without_bundle_number(value).len() < value.len()
        && value
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    parts >= 2 || is_bundled
}
