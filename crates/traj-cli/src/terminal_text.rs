//! Makes text from files safe to print: it must not control the terminal or
//! reorder what the user sees.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Replaces control and direction characters with visible escapes.
pub(crate) fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.contains(steers_terminal) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            steering if steers_terminal(steering) => {
                // Writing to a string cannot fail.
                write!(escaped, "\\u{{{:x}}}", u32::from(steering)).ok();
            }
            plain => escaped.push(plain),
        }
    }
    Cow::Owned(escaped)
}

/// The width of a string in columns.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts a line to at most `width` columns; an ellipsis marks the cut.
pub(crate) fn clip(text: &str, width: usize) -> String {
    let text = escape_control(text);
    if columns(&text) <= width {
        return text.into_owned();
    }
    let mut clipped = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or_default();
        if used > width {
            break;
        }
        clipped.push(character);
    }
    clipped.push('…');
    clipped
}

/// JSON with the same characters as JSON escapes, so the value is unchanged.
/// They only occur in strings: the rest of a document is plain ASCII.
pub(crate) fn escape_json(json: String) -> String {
    // Newlines only occur between values; in strings they are already escaped.
    let steers = |character: char| character != '\n' && steers_terminal(character);
    if !json.contains(steers) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if steers(character) {
            // Writing to a string cannot fail. No surrogate pairs are needed.
            write!(escaped, "\\u{:04x}", u32::from(character)).ok();
        } else {
            escaped.push(character);
        }
    }
    escaped
}

fn steers_terminal(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(escape_control("plain ünï 😀"), "plain ünï 😀");
        assert_eq!(
            escape_control("a\u{1b}[31mb\n\u{202e}c\u{9b}"),
            "a\\u{1b}[31mb\\n\\u{202e}c\\u{9b}"
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(clip("日本語です", 6), "日本…");
        assert_eq!((clip("plain", 5), columns("日本")), ("plain".to_owned(), 4));
        assert_eq!(clip("a\u{1b}[31m", 20), "a\\u{1b}[31m");
    }

    #[test]
    fn escaped_json_has_the_same_value_without_control_characters() {
        let text = "a\u{7f}\u{9b}\u{61c}\u{200e}\u{2028}\u{202e}\u{2069} ü😀\n";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let escaped = escape_json(json);
        assert!(!escaped.contains(|c| c != '\n' && steers_terminal(c)), "{escaped:?}");
        assert!(escaped.contains("ü😀") && escaped.contains("\\u009b"), "{escaped:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [text]);
    }
}
