//! The Aho-Corasick automaton over all keywords: one table lookup per byte.
//!
//! Upper and lower case share a byte class, and the classes of common letters
//! come first. The entries of a state that prose uses are therefore close
//! together, and the states that prose reaches fit into the CPU cache. The
//! tables of the aho-corasick crate, made for any bytes, keep the cases apart
//! and are several times as large; a scan with them takes several times as long.

/// The bytes whose classes come first, most frequent first.
const FIRST: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";

/// The state before the first byte.
pub(super) const START: State = State(0);

/// The longest suffix of the input so far that is a prefix of a keyword; the number
/// of the first line of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redaction) struct State(u32);

/// The transitions: one row per state, one entry per class.
///
/// Of most rows, only the first cache line is used. A row has an odd number of
/// lines: with a power of two, these lines would share a few sets of the cache.
#[derive(Debug)]
pub(super) enum Table {
    /// For few enough states and classes.
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// An entry of a table: the first line of the next state's row.
pub(super) trait Entry: Copy + Into<u32> {
    /// Binary logarithm of the entries in a cache line.
    const LINE: usize;

    /// The entry for a line, which must fit.
    fn from_line(line: u32) -> Self;
}

impl Entry for u16 {
    const LINE: usize = 5;

    fn from_line(line: u32) -> Self {
        line as Self
    }
}

impl Entry for u32 {
    const LINE: usize = 4;

    fn from_line(line: u32) -> Self {
        line
    }
}

/// The lines of a row with `classes` entries.
const fn lines_of<E: Entry>(classes: usize) -> u32 {
    classes.div_ceil(1 << E::LINE) as u32 | 1
}

/// The compiled keywords.
#[derive(Debug)]
pub(super) struct Automaton {
    classes: [u8; 256],
    table: Table,
    /// The lines of a row.
    lines: u32,
    /// The first state in which a keyword ends; one does in every later state.
    first_end: State,
    /// For each such state, the range of its keywords in `ends`.
    bounds: Vec<(u32, u32)>,
    /// Indices of keywords in the list.
    ends: Vec<u32>,
    lengths: Vec<usize>,
}

/// The trie of the keywords, before the states are numbered.
struct Trie {
    nodes: Vec<Node>,
}

/// A state. The root (index 0) is never a child, so 0 also means "none".
#[derive(Clone, Copy, Default)]
struct Node {
    /// The class of the byte that leads here.
    class: u8,
    first_child: u32,
    sibling: u32,
    /// The keyword that ends here, if any.
    own: Option<u32>,
    /// The failure link: the state of the longest proper suffix that is also a
    /// prefix of a keyword.
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

    /// Finds the tail of every state. Returns the states in breadth-first
    /// order, so that the tail of a state comes before the state.
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

    /// The tail of the child of `state` that `class` leads to.
    fn longest_tail(&self, mut state: u32, class: u8) -> u32 {
        while state != 0 {
            state = self.node(state).tail;
            if let Some(next) = self.child(state, class) {
                return next;
            }
        }
        0
    }

