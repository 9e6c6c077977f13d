//! Classifies field names by their words, never by substrings.
//!
//! `userToken`, `USER_TOKEN` and `user-token` are the words *user*, *token*. The
//! last meaningful word decides (`tokenLimit` is a limit, `secretName` a name).
//! The words before it may show that it is harmless (`nextPageToken`,
//! `publicKey`, `stop_token`).
//!
//! What a name means is data: the rows of [`name_rows`], with examples. They are listed
//! and checked like rules, and can be disabled like rules.

mod foreign;
mod harmless;
mod heads;
mod index;
mod part;
mod row;
mod rows;
mod vocabulary;
mod words;

use super::marker;
use super::rule::{Frame, Matcher, Rule};
use index::INDEX;
use words::{MAX_WORDS, is_any, words};

pub(super) use foreign::FOREIGN_LABELS;
pub(super) use harmless::{is_harmless_inside, is_payload};
pub(super) use row::NameRow;
pub(super) use rows::name_rows;

/// What a field name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass {
    /// It is not a secret.
    Plain,
    /// It is a secret if it looks like one.
    Weak(Frame),
    /// It is a secret unless it clearly looks like something else.
    Strong(Frame),
    /// In a field of data it is a secret like [`NameClass::Strong`], but a number
    /// is a count. In text it is a secret if it looks like one.
    Field(Frame),
    /// It has no telling name of its own, but is inside a value with the name of a
    /// secret: it is a secret unless it looks harmless.
    Inside(Frame),
}

impl NameClass {
    /// The context rule for the class.
    pub(super) const fn frame(self) -> Option<Frame> {
        match self {
            Self::Plain => None,
            Self::Weak(frame) | Self::Strong(frame) | Self::Field(frame) | Self::Inside(frame) => {
                Some(frame)
            }
        }
    }
}

/// Longest field name.
pub(super) const MAX_NAME: usize = 96;

/// The rows in force: all of [`name_rows`], without those that the user disabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameTable {
    /// One bit for each disabled row.
    disabled: u64,
}

// Every row needs a bit.
const _: () = assert!(rows::COUNT <= u64::BITS as usize);

impl NameTable {
    /// The rows that are among the rules in force.
    pub(super) fn of(rules: &[Rule]) -> Self {
        Self::new(|id| rules.iter().any(|rule| rule.id == id && rule.matcher == Matcher::Name))
    }

    /// The table without the rows whose id is not in force.
    fn new(is_in_force: impl Fn(&str) -> bool) -> Self {
        let disabled = name_rows()
            .enumerate()
            .filter(|(_, row)| !is_in_force(row.id))
            .fold(0, |bits, (place, _)| bits | 1 << place);
        Self { disabled }
    }

    /// Classifies a field name.
    pub(super) fn classify(self, name: &[u8]) -> NameClass {
        self.row_of(name).map_or(NameClass::Plain, |row| row.class)
    }

    /// The row that decides about a name, if there is one.
    pub(super) fn row_of(self, name: &[u8]) -> Option<&'static NameRow> {
        if name.len() < 2 || name.len() > MAX_NAME || marker::is_whole(name) {
            return None;
        }
        // `PassWord` and `pASSWORD` are one word.
        if is_any(name, &["password", "passwd", "passcode", "passphrase"])
            || foreign::names_password(name)
        {
            let whole: &[u8] = if name.is_ascii() { name } else { b"password" };
            return self.row_of_words(&[whole]);
        }
        let mut buffer: [&[u8]; MAX_WORDS] = [b""; MAX_WORDS];
        let count = words(name, &mut buffer);
        self.row_of_words(&buffer[..count])
    }

    /// Classifies a name that is already split into words.
    pub(super) fn classify_words(self, all: &[&[u8]]) -> NameClass {
        self.row_of_words(all).map_or(NameClass::Plain, |row| row.class)
    }

    /// Whether a name may end with this word and mean a credential.
    pub(super) fn may_be_last(self, word: &[u8]) -> bool {
        INDEX.may_be_last(word)
    }

    fn row_of_words(self, all: &[&[u8]]) -> Option<&'static NameRow> {
        let mut words = all;
        // Ignore numbers and words such as `value`, `b64`, `prod` after the
        // credential word, unless nothing else is left.
        while let Some((last, before)) = words.split_last() {
            if before.is_empty()
                || !(last.iter().all(u8::is_ascii_digit) || INDEX.of(last).is_trailer)
            {
                break;
            }
            words = before;
        }
        let (head, before) = words.split_last()?;
        // A single word cannot be a question.
        let first = if all.len() > 1 { all.first().copied().unwrap_or_default() } else { b"" };
        let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let head = if digits < head.len() { &head[..head.len() - digits] } else { *head };
        let rows = INDEX.rows(head, before, first) & !self.disabled;
        // The first row that matches decides.
        if rows == 0 { None } else { name_rows().nth(rows.trailing_zeros() as usize) }
    }
}

#[cfg(test)]
mod tests;
