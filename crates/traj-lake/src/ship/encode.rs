//! A segment as two Parquet files.

use sha2::{Digest as _, Sha256};
use traj_export::{EventTable, ParquetError, RowsDigest, SealedEvents, SessionTable};

use super::cut::Segment;
use crate::stored_file::{LAYOUT_VERSION, pair};
use crate::{HostId, Table};

/// A segment with its digests, by which it is compared with a stored one.
#[derive(Debug)]
pub(super) struct SealedSegment {
    segment: Segment,
    events: SealedEvents,
    /// The digest of the row of totals.
    totals_digest: String,
    /// The digest of the rows of both tables.
    pub(super) digest: String,
}

/// The digest of a segment, from those of its tables.
pub(crate) fn digest_of(events: &str, sessions: &str) -> String {
    let digest = Sha256::new().chain_update(events).chain_update(sessions).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl SealedSegment {
    /// Writes the host into the rows, and digests them.
    pub(super) fn new(mut segment: Segment, host: &HostId) -> Result<Self, ParquetError> {
        let first = i64::try_from(segment.first).unwrap_or(i64::MAX);
        for row in &mut segment.rows {
            row.host_id = Some(host.as_str().to_owned());
            row.segment = Some(first);
        }
        segment.totals.host_id = Some(host.as_str().to_owned());
        let events = SealedEvents::of(std::mem::take(&mut segment.rows))?;
        let totals_digest = RowsDigest::of_sessions(std::slice::from_ref(&segment.totals))?;
        let digest = digest_of(events.digest(), &totals_digest);
        Ok(Self { segment, events, totals_digest, digest })
    }

    /// The files of a revision, in the order in which they are stored: the row of
    /// totals makes a segment count. An empty segment has no file of events.
    pub(super) fn files(self, revision: u32) -> Result<Vec<(Table, Vec<u8>)>, ParquetError> {
        let Self { segment, events, totals_digest, digest } = self;
        let Segment { first, last, mut totals, .. } = segment;
        let numbers = [first, last, u64::from(revision)].map(|number| number.to_string());
        let [first, last, revision_text] = &numbers;
        let trace_id = totals.trace_id.clone();
        let events_digest = events.digest().to_owned();
        let pairs = |rows_digest| {
            [
                (pair::LAYOUT, LAYOUT_VERSION),
                (pair::TRACE_ID, trace_id.as_str()),
                (pair::FIRST, first),
                (pair::LAST, last),
                (pair::REVISION, revision_text),
                (pair::ROWS, rows_digest),
                (pair::DIGEST, digest.as_str()),
            ]
        };
        let revision = i32::try_from(revision).ok();
        let mut files = Vec::new();
        if !events.is_empty() {
            let mut content = Vec::new();
            let mut table = EventTable::new(&mut content, &pairs(&events_digest))?;
            table.push_sealed(events, revision)?;
            table.finish()?;
            files.push((Table::Events, content));
        }
        let mut content = Vec::new();
        let mut table = SessionTable::new(&mut content, &pairs(&totals_digest))?;
        totals.revision = revision;
        table.push(std::slice::from_ref(&totals))?;
        table.finish()?;
        files.push((Table::Sessions, content));
        Ok(files)
    }
}
