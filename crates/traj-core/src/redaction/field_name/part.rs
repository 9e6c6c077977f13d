//! A quick check that rules out most names.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{NameClass, NameTable};

/// Every name of a credential contains one of these parts. Most names contain
/// none and need not be split into words.
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
    "cc_n",
    "cc-n",
    "ccn",
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
    "pswd",
    "pword",
    "pws",
    "psk",
    "pins",
    "apikeys",
    "wachtwoord",
    "salt",
    "clave",
    "senha",
    "parola",
    "heslo",
    "haslo",
    "sifre",
    "salasana",
    "jelszo",
    "losenord",
    "kennwort",
    "mdp",
    "motde",
    "privkey",
    "connectionstring",
];

/// How many letters of a part the first check compares.
const HEAD: usize = 3;
/// Bits of a letter, ignoring its case.
const LETTER_BITS: usize = 5;
const HEAD_COUNT: usize = 1 << (HEAD * LETTER_BITS);

/// A bit set of the first three letters of all parts.
static HEADS: [u64; HEAD_COUNT / 64] = heads();

const fn heads() -> [u64; HEAD_COUNT / 64] {
    let mut heads = [0; HEAD_COUNT / 64];
    let mut at = 0;
    while at < NAME_PARTS.len() {
        let part = NAME_PARTS[at].as_bytes();
        // A part of two letters matches with any third letter.
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

/// Three letters as a number. Other bytes collide with letters, which only makes
/// the check less selective.
const fn head_of(first: u8, second: u8, third: u8) -> usize {
    letter(first) << (2 * LETTER_BITS) | letter(second) << LETTER_BITS | letter(third)
}

const fn letter(byte: u8) -> usize {
    (byte & 31) as usize
}

/// Whether a name may contain a part, judged by three letters at a time.
fn may_hold_part(name: &[u8]) -> bool {
    // The windows miss a part of two letters at the very end: check it with a
    // zero byte as the third letter.
    let ends = name.last_chunk::<2>().map(|[first, second]| [*first, *second, 0]);
    let is_head = |first: u8, second: u8, third: u8| {
        let head = head_of(first, second, third);
        HEADS.get(head / 64).is_some_and(|bits| bits >> (head % 64) & 1 == 1)
    };
    name.windows(HEAD).any(|three| matches!(three, [a, b, c] if is_head(*a, *b, *c)))
        || ends.is_some_and(|[first, second, third]| is_head(first, second, third))
}

impl NameTable {
    /// Classifies the name of a member; most names need only the quick check.
    pub(in crate::redaction) fn class_of_member(self, name: &str) -> NameClass {
        static PARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
            AhoCorasick::builder().ascii_case_insensitive(true).build(NAME_PARTS).ok()
        });
        // Names in other scripts have no such parts.
        if !name.is_ascii() {
            return self.classify(name.as_bytes());
        }
        if !may_hold_part(name.as_bytes()) {
            return NameClass::Plain;
        }
        match &*PARTS {
            Some(parts) if !parts.is_match(name) => NameClass::Plain,
            _ => self.classify(name.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::name_rows;
    use super::super::row::Before;
    use super::*;

    #[test]
    fn the_quick_check_misses_no_credential_name() {
        for part in NAME_PARTS {
            for name in [
                (*part).to_owned(),
                part.to_uppercase(),
                format!("a_{part}_b"),
                format!("my{part}"),
            ] {
                let table = NameTable::default();
                assert_eq!(table.class_of_member(&name), table.classify(name.as_bytes()), "{name}");
            }
        }
        for row in name_rows().filter(|row| row.class != NameClass::Plain) {
            for word in row.words.iter().chain(row.endings) {
                // Otherwise, the words before it have a part.
                let has_part = NAME_PARTS.iter().any(|part| word.contains(part));
                assert!(has_part || row.before != Before::Any, "{word} of {}", row.id);
            }
        }
        for name in ["traceSchema", "ts", "", "x", "sourceSeq", "entryId", "role"] {
            assert_eq!(NameTable::default().class_of_member(name), NameClass::Plain, "{name}");
        }
    }
}
