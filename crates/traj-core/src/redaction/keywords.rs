//! Finds every keyword of a text, several stretches of the text at a time.
//!
//! An automaton waits for each byte's state before it can look up the next
//! one. Four of them over four stretches wait at the same time, and together
//! need about half as long as one after the other.

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, BuildError, PatternID};

use super::sight::Change;

/// How many stretches are read side by side.
const LANES: usize = 4;
/// A shorter text is read in one go.
const MIN_LANE: usize = 64;
/// A longer text is read block by block: what is found is kept until its block
/// has been read.
const BLOCK: usize = 32 * 1024;

/// Where a keyword stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Which keyword, by its place in the list.
    pub(super) keyword: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An end of one or more keywords: the state says which.
pub(super) type End = (usize, StateID);

/// All keywords, matched without regard to ASCII case.
#[derive(Debug)]
pub(super) struct Keywords {
    automaton: DFA,
    start: StateID,
    /// What a stretch reads of the one before it, so that no keyword across
    /// the border is missed.
    overlap: usize,
}

impl Keywords {
    /// The automaton over `keywords`.
    pub(super) fn new(keywords: &[String]) -> Result<Self, Box<BuildError>> {
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(keywords)
            .map_err(Box::new)?;
        // The automaton has an unanchored start; it is asked for nothing else.
        let start = automaton.start_state(Anchored::No).unwrap_or_default();
        let overlap = automaton.max_pattern_len().saturating_sub(1);
        Ok(Self { automaton, start, overlap })
    }

