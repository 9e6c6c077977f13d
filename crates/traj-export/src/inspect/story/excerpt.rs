//! A string from a run, shortened in the middle.

use serde::Serialize;
use traj_core::run::{Content, cut};

/// How many characters of a line are kept, unless the full text is requested.
const LONGEST_LINE: usize = 2_000;

/// A string, shortened in the middle.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Excerpt {
    /// The beginning, or the whole string.
    pub text: String,
    /// The number of lines omitted after it.
    #[serde(skip_serializing_if = "is_zero")]
    pub hidden_lines: u64,
    /// The end, after the omitted lines.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rest: String,
    /// How many bytes of the string the event does not have.
    #[serde(skip)]
    pub bytes_elsewhere: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Excerpt {
    /// The string with at most `lines` lines; all of it without a limit.
    #[must_use]
    pub fn of(content: &Content<'_>, lines: Option<usize>) -> Self {
        let text = content.to_text();
        let bytes_elsewhere = content.bytes_elsewhere();
        if lines.is_none() && bytes_elsewhere > 0 {
            // Its end is elsewhere.
            return Self { text, bytes_elsewhere, ..Self::default() };
        }
        let text = text.trim_end();
        let Some(limit) = lines else {
            return Self { text: text.to_owned(), ..Self::default() };
        };
        let total = text.lines().count();
        if total <= limit {
            return Self { text: joined(text.lines()), ..Self::default() };
        }
        let (head, tail) = (limit.div_ceil(2), limit / 2);
        Self {
            text: joined(text.lines().take(head)),
            hidden_lines: (total - head - tail) as u64,
            rest: joined(text.lines().skip(total - tail)),
            bytes_elsewhere: 0,
        }
    }

    /// Whether there is no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.text.len() + self.rest.len()
    }

    /// Whether it has more of a string than another.
    #[must_use]
    pub const fn is_longer_than(&self, other: &Self) -> bool {
        self.bytes() > other.bytes()
            || (self.bytes() == other.bytes() && self.bytes_elsewhere > other.bytes_elsewhere)
    }

    /// The size of the string, also of what the event does not have.
    #[must_use]
    pub const fn whole_bytes(&self) -> u64 {
        (self.bytes() as u64).saturating_add(self.bytes_elsewhere)
    }
}

fn joined<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    lines.map(|line| cut(line, LONGEST_LINE)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_in_the_middle() {
        let content = Content::Text("1\n2\n3\n4\n5\n6\n");
        let cut = Excerpt::of(&content, Some(3));
        assert_eq!((cut.text.as_str(), cut.hidden_lines, cut.rest.as_str()), ("1\n2", 3, "6"));
        let whole = Excerpt::of(&content, Some(6));
        assert_eq!((whole.text.as_str(), whole.hidden_lines), ("1\n2\n3\n4\n5\n6", 0));
        let long = "x".repeat(5_000);
        assert_eq!(Excerpt::of(&Content::Text(&long), Some(3)).text.chars().count(), 2_001);
        assert_eq!(Excerpt::of(&Content::Text(&long), None).text, long);
    }
}
