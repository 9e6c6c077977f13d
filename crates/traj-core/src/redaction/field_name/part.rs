//! Parts of names: a quick check that sorts out most names.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{NameClass, classify};

/// Parts of every name that could be one of a credential. Most names hold none
/// of them and are not split into words at all.
const NAME_PARTS: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "cookie",
    "sess",
    "sid",
    "jwt",
    "otp",
    "code",
    "pin",
    "cvv",
    "cvc",
    "csc",
    "card",
    "mnemonic",
    "phrase",
    "seed",
    "sig",
    "pat",
    "crumb",
    "bearer",
    "assert",
    "refresh",
    "cipher",
    "dsn",
    "hmac",
    "csrf",
    "xsrf",
    "mfa",
    "sas",
    "saml",
    "access",
    "hash",
    "pan",
    "contra",
    "connectionstring",
];

/// How many letters of a part are searched first.
const HEAD: usize = 3;
/// A letter takes five bits, whatever its case.
const LETTER_BITS: usize = 5;
const HEAD_COUNT: usize = 1 << (HEAD * LETTER_BITS);

/// A bit for every three letters that a part begins with.
static HEADS: [u64; HEAD_COUNT / 64] = heads();

const fn heads() -> [u64; HEAD_COUNT / 64] {
    let mut heads = [0; HEAD_COUNT / 64];
    let mut at = 0;
    while at < NAME_PARTS.len() {
        let part = NAME_PARTS[at].as_bytes();
        // A part of two letters begins with itself and any third one.
        let thirds = if part.len() < HEAD {
            0..1 << LETTER_BITS
        } else {
            part[2] as usize..part[2] as usize + 1
        };
        let mut third = thirds.start;
        while third < thirds.end {
            let head = head_of(part[0], part[1], third as u8);
            heads[head / 64] |= 1 << (head % 64);
            third += 1;
        }
        at += 1;
    }
    heads
}

/// Three letters as a number; other bytes share the numbers of letters.
const fn head_of(first: u8, second: u8, third: u8) -> usize {
    letter(first) << (2 * LETTER_BITS) | letter(second) << LETTER_BITS | letter(third)
}

const fn letter(byte: u8) -> usize {
    (byte & 31) as usize
}

/// Whether a name may hold a part, judged by three letters at a time.
fn may_hold_part(name: &[u8]) -> bool {
    // The letters before the last two are tried with the ones after them; a
    // part of two letters at the very end is followed by nothing.
    let ends = name.last_chunk::<2>().map(|[first, second]| [*first, *second, 0]);
    let is_head = |first: u8, second: u8, third: u8| {
        let head = head_of(first, second, third);
        HEADS.get(head / 64).is_some_and(|bits| bits >> (head % 64) & 1 == 1)
    };
    name.windows(HEAD).any(|three| matches!(three, [a, b, c] if is_head(*a, *b, *c)))
        || ends.is_some_and(|[first, second, third]| is_head(first, second, third))
}

/// Judges a member's name, cheaply for most.
pub(in crate::redaction) fn class_of_member(name: &str) -> NameClass {
    static PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::builder().ascii_case_insensitive(true).build(NAME_PARTS).ok()
    });
    if !may_hold_part(name.as_bytes()) {
        return NameClass::Plain;
    }
    match &*PARTS {
        Some(parts) if !parts.is_match(name) => NameClass::Plain,
        _ => classify(name.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_credential_is_passed_over() {
        for part in NAME_PARTS {
            for name in [
                (*part).to_owned(),
                part.to_uppercase(),
                format!("a_{part}_b"),
                format!("my{part}"),
            ] {
                assert_eq!(class_of_member(&name), classify(name.as_bytes()), "{name}");
            }
        }
        for name in ["traceSchema", "ts", "", "x", "sourceSeq", "entryId", "role"] {
            assert_eq!(class_of_member(name), NameClass::Plain, "{name}");
        }
    }
}