    /// The transition table, in rows by state number.
    fn table<E: Entry>(&self, order: &[u32], numbers: &[u32], lines: u32) -> Vec<E> {
        let length = (lines as usize) << E::LINE;
        let mut table = vec![E::from_line(0); numbers.len() * length];
        let row = |state: u32| numbers[state as usize] as usize * length;
        for state in order.iter().copied() {
            // A state without a child for a class takes the transition of its tail.
            let tail = row(self.node(state).tail);
            table.copy_within(tail..tail + length, row(state));
            for (class, child) in self.children(state) {
                let next = E::from_line(numbers[child as usize] * lines);
                table[row(state) + usize::from(class)] = next;
            }
        }
        table
    }
}

impl Automaton {
    /// The automaton over `keywords`, which must be distinct and not empty.
    pub(super) fn new(keywords: &[String]) -> Self {
        let (classes, count) = classes(keywords);
        let mut trie = Trie::new(keywords, &classes);
        let order = trie.find_tails();
        let mut is_end = vec![false; order.len()];
        for state in order.iter().copied() {
            let Node { own, tail, .. } = trie.node(state);
            is_end[state as usize] = own.is_some() || is_end[tail as usize];
        }
        // States in which no keyword ends come first, so that `is_end` is one comparison.
        let is_end = |state: &&u32| is_end[**state as usize];
        let first_end = order.iter().filter(|state| !is_end(state)).count();
        let sorted = order.iter().filter(|state| !is_end(state)).chain(order.iter().filter(is_end));
        let mut numbers = vec![0; order.len()];
        for (number, state) in (0..).zip(sorted) {
            numbers[*state as usize] = number;
        }
        let narrow = lines_of::<u16>(count);
        let is_narrow = order.len() * narrow as usize <= usize::from(u16::MAX);
        let lines = if is_narrow { narrow } else { lines_of::<u32>(count) };
        let table = if is_narrow {
            Table::Narrow(trie.table(&order, &numbers, lines))
        } else {
            Table::Wide(trie.table(&order, &numbers, lines))
        };
        let mut bounds = Vec::with_capacity(order.len() - first_end);
        let mut ends = Vec::new();
        for state in order.iter().filter(is_end) {
            let start = ends.len() as u32;
            // The state's own keyword, then those of its tails.
            let mut state = *state;
            while state != 0 {
                let Node { own, tail, .. } = trie.node(state);
                ends.extend(own);
                state = tail;
            }
            bounds.push((start, ends.len() as u32));
        }
        let lengths = keywords.iter().map(String::len).collect();
        let first_end = State(first_end as u32 * lines);
        Self { classes, table, lines, first_end, bounds, ends, lengths }
    }

    /// The transition table. Callers match on its width once per string, not once
    /// per byte.
    pub(super) const fn table(&self) -> &Table {
        &self.table
    }

    /// The state after `byte`.
    #[inline]
    pub(super) fn next<E: Entry>(&self, table: &[E], state: State, byte: u8) -> State {
        let class = usize::from(self.classes[usize::from(byte)]);
        State(table[((state.0 as usize) << E::LINE) + class].into())
    }

    /// Whether a keyword ends in this state.
    #[inline]
    pub(super) const fn is_end(&self, state: State) -> bool {
        state.0 >= self.first_end.0
    }

    /// The keywords that end in a state and their lengths, longest first.
    pub(super) fn keywords(&self, state: State) -> impl Iterator<Item = (usize, usize)> {
        let place = state.0.checked_sub(self.first_end.0).unwrap_or(u32::MAX) / self.lines;
        let place = place as usize;
        let (start, end) = self.bounds.get(place).copied().unwrap_or_default();
        let ends = self.ends.get(start as usize..end as usize).unwrap_or_default();
        ends.iter().map(|keyword| (*keyword as usize, self.lengths[*keyword as usize]))
    }

    /// The length of the longest keyword.
    pub(super) fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or_default()
    }
}

/// The class of every byte, and the number of classes. Both cases of a letter
/// share a class, and so do all bytes that occur in no keyword.
fn classes(keywords: &[String]) -> ([u8; 256], usize) {
    let mut is_used = [false; 256];
    for byte in keywords.iter().flat_map(|keyword| keyword.bytes()) {
        is_used[usize::from(byte.to_ascii_lowercase())] = true;
    }
    let mut classes = [0; 256];
    let mut count = 0_u8;
    for byte in FIRST.iter().copied().chain(0..=255) {
        if is_used[usize::from(byte)] && classes[usize::from(byte)] == 0 {
            // Cannot overflow: upper-case letters never get their own class.
            count += 1;
            classes[usize::from(byte)] = count;
            classes[usize::from(byte.to_ascii_uppercase())] = count;
        }
    }
    (classes, usize::from(count) + 1)
}
