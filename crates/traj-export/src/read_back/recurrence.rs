//! Looks for the secrets of the session in the files of a new bundle.
//!
//! An event is redacted by itself, so a value that only a later event names as a
//! secret is still in the earlier ones. This search finds it before the bundle
//! is committed. It reads every byte once, and only if the session has secrets.

use traj_core::port::{BundleWriter, SourceError};
use traj_core::redaction::SecretSearch;

use crate::bundle::output::WrittenFile;
use crate::error::ExportError;
use crate::json_stream::source_bytes::SourceBytes;
use crate::json_stream::splitter::ByteStream as _;

/// How much is searched at once.
const WINDOW: usize = 256 * 1024;

/// Whether one of the secrets is in one of the files.
pub(crate) fn recurs(
    bundle: &dyn BundleWriter,
    files: &[WrittenFile],
    search: &SecretSearch,
) -> Result<bool, ExportError> {
    // The end of each window is searched again with the next one, because a
    // secret may begin there.
    let overlap = search.longest();
    let mut window = vec![0; WINDOW + overlap];
    for written in files {
        let source = bundle.read_back(written.file)?;
        let mut bytes = SourceBytes::new(&*source);
        let mut kept = 0;
        loop {
            let part = window.get_mut(kept..).unwrap_or_default();
            let read = bytes.read(part).map_err(|source| SourceError::Storage {
                name: written.file.to_string(),
                source,
            })?;
            let filled = kept + read;
            if search.is_in(window.get(..filled).unwrap_or_default()) {
                return Ok(true);
            }
            if read == 0 {
                break;
            }
            let tail = filled.saturating_sub(overlap);
            window.copy_within(tail..filled, 0);
            kept = filled - tail;
        }
    }
    Ok(false)
}
