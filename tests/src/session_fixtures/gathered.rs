//! Rows of files that cannot be read directly.

use traj_core::gather::{GatherError, GatheredFile, RowWriter, file_rows};
use traj_core::memory::{MemoryScratch, MemorySources};
use traj_core::port::{Scratch as _, Sources as _};

/// The rows of a file with this content; `None` if it can be read directly.
///
/// # Errors
/// When it cannot be gathered.
pub fn rows_of(content: &str) -> Result<Option<String>, GatherError> {
    let sources = MemorySources::new();
    sources.put("t", content);
    let source = sources.open("t")?;
    let mut scratch = MemoryScratch::default();
    let mut rows = RowWriter::new(&mut scratch, u64::MAX);
    let file = GatheredFile { name: "t", source: &*source, sources: &sources };
    if !file_rows(&file, &mut rows)? {
        return Ok(None);
    }
    let length = rows.finish()?;
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    scratch.read_exact_at(0, &mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
