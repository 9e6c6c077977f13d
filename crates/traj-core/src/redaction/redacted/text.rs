//! Assembling a text from redacted parts without losing the proof.
//!
//! A line of a bundle consists of constants, numbers and redacted values. Built
//! from only these three kinds of parts, it is [`Redacted`] without a second
//! pass.

use std::borrow::Cow;
use std::ops::Range;

use super::constant::ConstantText;
use super::proof::Redacted;
use crate::json::{Json, write_string};
use crate::timestamp::UnixMillis;

/// A text made of constants, numbers and redacted values.
#[derive(Clone, Debug, Default)]
pub struct RedactedText(String);

impl RedactedText {
    /// An empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self(String::new())
    }

    /// An empty text with capacity for `bytes`.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// An empty text that reuses the allocation of `buffer`.
    #[must_use]
    pub fn in_buffer(mut buffer: String) -> Self {
        buffer.clear();
        Self(buffer)
    }

    /// The text so far, as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The text so far, as a string.
    #[must_use]
    pub(crate) const fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// A copy of a part of the text; empty if the range is invalid.
    #[must_use]
    pub(crate) fn part(&self, part: Range<usize>) -> Redacted<String> {
        Redacted(self.0.get(part).unwrap_or_default().to_owned())
    }

    /// Shortens the text to `bytes` bytes, if that is a character boundary.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        if self.0.is_char_boundary(bytes) {
            self.0.truncate(bytes);
        }
    }

    /// Appends a constant of the program.
    pub fn push_constant(&mut self, text: ConstantText) -> &mut Self {
        self.push_static(text.as_str())
    }

    /// Appends a constant of this crate. Other crates use
    /// [`push_constant`](Self::push_constant), which accepts nothing else.
    pub(crate) fn push_static(&mut self, text: &'static str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// Appends a number.
    pub fn push_number(&mut self, number: u64) -> &mut Self {
        self.0.push_str(itoa::Buffer::new().format(number));
        self
    }

    /// Appends an instant as a JSON literal.
    pub fn push_instant(&mut self, instant: UnixMillis) -> &mut Self {
        self.0.push('"');
        instant.write_iso(&mut self.0);
        self.0.push('"');
        self
    }

    /// Appends a redacted text.
    pub fn push_text(&mut self, text: &Redacted<String>) -> &mut Self {
        self.0.push_str(&text.0);
        self
    }

    /// Appends a part of another text, if the range is valid.
    pub fn push_part(&mut self, text: &Self, part: Range<usize>) -> &mut Self {
        self.0.push_str(text.0.get(part).unwrap_or_default());
        self
    }

    /// Appends a redacted text that may still be borrowed.
    pub fn push_cow(&mut self, text: &Redacted<Cow<'_, str>>) -> &mut Self {
        self.0.push_str(&text.0);
        self
    }

    /// Appends a redacted text as a JSON literal.
    pub fn push_literal(&mut self, text: &Redacted<String>) -> &mut Self {
        write_string(&text.0, &mut self.0);
        self
    }

    /// Appends a value as compact JSON.
    pub fn push_json(&mut self, value: Redacted<&Json<'_>>) -> &mut Self {
        value.0.write_compact(&mut self.0);
        self
    }

    /// Appends an object as compact JSON, without the value of its member `name`,
    /// which is not known yet. Returns the position of that value in this text,
    /// if there is such a member.
    pub fn push_json_around(&mut self, value: Redacted<&Json<'_>>, name: &str) -> Option<usize> {
        value.0.write_compact_around(name, &mut self.0)
    }

    /// Appends a value, indented by two spaces per level.
    pub fn push_pretty(&mut self, value: Redacted<&Json<'_>>, level: usize) -> &mut Self {
        value.0.write_pretty(level, &mut self.0);
        self
    }

    /// Appends one JSON literal: a constant followed by a redacted string.
    pub(crate) fn push_prefixed(
        &mut self,
        prefix: &'static str,
        value: Redacted<&Json<'_>>,
    ) -> &mut Self {
        let text = value.0.as_str().unwrap_or_default();
        write_string(&[prefix, text].concat(), &mut self.0);
        self
    }

    /// Appends a text that was redacted before it was spilled.
    pub(super) fn push_kept(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// The number of bytes so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was appended yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes everything but keeps the capacity.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The capacity in bytes.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The text as a redacted string.
    #[must_use]
    pub fn finish(self) -> Redacted<String> {
        Redacted(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

    #[test]
    fn an_object_is_written_around_a_missing_value() {
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let around = |json: &'static str| {
            let value = redactor.json(Json::parse(json).unwrap(), &mut RedactionReport::new());
            let mut text = RedactedText::new();
            text.push_static("> ");
            let gap = text.push_json_around(value.view(), "seq");
            (gap, text.finish().into_inner())
        };
        let (gap, mut text) = around(r#"{"a":{"seq":1},"seq":7,"b":2}"#);
        text.insert_str(gap.unwrap(), "42");
        assert_eq!(text, r#"> {"a":{"seq":1},"seq":42,"b":2}"#);
        assert_eq!(around(r#"{"a":1}"#), (None, r#"> {"a":1}"#.to_owned()));
        assert_eq!(around(r#"["seq"]"#), (None, r#"> ["seq"]"#.to_owned()));
    }
}
