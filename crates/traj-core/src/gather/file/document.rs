//! Sessions that are one JSON document.

use super::atif;
use super::lines::read;
use crate::dialect::begins_atif;
use crate::gather::database::{is_export, rows_of_export};
use crate::gather::{GatherError, RowWriter};
use crate::json::Json;
use crate::port::Source;

/// The longest document, in bytes: it is held in memory.
const LONGEST: u64 = 256 * 1024 * 1024;

/// Whether a file that begins like this is such a document.
pub(super) fn is_known(head: &[u8]) -> bool {
    is_export(head.trim_ascii_start()) || begins_atif(head)
}

/// Writes the rows of a document.
pub(super) fn rows(source: &dyn Source, rows: &mut RowWriter<'_>) -> Result<(), GatherError> {
    if source.len() > LONGEST {
        return Err(GatherError::TooLarge);
    }
    let bytes = read(source, 0, source.len())?;
    let document = Json::parse_lossy(&bytes).map_err(|_| GatherError::Damaged)?;
    if begins_atif(&bytes) { atif::rows(&document, rows) } else { rows_of_export(&document, rows) }
}
