//! Finds every keyword in a string, reading several ranges of it in parallel.
//!
//! Each lookup of the automaton depends on the one before, so a single pass is
//! bound by latency. Interleaved passes over several ranges overlap their lookups
//! and take less than half the time of one pass.

mod automaton;

use automaton::{Automaton, Entry, START, State, Table};

use crate::redaction::text::rescan::MarkerChange;

/// Number of ranges that are read in parallel.
const LANES: usize = 4;
/// Shortest range; a shorter string is read in one pass.
const MIN_LANE: usize = 64;
/// A longer string is read block by block, because the findings of a block are
/// buffered until all of it has been read.
const BLOCK: usize = 32 * 1024;

/// In prose, a keyword ends in about as many bytes. More frequent ones cost another
/// allocation.
const BYTES_PER_END: usize = 24;

/// The position of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeywordHit {
    /// Index of the keyword in the list.
    pub(in crate::redaction) keyword: usize,
    pub(in crate::redaction) start: usize,
    pub(in crate::redaction) end: usize,
}

/// Where one or more keywords end; the state identifies them.
pub(in crate::redaction) type End = (usize, State);

/// All keywords, matched ignoring ASCII case.
#[derive(Debug)]
pub(in crate::redaction) struct Keywords {
    automaton: Automaton,
    /// Bytes that a range shares with the one before it, so that no keyword across
    /// the border is missed.
    overlap: usize,
}

impl Keywords {
    /// The automaton over `keywords`, which must be distinct and not empty.
    pub(in crate::redaction) fn new(keywords: &[String]) -> Self {
        let automaton = Automaton::new(keywords);
        let overlap = automaton.longest().saturating_sub(1);
        Self { automaton, overlap }
    }

    /// Whether the table has the smaller entries.
    #[cfg(test)]
    pub(in crate::redaction) const fn is_narrow(&self) -> bool {
        matches!(self.automaton.table(), Table::Narrow(_))
    }

    /// Whether the string contains any keyword.
    pub(in crate::redaction) fn is_in(&self, text: &[u8]) -> bool {
        match self.automaton.table() {
            Table::Narrow(table) => self.is_in_by(table, text),
            Table::Wide(table) => self.is_in_by(table, text),
        }
    }

    fn is_in_by<E: Entry>(&self, table: &[E], text: &[u8]) -> bool {
        let mut state = START;
        text.iter().any(|byte| {
            state = self.automaton.next(table, state, *byte);
            self.automaton.is_end(state)
        })
    }

