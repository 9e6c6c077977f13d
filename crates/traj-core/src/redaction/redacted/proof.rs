//! The proof that a value was redacted.

use sha2::{Digest as _, Sha256};

use crate::json::Json;

/// A redacted value. Sinks accept nothing else.
///
/// Only the redaction module can make one. The rest of the program can cut,
/// encode and combine redacted values, and each such operation keeps the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redacted<T>(pub(super) T);

impl<T> Redacted<T> {
    pub(in crate::redaction) const fn witness(value: T) -> Self {
        Self(value)
    }

    /// The plain value, without the proof.
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

    /// The members of an object on one line, without the braces around them.
    #[must_use]
    pub(crate) fn to_members(&self) -> Redacted<String> {
        let line = self.0.to_line();
        let members = line.strip_prefix('{').and_then(|line| line.strip_suffix('}'));
        Redacted(members.map(str::to_owned).unwrap_or(line))
    }
}

impl Redacted<String> {
    /// The first characters, at most this many.
    #[must_use]
    pub(crate) fn first_characters(&self, count: usize) -> Self {
        Self(self.0.chars().take(count).collect())
    }

    /// The SHA-256 of the string, in hexadecimal.
    #[must_use]
    pub(crate) fn sha256(&self) -> Self {
        Self(hexadecimal(&Sha256::digest(self.0.as_bytes())))
    }
}

/// The bytes in lower-case hexadecimal.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        write!(digits, "{byte:02x}").ok();
    }
    digits
}
