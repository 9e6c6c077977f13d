//! Turns an event into a line and stored blobs.

use traj_core::capture::{Blob, EventTooLarge, PendingLine, Prepared};
use traj_core::port::SidecarError;

use super::tally::BatchTally;

/// Encodes an event and stores its blobs with `store`. An event that does not
/// fit into a line is an error. Blobs are stored first, so a line never refers
/// to a missing blob.
pub(super) fn encode(
    mut prepared: Prepared<'_>,
    number: u64,
    tally: &mut BatchTally,
    mut store: impl FnMut(&Blob) -> Result<(), SidecarError>,
) -> Result<PendingLine, EventTooLarge> {
    let mut stored = 0;
    loop {
        let line = prepared.encode(number)?;
        let blobs: Vec<_> = prepared.blobs().iter().skip(stored).cloned().collect();
        if blobs.is_empty() {
            return Ok(line);
        }
        for blob in blobs {
            let omitted = match store(&blob) {
                Ok(()) => {
                    (stored, tally.stored_blobs) = (stored + 1, tally.stored_blobs + 1);
                    continue;
                }
                Err(error) => tally.omitted_blob(&error),
            };
            prepared.omit_blob(blob.digest(), omitted);
        }
        // The marker for a missing blob takes space too, and can move the
        // event's data into a further blob. So check again.
    }
}
