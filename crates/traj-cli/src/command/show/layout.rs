//! Lines of a given width. Wide characters take two columns, and control
//! characters from files are escaped.

use unicode_width::UnicodeWidthChar as _;

use crate::terminal_text::{columns, escape_control};

/// A tab becomes this many spaces.
const TAB: &str = "    ";

/// Breaks text from a file into lines of `width` columns, between words where
/// possible. Escapes control and direction characters.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', TAB);
        wrap_line(&escape_control(&line), width, &mut lines);
    }
    lines
}

fn wrap_line(line: &str, width: usize, lines: &mut Vec<String>) {
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let bare = columns(word.trim_end_matches(' '));
        if used + bare > width && used > 0 {
            lines.push(current.trim_end().to_owned());
            current.clear();
            used = 0;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or_default();
            if used + wide > width && used > 0 {
                // Drop a space at the end of a full line.
                if character == ' ' {
                    continue;
                }
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push(character);
            used += wide;
        }
    }
    lines.push(current.trim_end().to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal_text::clip;

    #[test]
    fn lines_break_between_words_and_within_long_ones() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrap("  indented", 20), ["  indented"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(clip("日本語です", 6), "日本…");
        assert_eq!(clip("plain", 5), "plain");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(wrap("a\u{1b}]0;t\u{7}\u{202e}b", 60), ["a\\u{1b}]0;t\\u{7}\\u{202e}b"]);
    }
}
