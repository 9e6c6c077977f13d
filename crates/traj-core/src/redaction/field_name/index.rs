//! What each word of the name table says, so that a name is classified with one
//! lookup per word instead of a comparison with every word of every row.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::NameClass;
use super::row::{Before, NameRow};
use super::rows::name_rows;
use super::vocabulary::TRAILERS;
use super::words::ends_with;

/// One bit for each row.
pub(super) type RowBits = u64;

/// The rows that a word takes part in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordFacts {
    /// Rows for this last word.
    head: RowBits,
    /// Rows that want this word before the last one.
    before: RowBits,
    /// Rows that this word excludes.
    unless: RowBits,
    /// Whether the word after a credential word changes nothing.
    pub(super) is_trailer: bool,
}

/// The rows by their condition on the words before the last one.
#[derive(Debug, Default)]
struct Kinds {
    any: RowBits,
    nothing: RowBits,
    something: RowBits,
    directly: RowBits,
    anywhere: RowBits,
    first: RowBits,
}

/// The whole table by words.
#[derive(Debug)]
pub(super) struct WordIndex {
    words: HashMap<&'static [u8], WordFacts, foldhash::fast::RandomState>,
    longest: usize,
    /// One bit for the length and some letters of each word: most other words need no
    /// lookup.
    shapes: Box<[u64; SHAPES / 64]>,
    kinds: Kinds,
    /// Rows that say that a value may be a secret.
    telling: RowBits,
    /// Rows that match every last word.
    every_head: RowBits,
    /// Rows that match endings of the last word.
    endings: Vec<(RowBits, &'static NameRow)>,
}

/// The index of the built-in rows.
pub(super) static INDEX: LazyLock<WordIndex> = LazyLock::new(WordIndex::new);

/// The number of shapes that are distinguished.
const SHAPES: usize = 1 << 14;

/// A hash of the length, the first two letters and the last of a word, in either case.
fn shape_of(word: &[u8]) -> usize {
    let letter = |place: usize| word.get(place).map_or(0, |byte| usize::from(byte & 31));
    let last = letter(word.len().wrapping_sub(1));
    let shape = (word.len() & 15) << 15 | letter(0) << 10 | letter(1) << 5 | last;
    (shape as u32).wrapping_mul(0x9e37_79b1) as usize >> (32 - 14)
}

/// The most bytes that a word of the table may have.
const LONGEST: usize = 32;

impl WordIndex {
    fn new() -> Self {
        let mut index = Self {
            words: HashMap::default(),
            longest: 0,
            shapes: Box::new([0; SHAPES / 64]),
            kinds: Kinds::default(),
            telling: 0,
            every_head: 0,
            endings: Vec::new(),
        };
        for word in TRAILERS {
            index.facts(word).is_trailer = true;
        }
        for (place, row) in name_rows().enumerate() {
            index.add(1 << place, row);
        }
        let shapes: Vec<usize> = index.words.keys().map(|word| shape_of(word)).collect();
        for shape in shapes {
            index.shapes[shape / 64] |= 1 << (shape % 64);
        }
        index.longest = index.words.keys().map(|word| word.len()).max().unwrap_or_default();
        index
    }

    fn add(&mut self, bit: RowBits, row: &'static NameRow) {
        if row.class != NameClass::Plain {
            self.telling |= bit;
        }
        for word in row.words {
            self.facts(word).head |= bit;
        }
        if !row.endings.is_empty() {
            self.endings.push((bit, row));
        } else if row.words.is_empty() {
            self.every_head |= bit;
        }
        let (kind, words) = match row.before {
            Before::Any => (&mut self.kinds.any, &[][..]),
            Before::Nothing => (&mut self.kinds.nothing, &[][..]),
            Before::Something => (&mut self.kinds.something, &[][..]),
            Before::Directly(words) | Before::DirectlyUnless(words, _) => {
                (&mut self.kinds.directly, words)
            }
            Before::Anywhere(words) => (&mut self.kinds.anywhere, words),
            Before::First(words) => (&mut self.kinds.first, words),
        };
        *kind |= bit;
        for word in words {
            self.facts(word).before |= bit;
        }
        if let Before::DirectlyUnless(_, unless) = row.before {
            for word in unless {
                self.facts(word).unless |= bit;
            }
        }
    }

