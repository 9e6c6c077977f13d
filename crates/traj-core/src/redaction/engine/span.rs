//! Ranges of a string that must be hidden, and how overlapping ones are merged.

use crate::redaction::rule::RuleIndex;

/// A range of bytes that a rule wants hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct Span {
    /// First byte of the secret.
    pub(in crate::redaction) start: usize,
    /// One past the last byte.
    pub(in crate::redaction) end: usize,
    /// The rule that found it.
    pub(in crate::redaction) rule: RuleIndex,
    /// How specific the rule is: the prefix of a token says more than the name
    /// of its field.
    pub(in crate::redaction) rank: u8,
}

/// Rank of a finding by name or context alone.
pub(in crate::redaction) const RANK_FRAME: u8 = 1;
/// Rank of a finding by the format of the value.
pub(super) const RANK_TOKEN: u8 = 2;
/// Rank of a finding by a user rule.
pub(super) const RANK_USER: u8 = 3;

impl Span {
    /// A finding by context.
    pub(in crate::redaction) const fn frame(start: usize, end: usize, rule: RuleIndex) -> Self {
        Self { start, end, rule, rank: RANK_FRAME }
    }
}

/// Sorts spans, extends them to character boundaries and merges those that
/// overlap; the most specific rule names the merged span.
pub(in crate::redaction) fn unite(text: &str, spans: &mut Vec<Span>) {
    for span in spans.iter_mut() {
        span.end = span.end.min(text.len());
        while !text.is_char_boundary(span.start) {
            span.start -= 1;
        }
        while !text.is_char_boundary(span.end) {
            span.end += 1;
        }
    }
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| (span.start, span.end));
    let mut united: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans.drain(..) {
        match united.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                // At equal rank, the rule that comes first in the tables wins.
                if (span.rank, last.rule) > (last.rank, span.rule) {
                    last.rank = span.rank;
                    last.rule = span.rule;
                }
            }
            _ => united.push(span),
        }
    }
    *spans = united;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_are_merged_under_the_most_specific_rule() {
        let frame = RuleIndex::new(1);
        let token = RuleIndex::new(2);
        let mut spans = vec![
            Span { start: 4, end: 9, rule: token, rank: RANK_TOKEN },
            Span::frame(2, 6, frame),
            Span::frame(9, 11, frame),
        ];
        unite("0123456789abc", &mut spans);
        assert_eq!(
            spans,
            [Span { start: 2, end: 9, rule: token, rank: RANK_TOKEN }, Span::frame(9, 11, frame)]
        );
    }

    #[test]
    fn spans_never_split_a_character() {
        let mut spans = vec![Span::frame(1, 2, RuleIndex::new(0))];
        unite("é!", &mut spans);
        assert_eq!((spans[0].start, spans[0].end), (0, 2));
    }
}
