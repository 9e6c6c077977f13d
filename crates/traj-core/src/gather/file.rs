//! Files that are not read as they are: rows that replace each other, documents,
//! and sessions that need files beside theirs.

use super::{GatherError, RowWriter};
use crate::port::{Source, Sources};

/// A plain file to gather: already unpacked.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a file, its name and the files beside it")]
pub struct GatheredFile<'f> {
    /// The file's name, as the user gave it.
    pub name: &'f str,
    /// The file.
    pub source: &'f dyn Source,
    /// Opens other files, such as those beside it, as they are.
    pub sources: &'f dyn Sources,
}

/// Writes the rows of a file that cannot be read as it is. Returns `false` if it
/// can, without writing anything: most files are read in place.
///
/// # Errors
/// See [`GatherError`].
pub fn file_rows(_file: &GatheredFile<'_>, _rows: &mut RowWriter<'_>) -> Result<bool, GatherError> {
    Ok(false)
}
