//! A cheap answer to "can these bytes mention one of these ids?".

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use crate::json;

/// Finds blocks of lines that may mention an id, however it is escaped.
///
/// A line contains an id as writers usually escape it, or has some character of
/// it as `\uXXXX` (or `/` as `\/`). Both are searched for without parsing. There
/// may be false positives, but no false negatives.
#[derive(Debug)]
pub(in crate::care::trim) struct IdProbe {
    canonical: Option<AhoCorasick>,
    units: BTreeSet<u16>,
    has_slash: bool,
}

impl IdProbe {
    pub(in crate::care::trim) fn new<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut units = BTreeSet::new();
        let mut patterns = Vec::new();
        let mut has_slash = false;
        for id in ids {
            units.extend(id.encode_utf16());
            has_slash |= id.contains('/');
            let mut escaped = String::new();
            json::write_string(id, &mut escaped);
            let inner = escaped.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            patterns.extend(inner.map(str::to_owned));
        }
        // Ids are bounded, so the automaton always fits. Without one, every line
        // is read.
        let canonical = AhoCorasick::new(&patterns).ok().filter(|_| !patterns.is_empty());
        Self { canonical, units, has_slash }
    }

    pub(in crate::care::trim) fn may_mention(&self, block: &[u8]) -> bool {
        self.canonical.as_ref().is_none_or(|canonical| canonical.is_match(block))
            || self.has_odd_escape(block)
    }

    fn has_odd_escape(&self, block: &[u8]) -> bool {
        if self.has_slash && memchr::memmem::find(block, b"\\/").is_some() {
            return true;
        }
        memchr::memmem::find_iter(block, b"\\u").any(|at| {
            block
                .get(at + 2..at + 6)
                .and_then(|digits| std::str::from_utf8(digits).ok())
                .and_then(|digits| u16::from_str_radix(digits, 16).ok())
                .is_some_and(|unit| self.units.contains(&unit))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Json;

    /// Writes each character of `id` plainly, escaped, or as `\uXXXX`.
    fn spelled(id: &str, choices: &[u8]) -> String {
        let mut text = String::from("\"");
        for (character, choice) in id.chars().zip(choices.iter().cycle()) {
            match (character, choice % 3) {
                ('/', 1) => text.push_str("\\/"),
                (_, 2) => {
                    let mut units = [0; 2];
                    for unit in character.encode_utf16(&mut units) {
                        let upper = choice % 2 == 0;
                        let digits = format!("{unit:04x}");
                        text.push_str("\\u");
                        text.push_str(&if upper { digits.to_uppercase() } else { digits });
                    }
                }
                _ => {
                    let mut plain = String::new();
                    json::write_string(&character.to_string(), &mut plain);
                    text.push_str(plain.strip_prefix('"').unwrap().strip_suffix('"').unwrap());
                }
            }
        }
        text.push('"');
        text
    }

    proptest! {
        #[test]
        fn no_spelling_of_an_id_is_missed(
            id in "[a-z/\"\\\\\u{e9}\u{1f600}\n]{1,12}",
            choices in proptest::collection::vec(any::<u8>(), 1..6),
        ) {
            let line = spelled(&id, &choices);
            let read = Json::parse(&line).unwrap();
            prop_assert_eq!(read.as_str(), Some(id.as_str()));
            prop_assert!(IdProbe::new([id.as_str()]).may_mention(line.as_bytes()));
        }
    }

    #[test]
    fn other_lines_pass() {
        let probe = IdProbe::new(["call_1", "call_2"]);
        assert!(!probe.may_mention(br#"{"text":"\u001b[31m call 1 \u00e9 \/"}"#));
        assert!(probe.may_mention(br#"{"id":"call_2"}"#));
    }
}
