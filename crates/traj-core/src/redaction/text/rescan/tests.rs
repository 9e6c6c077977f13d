//! Compares a rescan with a full search.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::redaction::engine::Engine;
use crate::redaction::engine::span::Span;
use crate::redaction::marker::{self, MarkerKey, Stamp};
use crate::redaction::rule::RuleClass;
use crate::redaction::rule::RuleSet;
use crate::redaction::rule::allow_list::AllowList;
use crate::redaction::rule::template;
use crate::redaction::text::find::Finder;

/// Contexts of secrets, and separators.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\r\n",
    "\t",
    "\"",
    "'",
    "`",
    "=",
    ":",
    ": ",
    ", ",
    "; ",
    "| ",
    "\\",
    "\\n",
    "\\\"",
    "<",
    ">",
    "<redacted:github-pat:3f9a1c>",
    "<redacted:x:",
    "&amp;",
    "&#103;",
    "%3D",
    "%67",
    "\\u0067",
    "\\x67",
    "=3D",
    "=\n",
    "quoted-printable",
    "\" + \"",
    "\" \"",
    "\u{200b}",
    "\0",
    "\u{1b}[31m",
    "password=",
    "Password: ",
    "the password is ",
    "token: \"",
    "api_key,secret\n",
    "use ",
    " as the password",
    "Authorization: Bearer ",
    "Cookie: sid=",
    "curl -u me:",
    "mysql -u root -p",
    "://user:",
    "@host/",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN PUBLIC KEY-----\n",
    "\n-----END PUBLIC KEY-----\n",
    "insert into t (name, password) values ('a', '",
    "')",
    "recovery codes:\n",
    "seed phrase: ",
    "ghp_",
    "sk-",
    "AKIA",
    "eyJ",
    "key",
    "x7Kq",
    "Zm9vYmFyYmF6",
    "0123456789abcdef",
];

static EXAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let rules = RuleSet::builtin().rules;
    let texts =
        rules.iter().flat_map(|rule| rule.examples.iter().chain(rule.counter_examples.iter()));
    texts.map(|text| template::fill(text, 1).replace(['⟦', '⟧'], "")).collect()
});

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let classes = [RuleClass::Credential, RuleClass::Personal, RuleClass::Address];
    Engine::new(RuleSet::builtin().rules, &classes)
});

fn hide(text: &str, spans: &[Span], sight: &mut Rescan) -> String {
    let stamp = Stamp::new(&MarkerKey::new([7; 32]));
    let mut out = String::new();
    let mut copied = 0;
    for span in spans {
        out.push_str(text.get(copied..span.start).unwrap());
        let start = out.len();
        let (kind, secret) = (ENGINE.kind(span.rule), &text.as_bytes()[span.start..span.end]);
        marker::write(&mut out, kind, marker::digits(&stamp, kind, secret));
        sight.note(MarkerChange { hidden: (span.start, span.end), marker: (start, out.len()) });
        copied = span.end;
    }
    out.push_str(text.get(copied..).unwrap());
    out
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(|index| index.get(&EXAMPLES).clone()),
        4 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => "[A-Za-z0-9+/_-]{1,40}",
        1 => "[a-z ]{0,200}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_rescan_finds_the_same_as_a_full_search(
        pieces in prop::collection::vec(piece(), 1..12),
    ) {
        let none = AllowList::default();
        let finder = Finder { engine: &ENGINE, allow: &none };
        let mut text = pieces.concat();
        let mut sight = Rescan::default();
        for _ in 0..4 {
            let fresh = finder.find(&text);
            let again = finder.find_again(&text, &mut sight);
            prop_assert_eq!(&again.spans, &fresh.spans, "{}", text);
            prop_assert_eq!(again.markers, fresh.markers);
            prop_assert_eq!(&again.survivors, &fresh.survivors);
            text = hide(&text, &fresh.spans, &mut sight);
        }
    }
}

#[test]
fn a_string_that_grew_too_long_is_searched_from_scratch() {
    let none = AllowList::default();
    let finder = Finder { engine: &ENGINE, allow: &none };
    let mut sight = Rescan::default();
    let long = format!("{} password=hunter22", "word ".repeat(LONGEST / 5));
    for text in ["password=hunter22 and more", &long, "and token=\"x8Kq2mZr9\" here"] {
        let found = finder.find_again(text, &mut sight);
        assert_eq!(found.spans, finder.find(text).spans, "{text}");
        assert!(!found.spans.is_empty());
        if text.len() > LONGEST {
            sight.note(MarkerChange { hidden: (0, 1), marker: (0, 9) });
        } else {
            hide(text, &found.spans, &mut sight);
        }
    }
}
