//! The automaton over all keywords: one look into a table for every byte.
//!
//! Upper and lower case are one class of bytes, and the classes of text come
//! first: what a state says about the letters of a text lies close together,
//! and the states that prose comes by fit into the memory next to the core.
//! The tables of the aho-corasick crate, made for any bytes, keep the cases
//! apart and take several times the room, which takes the text half as long
//! again.

use std::collections::VecDeque;

/// The classes that come first, most frequent first.
const FIRST: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";

/// The state before anything was read.
pub(super) const START: State = State(0);

/// What was read so far, as far as it can be the head of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct State(u32);

/// Where each state leads, a row of classes for each.
#[derive(Debug)]
pub(super) enum Table {
    /// There are few enough states and classes.
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// A place in a table.
pub(super) trait Entry: Copy + Into<u32> {
    /// A row has two to the power of this many places.
    const WIDTH: usize;
}

impl Entry for u16 {
    const WIDTH: usize = 7;
}

impl Entry for u32 {
    const WIDTH: usize = 8;
}

/// The keywords, ready to be looked for.
#[derive(Debug)]
pub(super) struct Automaton {
    classes: [u8; 256],
    table: Table,
    /// Keywords end in this state and those behind it.
    first_end: u32,
    /// Where the keywords of each such state begin and end in `ends`.
    bounds: Vec<(u32, u32)>,
    /// Keywords by their place in the list.
    ends: Vec<u32>,
    lengths: Vec<usize>,
}

/// What a keyword leads to before the states get their numbers.
struct Trie {
    width: usize,
    next: Vec<u32>,
    /// The keyword that ends here, if any.
    own: Vec<Option<u32>>,
}

impl Trie {
    fn place(&self, state: u32, class: u8) -> usize {
        (state as usize) << self.width | usize::from(class)
    }

    fn add_state(&mut self) -> u32 {
        self.next.resize(self.next.len() + (1 << self.width), 0);
        self.own.push(None);
        (self.own.len() - 1) as u32
    }

    fn add(&mut self, keyword: &str, number: u32, classes: &[u8; 256]) {
        let mut state = 0;
        for byte in keyword.bytes() {
            let place = self.place(state, classes[usize::from(byte)]);
            state = match self.next[place] {
                0 => {
                    let added = self.add_state();
                    self.next[place] = added;
                    added
                }
                known => known,
            };
        }
        self.own[state as usize] = Some(number);
    }

