//! The name table. The first row that matches a name decides, so an exception
//! comes before the row that it limits.

mod key;
mod other;
mod secret;

use super::row::NameRow;

const TABLES: [&[NameRow]; 3] = [secret::ROWS, key::ROWS, other::ROWS];

/// The number of rows.
pub(super) const COUNT: usize = TABLES[0].len() + TABLES[1].len() + TABLES[2].len();

/// All rows, in order.
pub(in crate::redaction) fn name_rows() -> impl Iterator<Item = &'static NameRow> {
    TABLES.into_iter().flatten()
}
