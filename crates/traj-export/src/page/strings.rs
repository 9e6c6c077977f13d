//! The strings of the index, each with a number.

use std::collections::HashMap;
use std::rc::Rc;

/// Strings by number. Number 0 is the empty string.
#[derive(Debug)]
pub(super) struct StringTable {
    strings: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
}

impl Default for StringTable {
    fn default() -> Self {
        let empty: Rc<str> = Rc::from("");
        Self { strings: vec![Rc::clone(&empty)], numbers: HashMap::from([(empty, 0)]) }
    }
}

impl StringTable {
    /// The number of a string that may occur again.
    pub(super) fn shared(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let text: Rc<str> = Rc::from(text);
        let number = self.push(Rc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The number of a string that hardly occurs again: an id.
    pub(super) fn single(&mut self, text: &str) -> u32 {
        if text.is_empty() { 0 } else { self.push(Rc::from(text)) }
    }

    fn push(&mut self, text: Rc<str>) -> u32 {
        let Ok(number) = u32::try_from(self.strings.len()) else { return 0 };
        self.strings.push(text);
        number
    }

    /// The string with this number.
    pub(super) fn get(&self, number: u32) -> Option<&str> {
        self.strings.get(number as usize).map(AsRef::as_ref)
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.strings.len()
    }

    /// All of them, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.strings.iter().map(AsRef::as_ref)
    }
}
