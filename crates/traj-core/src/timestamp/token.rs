//! Splits a date in prose into numbers, words and symbols.

#[derive(Clone, Copy)]
pub(super) enum DateToken {
    /// The value, and its number of digits.
    Number(i64, usize),
    /// The first three letters in lower case, and the length.
    Word([u8; 3], usize),
    Symbol(u8),
}

impl DateToken {
    /// The number of digits that count, leading zeros excluded.
    pub(super) const MOST_DIGITS: usize = 9;
}

pub(super) struct DateTokens<'a> {
    rest: &'a [u8],
}

impl<'a> DateTokens<'a> {
    /// Tokens of `text`, whose only white space is spaces.
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    pub(super) fn next(&mut self) -> Option<DateToken> {
        let first = *self.rest.first()?;
        if first.is_ascii_digit() {
            let digits = self.run(u8::is_ascii_digit);
            let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
            let counted = digits.iter().skip(zeros).take(DateToken::MOST_DIGITS);
            let value = counted.fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
            return Some(DateToken::Number(value, digits.len()));
        }
        if is_in_word(&first) {
            let word = self.run(is_in_word);
            let mut prefix = [0; 3];
            for (slot, byte) in prefix.iter_mut().zip(word) {
                *slot = byte.to_ascii_lowercase();
            }
            return Some(DateToken::Word(prefix, word.len()));
        }
        if first == b'(' {
            self.comment();
            // A comment separates tokens, like a space.
            return (!self.rest.is_empty()).then_some(DateToken::Symbol(b' '));
        }
        self.rest = &self.rest[1..];
        Some(DateToken::Symbol(first))
    }

    fn comment(&mut self) {
        let mut depth = 0_usize;
        while let Some((first, rest)) = self.rest.split_first() {
            self.rest = rest;
            match first {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn run(&mut self, belongs: impl Fn(&u8) -> bool) -> &'a [u8] {
        let length = self.rest.iter().take_while(|byte| belongs(byte)).count();
        let (run, rest) = self.rest.split_at(length);
        self.rest = rest;
        run
    }

    /// The next number, with its digits counted.
    pub(super) fn number(&mut self) -> Option<(i64, usize)> {
        if !self.is_at_number() {
            return None;
        }
        match self.next()? {
            DateToken::Number(value, digits) => Some((value, digits)),
            DateToken::Word(..) | DateToken::Symbol(_) => None,
        }
    }

    /// The next number, if it has exactly this many digits.
    pub(super) fn fixed(&mut self, digits: usize) -> Option<i64> {
        let before = self.rest;
        let number = self.number().filter(|(_, written)| *written == digits);
        if number.is_none() {
            self.rest = before;
        }
        number.map(|(value, _)| value)
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.is_at(byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    pub(super) fn is_at(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    pub(super) fn is_at_number(&self) -> bool {
        self.rest.first().is_some_and(u8::is_ascii_digit)
    }

    /// Whether the next character may directly follow a time.
    pub(super) fn may_follow_time(&self) -> bool {
        match self.rest {
            [b'z' | b'Z', next, ..] => !is_in_word(next),
            [] | [b'z' | b'Z' | b'+' | b'-' | b' ', ..] => true,
            _ => false,
        }
    }
}

/// Whether a byte belongs to a word: letters, and all other bytes from `A` up,
/// so that a bracket makes a date invalid as an unknown word does.
const fn is_in_word(byte: &u8) -> bool {
    *byte >= b'A'
}