    /// Finds every keyword in the string, including overlapping ones, ordered by
    /// their ends.
    pub(super) fn find_all(&self, text: &[u8], mut found: impl FnMut(KeywordHit)) {
        let mut ends: [Vec<End>; LANES] = Default::default();
        for first in (0..text.len()).step_by(BLOCK) {
            // The blocks overlap like the ranges do.
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

    /// Reports the keywords that end at `end`.
    pub(super) fn hits_at(&self, (end, state): End, found: &mut impl FnMut(KeywordHit)) {
        for (keyword, length) in self.automaton.keywords(state) {
            found(KeywordHit { keyword, start: end - length, end });
        }
    }

    /// Where keywords end in a string that fits in one block.
    pub(in crate::redaction) fn ends(&self, text: &[u8]) -> Vec<End> {
        let room = |bytes: usize| Vec::with_capacity(bytes / BYTES_PER_END + LANES);
        // The first takes in the others.
        let mut ends: [Vec<End>; LANES] = std::array::from_fn(|lane| {
            room(if lane == 0 { text.len() } else { text.len() / LANES })
        });
        self.read_block(text, &mut ends);
        let [mut first, rest @ ..] = ends;
        for rest in rest {
            first.extend(rest);
        }
        first
    }

    /// Where keywords end in a string that was changed, given where they ended
    /// before. Reads again only the bytes near the changes.
    pub(in crate::redaction) fn ends_again(
        &self,
        text: &[u8],
        before: &[End],
        changes: &[MarkerChange],
    ) -> Vec<End> {
        // Where changes are dense, reading all of the string in parallel is faster.
        if changes.len() * 4 * self.overlap > text.len() {
            return self.ends(text);
        }
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
            self.read_from(text.get(..stop).unwrap_or_default(), from, &mut ends);
            // The ends before the marker are already known.
            let read = ends.get(known..).unwrap_or_default();
            let behind = read.partition_point(|(end, _)| *end <= first.marker.0);
            ends.drain(known..known + behind);
        }
        ends.extend(before.map(|(end, state)| (moved(end, last), state)));
        ends
    }

    fn read_block(&self, block: &[u8], ends: &mut [Vec<End>; LANES]) {
        let lane = block.len().saturating_sub(self.overlap) / LANES;
        if lane < MIN_LANE.max(self.overlap) {
            self.read_from(block, 0, &mut ends[0]);
        } else {
            match self.automaton.table() {
                Table::Narrow(table) => self.read_lanes(table, block, lane, ends),
                Table::Wide(table) => self.read_lanes(table, block, lane, ends),
            }
        }
    }

    fn read_from(&self, text: &[u8], from: usize, ends: &mut Vec<End>) {
        match self.automaton.table() {
            Table::Narrow(table) => self.read(table, text, from, START, ends),
            Table::Wide(table) => self.read(table, text, from, START, ends),
        }
    }

    /// Reads the string from `from` to its end.
    fn read<E: Entry>(
        &self,
        table: &[E],
        text: &[u8],
        from: usize,
        mut state: State,
        ends: &mut Vec<End>,
    ) {
        for (at, byte) in text.iter().enumerate().skip(from) {
            state = self.automaton.next(table, state, *byte);
            if self.automaton.is_end(state) {
                ends.push((at + 1, state));
            }
        }
    }

    /// Records the keywords that end after byte `at` of each range. A separate
    /// function, so that the values of the hot loop stay in registers.
    #[cold]
    #[inline(never)]
    fn note_ends(
        &self,
        states: [State; LANES],
        lane: usize,
        at: usize,
        ends: &mut [Vec<End>; LANES],
    ) {
        // The range before has already reported the ends in the overlap.
        let own = if at >= self.overlap { LANES } else { 1 };
        for (number, (state, ends)) in states.into_iter().zip(ends).enumerate().take(own) {
            if self.automaton.is_end(state) {
                ends.push((number * lane + at + 1, state));
            }
        }
    }

    /// Reads the string as ranges of `lane` bytes plus the overlap, then the rest
    /// after the last range.
    fn read_lanes<E: Entry>(
        &self,
        table: &[E],
        text: &[u8],
        lane: usize,
        ends: &mut [Vec<End>; LANES],
    ) {
        let length = lane + self.overlap;
        let stretches: [&[u8]; LANES] =
            std::array::from_fn(|number| &text[number * lane..number * lane + length]);
        let mut states = [START; LANES];
        for at in 0..length {
            let mut is_end = false;
            for (state, stretch) in states.iter_mut().zip(stretches) {
                *state = self.automaton.next(table, *state, stretch[at]);
                is_end |= self.automaton.is_end(*state);
            }
            if is_end {
                self.note_ends(states, lane, at, ends);
            }
        }
        let read = (LANES - 1) * lane + length;
        self.read(table, text, read, states[LANES - 1], &mut ends[LANES - 1]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hits(keywords: &[String], text: &[u8]) -> Vec<KeywordHit> {
        let mut hits = Vec::new();
        Keywords::new(keywords).find_all(text, |hit| hits.push(hit));
        hits
    }

    /// The same result from a search at every position.
    fn naive(keywords: &[String], text: &[u8]) -> Vec<KeywordHit> {
        let mut hits = Vec::new();
        for end in 1..=text.len() {
            for (keyword, word) in keywords.iter().enumerate() {
                let Some(start) = end.checked_sub(word.len()) else { continue };
                if text[start..end].eq_ignore_ascii_case(word.as_bytes()) {
                    hits.push(KeywordHit { keyword, start, end });
                }
            }
        }
        hits
    }

    fn sorted(mut hits: Vec<KeywordHit>) -> Vec<KeywordHit> {
        hits.sort_by_key(|hit| (hit.end, hit.start, hit.keyword));
        hits
    }

    #[test]
    fn keywords_across_blocks_are_found_once() {
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

    #[test]
    fn keywords_that_need_a_wide_table_are_found() {
        let mut keywords: Vec<String> =
            (0..9_000).map(|number| format!("word-{number}-é")).collect();
        keywords.push("d-77".to_owned());
        let text = "a wORd-7777-é, word-8999-é and word-8999-e".as_bytes();
        assert_eq!(sorted(hits(&keywords, text)), sorted(naive(&keywords, text)));
        assert_eq!(hits(&keywords, text).len(), 3);
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
            let is_in = Keywords::new(&keywords).is_in(text.as_bytes());
            prop_assert_eq!(is_in, !found.is_empty());
            prop_assert_eq!(sorted(found), sorted(naive(&keywords, text.as_bytes())));
        }
    }
}