    fn facts(&mut self, word: &'static str) -> &mut WordFacts {
        self.words.entry(word.as_bytes()).or_default()
    }

    /// The facts about a word, ignoring case.
    pub(super) fn of(&self, word: &[u8]) -> WordFacts {
        let shape = shape_of(word);
        if self.shapes[shape / 64] >> (shape % 64) & 1 == 0 {
            return WordFacts::default();
        }
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..word.len()).filter(|_| word.len() <= self.longest) else {
            return WordFacts::default();
        };
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        self.words.get(&*lower).copied().unwrap_or_default()
    }

    /// Whether any row for possible secrets matches names that end with this word, or
    /// the word is ignored at the end of a name.
    pub(super) fn may_be_last(&self, word: &[u8]) -> bool {
        let facts = self.of(word);
        let heads = facts.head | self.every_head | self.heads_by_ending(word);
        facts.is_trailer || heads & self.telling != 0
    }

    /// The rows whose endings match a last word.
    fn heads_by_ending(&self, head: &[u8]) -> RowBits {
        let ending = |(bit, row): &(RowBits, &NameRow)| {
            if row.endings.iter().any(|ending| ends_with(head, ending)) { *bit } else { 0 }
        };
        self.endings.iter().fold(0, |bits, row| bits | ending(row))
    }

    /// The rows that match names with these words: `head` decides, `before` are the
    /// words before it, `first` is the first of all.
    pub(super) fn rows(&self, head: &[u8], before: &[&[u8]], first: &[u8]) -> RowBits {
        let heads = self.of(head).head | self.every_head | self.heads_by_ending(head);
        if heads == 0 {
            return 0;
        }
        let mut lead = WordFacts::default();
        let (mut anywhere, mut unless) = (0, 0);
        for word in before {
            lead = self.of(word);
            anywhere |= lead.before;
            unless |= lead.unless;
        }
        let kinds = &self.kinds;
        let count = if before.is_empty() { kinds.nothing } else { kinds.something };
        let first = kinds.first & self.of(first).before;
        let directly = kinds.directly & lead.before & !unless;
        heads & (kinds.any | count | first | directly | kinds.anywhere & anywhere)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = String> {
        let known: Vec<&str> =
            INDEX.words.keys().map(|word| std::str::from_utf8(word).unwrap()).collect();
        let endings = INDEX.endings.iter().flat_map(|(_, row)| row.endings.iter().copied());
        let endings: Vec<&str> = endings.collect();
        let known = prop::sample::select(known).prop_map(str::to_owned);
        let ending = ("[a-z]{0,2}", prop::sample::select(endings));
        let ending = ending.prop_map(|(head, ending)| format!("{head}{ending}"));
        let word = prop_oneof![6 => known, 2 => ending, 1 => "[a-z]{1,40}"];
        (word, any::<bool>())
            .prop_map(|(word, upper)| if upper { word.to_uppercase() } else { word })
    }

    #[test]
    fn every_word_of_the_table_can_be_looked_up() {
        let is_found = |word: &&[u8]| INDEX.of(word) != WordFacts::default();
        assert!(INDEX.words.keys().all(is_found));
        assert!(INDEX.words.keys().all(|word| !word.iter().any(u8::is_ascii_uppercase)));
        assert!(INDEX.longest <= LONGEST);
    }

    proptest! {
        /// The index finds the rows that match one by one.
        #[test]
        fn the_index_agrees_with_the_rows(words in prop::collection::vec(word(), 1..5)) {
            let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
            let (head, before) = words.split_last().unwrap();
            for first in [words[0], b""] {
                let matching = name_rows()
                    .enumerate()
                    .filter(|(_, row)| row.matches(head, before, first))
                    .fold(0, |bits, (place, _)| bits | 1 << place);
                prop_assert_eq!(INDEX.rows(head, before, first), matching, "{:?}", words);
            }
        }
    }
}
