//! Translates patterns written for Go's regex engine.
//!
//! Both engines run in linear time and have nearly the same syntax. Go reads a
//! brace that is not a repetition, a bracket inside a class and `\<` literally;
//! this engine does not, so they are rewritten.

use std::iter::Peekable;
use std::str::CharIndices;

/// The same pattern in the syntax of this engine.
pub(super) fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut characters = pattern.char_indices().peekable();
    let mut class: Option<usize> = None;
    while let Some((at, character)) = characters.next() {
        let behind = pattern.get(at + character.len_utf8()..).unwrap_or_default();
        match (character, class) {
            ('\\', _) => escape(&mut characters, &mut out),
            ('[', None) => {
                class = Some(0);
                out.push('[');
                continue;
            }
            ('[', Some(_)) if !behind.starts_with(':') => out.push_str("\\["),
            ('[', Some(_)) => posix_class(&mut characters, &mut out),
            // The first bracket in a class is literal.
            (']', Some(0)) => out.push_str("\\]"),
            (']', Some(_)) => {
                class = None;
                out.push(']');
            }
            ('^', Some(0)) => {
                out.push('^');
                continue;
            }
            ('&' | '~', Some(_)) => out.extend(['\\', character]),
            ('{', None) if !counts(behind) => out.push_str("\\{"),
            _ => out.push(character),
        }
        class = class.map(|seen| seen + 1);
    }
    out
}

/// Translates a backslash and the character after it.
fn escape(characters: &mut Peekable<CharIndices<'_>>, out: &mut String) {
    match characters.next() {
        Some((_, angle @ ('<' | '>'))) => out.push(angle),
        Some((_, other)) => out.extend(['\\', other]),
        None => out.push('\\'),
    }
}

/// Copies a class such as `[:alpha:]` inside a class, including its closing
/// bracket.
fn posix_class(characters: &mut Peekable<CharIndices<'_>>, out: &mut String) {
    out.push('[');
    for (_, character) in characters.by_ref() {
        out.push(character);
        if character == ']' {
            return;
        }
    }
}

/// Whether `3}`, `3,}` or `3,5}` follows an opening brace.
fn counts(behind: &str) -> bool {
    let Some((inside, _)) = behind.split_once('}') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match inside.split_once(',') {
        None => is_number(inside),
        Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_only_syntax_is_rewritten() {
        let cases = [
            (r"^\$(?:\d+|{\d+})$", r"^\$(?:\d+|\{\d+})$"),
            (r"a{2}b{2,}c{2,3}d{,3}", r"a{2}b{2,}c{2,3}d\{,3}"),
            (r"[a[b]{3}", r"[a\[b]{3}"),
            (r"[[:alnum:]_]+", r"[[:alnum:]_]+"),
            (r"[]x][^]x]", r"[\]x][^\]x]"),
            (r"[a&&b~~c{]", r"[a\&\&b\~\~c{]"),
            (r"\<b\>\{\[\]", r"<b>\{\[\]"),
            (r"(?i)[\w.-]{0,50}?(?:=|>|:{1,3}=)", r"(?i)[\w.-]{0,50}?(?:=|>|:{1,3}=)"),
        ];
        for (go, ours) in cases {
            assert_eq!(translate(go), ours);
            assert!(crate::redaction::engine::compile(&translate(go)).is_ok(), "{go}");
        }
    }
}
