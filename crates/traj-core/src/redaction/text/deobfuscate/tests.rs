//! Tests of the rewriting and of the map back to the original.

use proptest::prelude::*;

use super::*;
use crate::redaction::text::context::{Hook, hooks};

fn shown(shadow: Option<Vec<u8>>) -> Option<String> {
    shadow.map(|shadow| String::from_utf8_lossy(&shadow).into_owned())
}

fn plain(text: &str) -> Option<Vec<u8>> {
    same(text, Rewriting::Plain)
}

fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    same(std::str::from_utf8(text).unwrap(), Rewriting::Decoded)
}

fn joined(text: &[u8]) -> Option<Vec<u8>> {
    same(std::str::from_utf8(text).unwrap(), Rewriting::Joined)
}

/// The rewritten string, which is the same with a map and without.
fn same(text: &str, rewriting: Rewriting) -> Option<Vec<u8>> {
    let mapped = rewriting.mapped(text);
    assert!(mapped.iter().all(|mapped| mapped.text.len() == mapped.places.len()));
    let shadow = rewriting.text(text);
    assert_eq!(shadow, mapped.map(|mapped| mapped.text));
    shadow
}

#[test]
fn invisible_characters_are_removed_and_look_alikes_folded() {
    assert_eq!(shown(plain("gh\u{200b}p_\u{2066}x")).as_deref(), Some("ghp_x"));
    assert_eq!(shown(plain("ＡＰＩ＿ＫＥＹ＝")).as_deref(), Some("API_KEY="));
    assert_eq!(shown(plain("pаsswоrd")).as_deref(), Some("password"));
    assert_eq!(shown(plain("\u{1b}[33mkey\u{1b}[0m")).as_deref(), Some("key"));
    assert_eq!(shown(plain("a\0b\0c\0d\0")).as_deref(), Some("abcd"));
    assert_eq!(shown(plain("plain")), None);
}

#[test]
fn escapes_are_decoded() {
    for text in ["\\u0067h", "%67h", "&#103;h", "&#x67;h", "\\x67h"] {
        assert_eq!(shown(decoded(text.as_bytes())).as_deref(), Some("gh"), "{text}");
    }
    assert_eq!(shown(decoded(b"a=3Db=\ncd=5F")).as_deref(), Some("a=bcd_"));
    assert_eq!(shown(decoded(b"key=67ab==\nEOF")), None);
    assert_eq!(shown(decoded(b"100% sure")), None);
}

#[test]
fn joints_are_removed() {
    assert_eq!(shown(joined(b"ghp_ab\n  c9dE\nhost: x")).as_deref(), Some("ghp_abc9dE\nhost: x"));
    assert_eq!(shown(joined(b"\"ghp_\" + \"abcd\"")).as_deref(), Some("\"ghp_abcd\""));
    assert_eq!(shown(joined(b"ghp_\\\nab9d")).as_deref(), Some("ghp_ab9d"));
    // File names, digests and other tokens are not joined.
    assert_eq!(shown(joined(b"ghp_ab\nREADME.md\n")), None);
    assert_eq!(shown(joined(b"ghp_ab\n9fceb02d0ae598e95dc970b74767f19372d61af8\n")), None);
    assert_eq!(shown(joined(b"ghp_0aB1cD2eF3gH4iJ5kL6m\nghp_0aB1cD2eF3gH4iJ5kL6m\n")), None);
}

#[test]
fn a_range_maps_back_to_the_original() {
    let text = "key=gh\u{200b}p_x end";
    let shadow = Rewriting::Plain.mapped(text).unwrap();
    let (start, end) = shadow.origin(4, 9);
    assert_eq!(text.get(start..end), Some("gh\u{200b}p_x"));
    assert!(!shadow.is_verbatim(4, 9));
    assert!(shadow.is_verbatim(0, 4));
}

proptest! {
    /// `has_joint` is true exactly for the strings that `joined` changes.
    #[test]
    fn has_joint_agrees_with_joined(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "7Kq", "word", " ", "\n", "\r\n", "=\n", "=\r\n", "\\\n", "\\n", "\\\r\n", "\"", "'",
                "`", "\" + \"", "\" \"", "' . '", "\n    ", "\n> ", ":", "=", "\\", "é", ", ",
            ]),
            0..24,
        ),
    ) {
        let text = pieces.concat();
        let text = text.as_bytes();
        prop_assert_eq!(has_joint(text, 0, text.len()), joined(text).is_some());
    }

    /// Every string that `decoded` changes has a keyword and an escape.
    #[test]
    fn every_decoded_escape_is_noticed(
        before in "[a%&=]{0,3}",
        escape in prop::sample::select(vec![
            "\\u0067", "\\\\u0067", "\\x67", "%67", "%6", "%0a", "&amp;", "&AMP;", "&#103;", "&#x67;",
            "&#7;", "=3D", "=3d", "=67", "quoted-printable =67", "Quoted-Printable =67", "&", "a=b",
        ]),
        behind in "[a%;=]{0,3}",
    ) {
        let text = format!("{before}{escape}{behind}");
        let text = text.as_bytes();
        let is_keyword = |text: &[u8]| {
            let mut hooks = hooks().into_iter().filter(|(_, hook)| *hook == Hook::Escape);
            hooks.any(|(word, _)| text.to_ascii_lowercase().starts_with(word.as_bytes()))
        };
        let is_seen =
            (0..text.len()).any(|at| is_keyword(&text[at..]) && is_escape(&text[at..]));
        prop_assert!(is_seen || decoded(text).is_none(), "{:?}", text);
    }
}
