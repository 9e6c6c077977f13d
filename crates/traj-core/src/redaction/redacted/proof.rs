//! The proof that a value went through redaction.

use crate::json::Json;

/// A value that redaction has seen. Sinks take nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redacted<T>(pub(in crate::redaction) T);

impl<T> Redacted<T> {
    pub(in crate::redaction) const fn witness(value: T) -> Self {
        Self(value)
    }

    /// The value, as a plain one.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Another form of the same redacted value: encoded, cut, taken apart.
    /// `form` must not bring in text that redaction has not seen.
    pub(crate) fn map<U>(self, form: impl FnOnce(T) -> U) -> Redacted<U> {
        Redacted(form(self.0))
    }

    /// Changes the value in place, under the same promise as `map`.
    pub(crate) fn amend(&mut self, change: impl FnOnce(&mut T)) {
        change(&mut self.0);
    }

    /// Wraps a piece of a value that is being taken apart inside `map`.
    pub(crate) const fn part_of_redacted(part: T) -> Self {
        Self(part)
    }
}

impl<T> AsRef<T> for Redacted<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}

impl Redacted<Json<'_>> {
    /// The value on one line, without a line end.
    #[must_use]
    pub fn to_line(&self) -> Redacted<String> {
        Redacted(self.0.to_line())
    }

    /// The value over several lines, without a final line end.
    #[must_use]
    pub fn to_pretty(&self) -> Redacted<String> {
        Redacted(self.0.to_pretty())
    }
}
