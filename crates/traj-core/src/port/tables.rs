//! Reads the tables of a database that another program wrote.

use std::fmt::Debug;
use std::ops::ControlFlow;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// The database has no such table.
    #[error("the database has no table {table}")]
    NoTable {
        /// The table's name.
        table: String,
    },
    /// A view, a virtual table or something else has the table's name. Reading
    /// it could run code that its author chose.
    #[error("{table} is not an ordinary table")]
    NotATable {
        /// The table's name.
        table: String,
    },
    /// The file is not a database, or is damaged.
    #[error("the database is damaged")]
    Damaged,
    /// Reading takes more steps than a database of this size needs.
    #[error("reading the database takes too many steps")]
    Exhausted,
    /// The database, a value in it, or what is needed to read it is larger than
    /// the limit.
    #[error("the database is too large")]
    TooLarge,
    /// Another program is in the middle of changing the database.
    #[error("another program is changing the database")]
    Busy,
    /// Reading failed for another reason.
    #[error("cannot read the database")]
    Storage(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A value of a row.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "what a database can hold, and what is too long")]
pub enum Cell {
    /// Nothing; also a column that the table lacks.
    #[default]
    Null,
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// A text. Bytes that are not UTF-8 are replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// A value that is longer than the limit, by its bytes.
    TooLong(u64),
}

impl Cell {
    /// The text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is one.
    #[must_use]
    pub const fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// Which rows of a table to read, and which of their columns.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers build it literally")]
pub struct Scan<'q> {
    /// The table.
    pub table: &'q str,
    /// The columns. A column that the table lacks, or whose values the database
    /// would have to compute, is [`Cell::Null`].
    pub columns: &'q [&'q str],
    /// The columns among them whose blobs are zstd frames: their content is
    /// returned. A damaged frame is [`Cell::Null`].
    pub packed: &'q [&'q str],
    /// Only rows with these values in these columns.
    pub equal: &'q [(&'q str, &'q Cell)],
}

impl<'q> Scan<'q> {
    /// All rows of a table.
    #[must_use]
    pub const fn of(table: &'q str, columns: &'q [&'q str]) -> Self {
        Self { table, columns, packed: &[], equal: &[] }
    }

    /// Only rows with these values in these columns.
    #[must_use]
    pub const fn with(mut self, equal: &'q [(&'q str, &'q Cell)]) -> Self {
        self.equal = equal;
        self
    }
}

/// What is done with a row; it may end the scan.
pub type VisitRow<'v> = dyn FnMut(&[Cell]) -> ControlFlow<()> + 'v;

/// The tables of one database, as they were when it was opened.
///
/// Implementations never change the database, never wait for its owner, never run
/// anything that the database itself defines (views, triggers, virtual tables,
/// computed columns), and bound the memory and the steps of every call.
pub trait Tables: Debug {
    /// Whether there is an ordinary table with this name.
    ///
    /// # Errors
    /// See [`TablesError`]; something else with this name is
    /// [`TablesError::NotATable`].
    fn has_table(&self, table: &str) -> Result<bool, TablesError>;

    /// Whether that table has a column with this name, and keeps its values.
    ///
    /// # Errors
    /// See [`TablesError`].
    fn has_column(&self, table: &str, column: &str) -> Result<bool, TablesError>;

    /// Shows the rows that a scan asks for, in any order, each with its columns
    /// in the order of the scan.
    ///
    /// # Errors
    /// See [`TablesError`]. Rows may have been shown before the error.
    fn scan(&self, scan: &Scan<'_>, visit: &mut VisitRow<'_>) -> Result<(), TablesError>;
}