    /// Whether any keyword stands in the text.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        let mut state = self.start;
        text.iter().any(|byte| {
            state = self.next(state, *byte);
            self.automaton.is_match(state)
        })
    }

    /// Every keyword of the text, overlapping ones too, by where they end.
    pub(super) fn find_all(&self, text: &[u8], mut found: impl FnMut(Hit)) {
        let mut ends: [Vec<End>; LANES] = Default::default();
        for first in (0..text.len()).step_by(BLOCK) {
            // As with stretches: what ends before was seen by the block before.
            let from = first.saturating_sub(self.overlap);
            let block = &text[from..text.len().min(first + BLOCK)];
            self.read_block(block, &mut ends);
            for (end, state) in ends.iter_mut().flat_map(|ends| ends.drain(..)) {
                let end = from + end;
                if end > first || first == 0 {
                    self.hits_at((end, state), &mut found);
                }
            }
        }
    }

    /// The keywords that end at a place.
    pub(super) fn hits_at(&self, (end, state): End, found: &mut impl FnMut(Hit)) {
        for index in 0..self.automaton.match_len(state) {
            let keyword: PatternID = self.automaton.match_pattern(state, index);
            let start = end - self.automaton.pattern_len(keyword);
            found(Hit { keyword: keyword.as_usize(), start, end });
        }
    }

    /// Where keywords end in a text that is not long.
    pub(super) fn ends(&self, text: &[u8]) -> Vec<End> {
        let mut ends: [Vec<End>; LANES] = Default::default();
        self.read_block(text, &mut ends);
        let [mut first, rest @ ..] = ends;
        for rest in rest {
            first.extend(rest);
        }
        first
    }

    /// Where keywords end in a text that was changed, knowing where they ended
    /// before: it is read again only as far as a keyword can reach from there.
    pub(super) fn ends_again(&self, text: &[u8], before: &[End], changes: &[Change]) -> Vec<End> {
        let mut ends = Vec::with_capacity(before.len() + 2 * changes.len());
        let mut before = before.iter().copied().peekable();
        let mut changes = changes.iter().copied().peekable();
        let moved = |end: usize, (from, to): (usize, usize)| end + to - from;
        let mut last = (0, 0);
        while let Some(first) = changes.next() {
            while let Some((end, state)) = before.next_if(|(end, _)| *end <= first.hidden.0) {
                ends.push((moved(end, last), state));
            }
            last = (first.hidden.1, first.marker.1);
            while let Some(next) = changes.next_if(|next| next.marker.0 <= last.1 + self.overlap) {
                last = (next.hidden.1, next.marker.1);
            }
            while before.next_if(|(end, _)| *end <= last.0 + self.overlap).is_some() {}
            let stop = text.len().min(last.1 + self.overlap);
            let from = first.marker.0.saturating_sub(self.overlap);
            let known = ends.len();
            self.read(text.get(..stop).unwrap_or_default(), from, self.start, &mut ends);
            let mut place = 0;
            // What ends before the marker is known.
            ends.retain(|(end, _)| {
                place += 1;
                place <= known || *end > first.marker.0
            });
        }
        ends.extend(before.map(|(end, state)| (moved(end, last), state)));
        ends
    }

    fn read_block(&self, block: &[u8], ends: &mut [Vec<End>; LANES]) {
        let lane = block.len().saturating_sub(self.overlap) / LANES;
        if lane < MIN_LANE.max(self.overlap) {
            self.read(block, 0, self.start, &mut ends[0]);
        } else {
            self.read_lanes(block, lane, ends);
        }
    }

    fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// Reads the text from `from` on.
    fn read(&self, text: &[u8], from: usize, mut state: StateID, ends: &mut Vec<End>) {
        for (at, byte) in text.iter().enumerate().skip(from) {
            state = self.next(state, *byte);
            if self.automaton.is_match(state) {
                ends.push((at + 1, state));
            }
        }
    }

    /// Reads the text as stretches of `lane` bytes, each with the overlap
    /// before it, and what is left behind the last.
    fn read_lanes(&self, text: &[u8], lane: usize, ends: &mut [Vec<End>; LANES]) {
        let length = lane + self.overlap;
        let stretch = |number: usize| text.get(number * lane..).unwrap_or_default();
        let [first, second, third, fourth] = [stretch(0), stretch(1), stretch(2), stretch(3)];
        let bytes = first.iter().zip(second).zip(third).zip(fourth).take(length);
        let mut states = [self.start; LANES];
        for (at, (((first, second), third), fourth)) in bytes.enumerate() {
            states = [
                self.next(states[0], *first),
                self.next(states[1], *second),
                self.next(states[2], *third),
                self.next(states[3], *fourth),
            ];
            // Without a prefilter nothing but an end is special; asking that takes one comparison.
            if states.iter().any(|state| self.automaton.is_special(*state)) {
                for (number, state) in states.iter().enumerate() {
                    // What ends in the overlap was seen by the stretch before.
                    let is_own = number == 0 || at >= self.overlap;
                    if is_own && self.automaton.is_match(*state) {
                        ends[number].push((number * lane + at + 1, *state));
                    }
                }
            }
        }
        let read = (LANES - 1) * lane + length;
        self.read(text, read, states[LANES - 1], &mut ends[LANES - 1]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hits(keywords: &[String], text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        Keywords::new(keywords).unwrap().find_all(text, |hit| hits.push(hit));
        hits
    }

    /// The same, looked for at every place.
    fn naive(keywords: &[String], text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for end in 1..=text.len() {
            for (keyword, word) in keywords.iter().enumerate() {
                let Some(start) = end.checked_sub(word.len()) else { continue };
                if text[start..end].eq_ignore_ascii_case(word.as_bytes()) {
                    hits.push(Hit { keyword, start, end });
                }
            }
        }
        hits
    }

    fn sorted(mut hits: Vec<Hit>) -> Vec<Hit> {
        hits.sort_by_key(|hit| (hit.end, hit.start, hit.keyword));
        hits
    }

    #[test]
    fn no_keyword_is_lost_or_found_twice_between_blocks() {
        let keywords = ["needle", "dle", "x"].map(str::to_owned);
        for shift in 0..8 {
            let mut text = vec![b'.'; 3 * BLOCK];
            for block in 1..3 {
                let at = block * BLOCK - shift;
                text[at..at + 6].copy_from_slice(b"nEEdle");
            }
            assert_eq!(sorted(hits(&keywords, &text)), sorted(naive(&keywords, &text)), "{shift}");
        }
    }

    proptest! {
        #[test]
        fn lanes_find_what_a_search_at_every_place_finds(
            text in "[abAB]{0,900}",
            keywords in proptest::collection::btree_set("[ab]{1,9}", 1..6),
        ) {
            let keywords: Vec<String> = keywords.into_iter().collect();
            let found = hits(&keywords, text.as_bytes());
            prop_assert!(found.is_sorted_by_key(|hit| hit.end));
            let is_in = Keywords::new(&keywords).unwrap().is_in(text.as_bytes());
            prop_assert_eq!(is_in, !found.is_empty());
            prop_assert_eq!(sorted(found), sorted(naive(&keywords, text.as_bytes())));
        }
    }
}
