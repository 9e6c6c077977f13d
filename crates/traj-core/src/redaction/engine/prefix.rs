//! Patterns that begin with a keyword, tried at every place where the keyword is.
//!
//! The text may repeat a prefix inside the alphabet of its token (`sk-sk-sk-…`).
//! Then each prefix begins a match that reaches the end of the same run. To keep
//! the work linear, the search remembers the last long match of each rule. Inside
//! that match it reads only a bounded window per prefix: a match that fills the
//! window ends where the long one ends. A larger window reads only bytes that no
//! window of the rule has read.

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::{Engine, passes, secret_of, steps};
use crate::redaction::rule::{Rule, RuleIndex};
use crate::redaction::text::context::ContextScan;
use crate::redaction::text::deobfuscate::is_token;

/// First window.
const PREFIX_WINDOW: usize = 512;
/// Largest window for a pattern that has not matched yet.
const MAX_WINDOW: usize = 128 * 1024;
/// Window of a prefix inside a match of the same rule, unless the shortest token
/// needs a larger one.
const INNER_WINDOW: usize = 128;

/// The last long match of a rule.
#[derive(Clone, Copy, Debug, Default)]
struct LongMatch {
    /// Where the match ends.
    end: usize,
    /// Whether the rule accepted it.
    is_hidden: bool,
}

/// What the search of one string remembers.
#[derive(Debug, Default)]
pub(super) struct PrefixSearch {
    /// The last long match of each rule; empty until there is one.
    long: Vec<LongMatch>,
    /// The start and end of the last run of token characters that was measured.
    run: (usize, usize),
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// The window of a prefix inside a match.
    inner_window: usize,
}

impl Pattern {
    /// A pattern whose shortest match has `shortest` bytes.
    pub(super) fn new(regex: Regex, shortest: usize) -> Self {
        Self { regex, inner_window: INNER_WINDOW.max(shortest.saturating_mul(2)) }
    }
}

impl PrefixSearch {
    fn long_match(&self, rule: RuleIndex) -> LongMatch {
        self.long.get(rule.place()).copied().unwrap_or_default()
    }

    fn remember(&mut self, rule: RuleIndex, found: LongMatch) {
        if self.long.len() <= rule.place() {
            self.long.resize(rule.place() + 1, LongMatch::default());
        }
        if let Some(known) = self.long.get_mut(rule.place()) {
            *known = found;
        }
    }

    /// The end of the run of token characters that begins at `start`.
    fn run_end(&mut self, text: &[u8], start: usize) -> usize {
        if self.run.0 != start || self.run.1 == 0 {
            let rest = text.get(start..).unwrap_or_default();
            let rest = rest.get(..MAX_WINDOW).unwrap_or(rest);
            let length = rest.iter().position(|byte| !is_token(*byte)).unwrap_or(rest.len());
            steps::count(length);
            self.run = (start, start + length);
        }
        self.run.1
    }
}

impl Engine {
    /// Tries the pattern of a rule at its keyword at `start..end`.
    pub(super) fn prefixed(
        &self,
        scan: &mut ContextScan<'_>,
        search: &mut PrefixSearch,
        index: RuleIndex,
        (start, end): (usize, usize),
    ) {
        let text = scan.text;
        if !boundary_before(text, start) {
            return;
        }
        let Some(rule) = self.rule(index) else {
            return;
        };
        // The automaton ignores case, issued tokens do not.
        let ignores_case = rule.pattern.starts_with("(?i");
        let is_keyword = |keyword: &[u8]| text.get(start..end) == Some(keyword);
        if !ignores_case && !rule.keywords.iter().any(|keyword| is_keyword(keyword.as_bytes())) {
            return;
        }
        // A plain word, such as the name of an issuer, does not begin a split token.
        let is_word = ignores_case && scan.slice(start, end).iter().all(u8::is_ascii_alphabetic);
        scan.token_seen |= !is_word;
        let Some(pattern) = self.pattern(index) else {
            return;
        };
        let known = search.long_match(index);
        if start + pattern.inner_window < known.end {
            self.prefixed_inside(scan, search, (index, rule, pattern), start);
            return;
        }
        let mut stop = start.saturating_add(PREFIX_WINDOW).min(text.len());
        let mut has_grown = false;
        let (first, last) = loop {
            steps::count(stop - start);
            let input = Input::new(text).range(start..stop).anchored(Anchored::Yes);
            match secret_of(&pattern.regex, input, rule.group) {
                // A match that reaches the end of the window may be longer.
                Some((_, last)) if last == stop && stop < text.len() => {
                    stop = start.saturating_add((stop - start) * 4).min(text.len());
                }
                Some(span) => break span,
                // A long token may need a larger window. Only at the start of a run,
                // so that no run is read twice.
                None if !has_grown && stop < text.len() && begins_run(text, start) => {
                    let run = search.run_end(text, start);
                    if run < stop {
                        return;
                    }
                    has_grown = true;
                    stop = (run + 1).min(text.len());
                }
                None => return,
            }
        };
        let is_hidden = self.accept(scan, index, (first, last));
        if last - start > pattern.inner_window {
            search.remember(index, LongMatch { end: last, is_hidden });
        }
    }

    /// Tries the pattern of a rule inside the last match of the same rule.
    fn prefixed_inside(
        &self,
        scan: &mut ContextScan<'_>,
        search: &mut PrefixSearch,
        (index, rule, pattern): (RuleIndex, &Rule, &Pattern),
        start: usize,
    ) {
        let known = search.long_match(index);
        let stop = start + pattern.inner_window;
        steps::count(stop - start);
        let input = Input::new(scan.text).range(start..stop).anchored(Anchored::Yes);
        let Some((first, last)) = secret_of(&pattern.regex, input, rule.group) else {
            return;
        };
        if last < stop {
            self.accept(scan, index, (first, last));
        } else if !known.is_hidden && passes(rule, scan.slice(first, last)) {
            // The token continues to the end of the match that was not accepted.
            self.hide(scan, index, (first, known.end));
            search.remember(index, LongMatch { is_hidden: true, ..known });
        }
    }
}

/// Whether a run of token characters begins at `start`.
fn begins_run(text: &[u8], start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    before.is_none_or(|byte| !is_token(*byte))
}

/// Whether a token may begin at `start`: not after a letter or digit, unless that
/// ends an escape such as `\n`, `%3D`, `\u003d` or a terminal colour.
fn boundary_before(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|place| text[place]) else {
        return true;
    };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let back = |count: usize| start.checked_sub(count).map_or(0, |place| text[place]);
    (matches!(before, b'n' | b'r' | b't') && back(2) == b'\\')
        || (back(3) == b'%' && back(2).is_ascii_hexdigit() && before.is_ascii_hexdigit())
        || (back(6) == b'\\' && back(5) == b'u')
        || (before == b'm' && is_colour(&text[start.saturating_sub(12)..start]))
}

fn is_colour(before: &[u8]) -> bool {
    before.iter().rposition(|byte| *byte == 0x1b).is_some_and(|escape| {
        before[escape + 1..before.len() - 1]
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'[' | b';'))
    })
}
