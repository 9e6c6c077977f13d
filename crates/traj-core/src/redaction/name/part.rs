//! Parts of names: tells most names from those of credentials at a glance.

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

/// How many letters of a part are looked at first.
const HEAD: usize = 2;

/// For each letter, a bit for every letter that follows it at the head of a part.
const HEADS: [u32; 32] = heads();

const fn heads() -> [u32; 32] {
    let mut heads = [0; 32];
    let mut at = 0;
    while at < NAME_PARTS.len() {
        let part = NAME_PARTS[at].as_bytes();
        heads[letter(part[0])] |= 1 << letter(part[1]);
        at += 1;
    }
    heads
}

/// The place of a letter in the alphabet, upper or lower case; other bytes
/// share the places.
const fn letter(byte: u8) -> usize {
    (byte & 31) as usize
}

/// Judges a member's name, cheaply for most.
pub(in crate::redaction) fn class_of_member(name: &str) -> NameClass {
    static PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::builder().ascii_case_insensitive(true).build(NAME_PARTS).ok()
    });
    let may_begin = |pair: &[u8]| match pair {
        [first, second] => HEADS[letter(*first)] >> letter(*second) & 1 == 1,
        _ => false,
    };
    if !name.as_bytes().windows(HEAD).any(may_begin) {
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
            for name in [(*part).to_owned(), part.to_uppercase(), format!("a_{part}_b")] {
                assert_eq!(class_of_member(&name), classify(name.as_bytes()), "{name}");
            }
        }
        for name in ["traceSchema", "ts", "", "x", "sourceSeq", "entryId", "role"] {
            assert_eq!(class_of_member(name), NameClass::Plain, "{name}");
        }
    }
}
