//! The proof that a value went through redaction.

use crate::json::Json;

/// A value that redaction has seen. Sinks take nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redacted<T>(pub(super) T);

impl<T> Redacted<T> {
    pub(super) const fn witness(value: T) -> Self {
        Self(value)
    }

    /// The value, as a plain one.
    pub fn into_inner(self) -> T {
        self.0
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
