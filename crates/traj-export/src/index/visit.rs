//! Reads every row of a source once: parses it as deep as needed, or adds a
//! warning if it is not valid.

use traj_core::json::Json;
use traj_core::port::Source;

use super::row_text;
use crate::error::ExportError;
use crate::json_stream::long_rows::{self, LoadedRow};
use crate::json_stream::rows::{ByteRange, RowReader};
use crate::warning::{Code, Warnings};

/// The warnings for the rows of a source.
pub(super) struct RowCodes {
    pub(super) too_large: Code,
    pub(super) shortened: Code,
    pub(super) not_utf8: Code,
    pub(super) not_json: Code,
}

/// The result of reading all rows.
pub(super) struct RowsRead {
    pub(super) digest: [u8; 32],
    pub(super) rows: u64,
    /// How many rows are not empty.
    pub(super) filled: u64,
}

/// Reads a source once and passes every row that is JSON, parsed to `depth`
/// levels, to `visit` with its number and range. Other rows become warnings.
pub(super) fn visit_rows(
    source: &dyn Source,
    depth: usize,
    codes: &RowCodes,
    warnings: &mut Warnings,
    mut visit: impl FnMut(Json<'_>, u64, ByteRange, &mut Warnings) -> Result<(), ExportError>,
) -> Result<RowsRead, ExportError> {
    let mut reader = RowReader::new(source);
    let mut filled = 0;
    while let Some(row) = reader.next()? {
        let (number, place) = (row.number, row.place);
        let held;
        let bytes = match row.bytes.filter(|bytes| !long_rows::is_heavy(bytes)) {
            Some(bytes) => bytes,
            None => {
                held = long_rows::shorten(source, place)?;
                let code = match &held {
                    LoadedRow::TooLarge => Some(codes.too_large),
                    LoadedRow::NotJson => Some(codes.not_json),
                    // A row can be too long only because of white space.
                    LoadedRow::Short(short) => short.lacks_values().then_some(codes.shortened),
                    LoadedRow::Whole(_) => None,
                };
                if let Some(code) = code {
                    warnings.add(code, number);
                }
                let Some(bytes) = held.bytes() else {
                    filled += 1;
                    continue;
                };
                bytes
            }
        };
        let (text, was_replaced) = row_text(bytes);
        if text.is_empty() {
            continue;
        }
        filled += 1;
        if was_replaced {
            warnings.add(codes.not_utf8, number);
        }
        match Json::parse_shallow(&text, depth) {
            Ok(value) => visit(value, number, place, warnings)?,
            Err(_) => warnings.add(codes.not_json, number),
        }
    }
    let rows = reader.rows();
    Ok(RowsRead { digest: reader.finish(), rows, filled })
}