    /// Lets every state lead on where its own keywords do not: to where the
    /// longest tail of it that is the head of a keyword leads. Returns the
    /// states, those that fewer bytes lead to first, with those tails.
    fn close(&mut self, classes: usize) -> Vec<(u32, u32)> {
        let mut tails = vec![0; self.own.len()];
        let mut order = Vec::with_capacity(self.own.len());
        let mut open = VecDeque::from([0_u32]);
        while let Some(state) = open.pop_front() {
            let tail = tails[state as usize];
            order.push((state, tail));
            // The start has no tail but itself, and leads back to itself already.
            let (own, beside) = ((state as usize) << self.width, (tail as usize) << self.width);
            for class in 0..classes {
                let beside = if state == 0 { 0 } else { self.next[beside + class] };
                match self.next[own + class] {
                    0 => self.next[own + class] = beside,
                    next => {
                        tails[next as usize] = beside;
                        open.push_back(next);
                    }
                }
            }
        }
        order
    }
}

impl Automaton {
    /// The automaton over `keywords`, none of which is empty or the same as
    /// another.
    pub(super) fn new(keywords: &[String]) -> Self {
        let (classes, count) = classes(keywords);
        // No keyword leads to more states than it has bytes.
        let bytes: usize = keywords.iter().map(String::len).sum();
        let is_narrow = bytes < usize::from(u16::MAX) && count <= 1 << u16::WIDTH;
        let width = if is_narrow { u16::WIDTH } else { u32::WIDTH };
        let mut trie = Trie { width, next: Vec::new(), own: Vec::new() };
        trie.add_state();
        for (number, keyword) in (0_u32..).zip(keywords) {
            trie.add(keyword, number, &classes);
        }
        let order = trie.close(count);
        // What ends in a state: its own keyword, then those of its tail.
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        for (state, tail) in &order {
            let own = trie.own[*state as usize];
            let all = own.into_iter().chain(found[*tail as usize].iter().copied()).collect();
            found[*state as usize] = all;
        }
        // States in which nothing ends come first, so that one comparison says so.
        let is_end = |(state, _): &&(u32, u32)| !found[*state as usize].is_empty();
        let sorted: Vec<u32> = (order.iter().filter(|state| !is_end(state)))
            .chain(order.iter().filter(is_end))
            .map(|(state, _)| *state)
            .collect();
        let first_end = order.iter().filter(|state| !is_end(state)).count();
        let mut numbers = vec![0_u32; sorted.len()];
        for (number, state) in (0_u32..).zip(&sorted) {
            numbers[*state as usize] = number;
        }
        let row = |state: &u32| {
            let start = (*state as usize) << width;
            &trie.next[start..start + (1 << width)]
        };
        let next = sorted.iter().flat_map(row).map(|state| numbers[*state as usize]);
        let table = if is_narrow {
            Table::Narrow(next.map(|state| state as u16).collect())
        } else {
            Table::Wide(next.collect())
        };
        let mut bounds = Vec::new();
        let mut ends = Vec::new();
        for state in sorted.iter().skip(first_end) {
            let start = ends.len() as u32;
            ends.extend_from_slice(&found[*state as usize]);
            bounds.push((start, ends.len() as u32));
        }
        let lengths = keywords.iter().map(String::len).collect();
        Self { classes, table, first_end: first_end as u32, bounds, ends, lengths }
    }

    /// Where the states lead; it is asked for once a text, so that nothing is
    /// asked for every byte but the state.
    pub(super) const fn table(&self) -> &Table {
        &self.table
    }

    /// The state behind `byte`.
    #[inline]
    pub(super) fn next<E: Entry>(&self, table: &[E], state: State, byte: u8) -> State {
        let class = usize::from(self.classes[usize::from(byte)]);
        State(table[(state.0 as usize) << E::WIDTH | class].into())
    }

    /// Whether a keyword ends in this state.
    #[inline]
    pub(super) const fn is_end(&self, state: State) -> bool {
        state.0 >= self.first_end
    }

    /// The keywords that end in a state and their lengths, the longest first.
    pub(super) fn keywords(&self, state: State) -> impl Iterator<Item = (usize, usize)> {
        let place = state.0.checked_sub(self.first_end).unwrap_or(u32::MAX) as usize;
        let (start, end) = self.bounds.get(place).copied().unwrap_or_default();
        let ends = self.ends.get(start as usize..end as usize).unwrap_or_default();
        ends.iter().map(|keyword| (*keyword as usize, self.lengths[*keyword as usize]))
    }

    /// The length of the longest keyword.
    pub(super) fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or_default()
    }
}

/// The class of every byte: the same for both cases of a letter, and for all
/// bytes that no keyword has. Tells how many classes there are.
fn classes(keywords: &[String]) -> ([u8; 256], usize) {
    let mut is_used = [false; 256];
    for byte in keywords.iter().flat_map(|keyword| keyword.bytes()) {
        is_used[usize::from(byte.to_ascii_lowercase())] = true;
    }
    let mut classes = [0; 256];
    let mut count = 0_u8;
    for byte in FIRST.iter().copied().chain(0..=255) {
        if is_used[usize::from(byte)] && classes[usize::from(byte)] == 0 {
            // Upper case is never used: not every byte has a class of its own.
            count += 1;
            classes[usize::from(byte)] = count;
            classes[usize::from(byte.to_ascii_uppercase())] = count;
        }
    }
    (classes, usize::from(count) + 1)
}
