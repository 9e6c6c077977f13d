//! The automaton over all keywords: one look into a table for every byte.
//!
//! Upper and lower case are one class of bytes, and the classes of text come
//! first: what a state says about the letters of a text lies close together,
//! and the states that prose comes by fit into the memory next to the core.
//! The tables of the aho-corasick crate, made for any bytes, keep the cases
//! apart and take several times the room, which takes the text half as long
//! again.

/// The classes that come first, most frequent first.
const FIRST: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";

/// The state before anything was read.
pub(super) const START: State = State(0);

/// What was read so far, as far as it can be the head of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct State(u32);

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

    /// The place for the state of this number, which must not be too great.
    fn from_number(number: u32) -> Self;
}

impl Entry for u16 {
    const WIDTH: usize = 7;

    fn from_number(number: u32) -> Self {
        number as Self
    }
}

impl Entry for u32 {
    const WIDTH: usize = 8;

    fn from_number(number: u32) -> Self {
        number
    }
}

/// The compiled keywords.
#[derive(Debug)]
pub(super) struct Automaton {
    classes: [u8; 256],
    table: Table,
    /// Keywords end in this state and those after it.
    first_end: u32,
    /// Where the keywords of each such state begin and end in `ends`.
    bounds: Vec<(u32, u32)>,
    /// Keywords by their place in the list.
    ends: Vec<u32>,
    lengths: Vec<usize>,
}

/// The states as the keywords lead to them, before they get their numbers.
struct Trie {
    nodes: Vec<Node>,
}

/// A state; the first one has nothing before it and is nobody's child, so its
/// place also means none.
#[derive(Clone, Copy, Default)]
struct Node {
    /// What leads here from the state before.
    class: u8,
    first_child: u32,
    sibling: u32,
    /// The keyword that ends here, if any.
    own: Option<u32>,
    /// The longest tail of what was read that is the head of a keyword too.
    tail: u32,
}

impl Trie {
    fn new(keywords: &[String], classes: &[u8; 256]) -> Self {
        let mut trie = Self { nodes: vec![Node::default()] };
        for (number, keyword) in (0_u32..).zip(keywords) {
            let mut state = 0;
            for byte in keyword.bytes() {
                let class = classes[usize::from(byte)];
                state = trie.child(state, class).unwrap_or_else(|| trie.add(state, class));
            }
            trie.nodes[state as usize].own = Some(number);
        }
        trie
    }

    fn add(&mut self, parent: u32, class: u8) -> u32 {
        let added = self.nodes.len() as u32;
        let parent = &mut self.nodes[parent as usize];
        let sibling = std::mem::replace(&mut parent.first_child, added);
        self.nodes.push(Node { class, sibling, ..Node::default() });
        added
    }

    fn node(&self, state: u32) -> Node {
        self.nodes[state as usize]
    }

    fn children(&self, state: u32) -> impl Iterator<Item = (u8, u32)> {
        let some = |state: u32| (state != 0).then_some(state);
        let children = std::iter::successors(some(self.node(state).first_child), move |child| {
            some(self.node(*child).sibling)
        });
        children.map(|child| (self.node(child).class, child))
    }

    fn child(&self, state: u32, class: u8) -> Option<u32> {
        self.children(state).find(|(known, _)| *known == class).map(|(_, child)| child)
    }

    /// Finds the tail of every state. Returns the states, those that fewer
    /// bytes lead to first: a tail comes before whatever has it.
    fn find_tails(&mut self) -> Vec<u32> {
        let mut order = vec![0];
        let mut at = 0;
        while let Some(state) = order.get(at).copied() {
            at += 1;
            let mut child = self.node(state).first_child;
            while child != 0 {
                let Node { class, sibling, .. } = self.node(child);
                self.nodes[child as usize].tail = self.longest_tail(state, class);
                order.push(child);
                child = sibling;
            }
        }
        order
    }

    /// Where the longest tail of `state` that goes on with `class` leads.
    fn longest_tail(&self, mut state: u32, class: u8) -> u32 {
        while state != 0 {
            state = self.node(state).tail;
            if let Some(next) = self.child(state, class) {
                return next;
            }
        }
        0
    }

    /// Where every state leads, in rows by the states' numbers.
    fn table<E: Entry>(&self, order: &[u32], numbers: &[u32]) -> Vec<E> {
        let mut table = vec![E::from_number(0); numbers.len() << E::WIDTH];
        let row = |state: u32| (numbers[state as usize] as usize) << E::WIDTH;
        for state in order.iter().copied() {
            // Where its own keywords do not lead, the state leads where its tail does.
            let tail = row(self.node(state).tail);
            table.copy_within(tail..tail + (1 << E::WIDTH), row(state));
            for (class, child) in self.children(state) {
                table[row(state) + usize::from(class)] = E::from_number(numbers[child as usize]);
            }
        }
        table
    }
}

impl Automaton {
    /// The automaton over `keywords`, none of which is empty or the same as
    /// another.
    pub(super) fn new(keywords: &[String]) -> Self {
        let (classes, count) = classes(keywords);
        let mut trie = Trie::new(keywords, &classes);
        let order = trie.find_tails();
        let mut is_end = vec![false; order.len()];
        for state in order.iter().copied() {
            let Node { own, tail, .. } = trie.node(state);
            is_end[state as usize] = own.is_some() || is_end[tail as usize];
        }
        // States in which nothing ends come first, so that one comparison says so.
        let is_end = |state: &&u32| is_end[**state as usize];
        let first_end = order.iter().filter(|state| !is_end(state)).count();
        let sorted = order.iter().filter(|state| !is_end(state)).chain(order.iter().filter(is_end));
        let mut numbers = vec![0; order.len()];
        for (number, state) in (0..).zip(sorted) {
            numbers[*state as usize] = number;
        }
        let is_narrow = order.len() <= usize::from(u16::MAX) && count <= 1 << u16::WIDTH;
        let table = if is_narrow {
            Table::Narrow(trie.table(&order, &numbers))
        } else {
            Table::Wide(trie.table(&order, &numbers))
        };
        let mut bounds = Vec::with_capacity(order.len() - first_end);
        let mut ends = Vec::new();
        for state in order.iter().filter(is_end) {
            let start = ends.len() as u32;
            // Its own keyword, then those of its tails.
            let mut state = *state;
            while state != 0 {
                let Node { own, tail, .. } = trie.node(state);
                ends.extend(own);
                state = tail;
            }
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

    /// The state after `byte`.
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
