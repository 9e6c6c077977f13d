//! What a file is, by its first bytes.

/// The first bytes of every SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The first bytes of a zstd frame.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// What a file is, before anyone looks at its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container {
    /// Lines, or one document: text that can be read as it is.
    Plain,
    /// Text that is compressed with zstd.
    Zstd,
    /// An SQLite database.
    Sqlite,
}

impl Container {
    /// How many bytes of a file [`of`](Self::of) examines.
    pub const HEAD: usize = 16;

    /// The container of a file that begins with these bytes.
    #[must_use]
    pub fn of(head: &[u8]) -> Self {
        if head.starts_with(SQLITE) {
            Self::Sqlite
        } else if head.starts_with(ZSTD) {
            Self::Zstd
        } else {
            Self::Plain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide() {
        assert_eq!(Container::of(b"SQLite format 3\0\x10"), Container::Sqlite);
        assert_eq!(Container::of(b"SQLite format 3 is a format"), Container::Plain);
        assert_eq!(Container::of(b"\x28\xb5\x2f\xfd\x00"), Container::Zstd);
        assert_eq!(Container::of(b"{}"), Container::Plain);
        assert_eq!(Container::of(b""), Container::Plain);
        assert_eq!(SQLITE.len(), Container::HEAD);
    }
}
