//! Trimming the sidecar: every copy of the text in a run's events.

use super::blobs::Renamed;
use super::probe::IdProbe;
use super::tally::{OpenItems, Tally};
use super::{blobs, value};
use crate::capture::BlobDigest;
use crate::care::trim::TrimItem;
use crate::dialect::shape::row;
use crate::json::Json;
use crate::port::{LineEdit, LineVerdict};

/// Trims the results of some calls in the events of a sidecar.
#[derive(Debug)]
pub struct SidecarEdit {
    wanted: OpenItems,
    probe: IdProbe,
    renamed: Renamed,
    tally: Tally,
}

impl SidecarEdit {
    /// An edit that trims these items.
    #[must_use]
    pub fn new(items: &[TrimItem]) -> Self {
        Self::with_blobs(items, &Renamed::new())
    }

    /// The same, and renames references to trimmed blobs.
    pub(in crate::care::trim) fn with_blobs(items: &[TrimItem], renamed: &Renamed) -> Self {
        let wanted = OpenItems::new(items);
        let probe = IdProbe::new(wanted.ids().chain(renamed.keys().map(BlobDigest::as_str)));
        Self { wanted, probe, renamed: renamed.clone(), tally: Tally::default() }
    }

    /// The counts. A sidecar need not contain every call, so nothing counts as
    /// missing.
    #[must_use]
    pub fn finish(self) -> Tally {
        self.tally
    }
}

impl LineEdit for SidecarEdit {
    fn concerns(&self, block: &[u8]) -> bool {
        self.probe.may_mention(block)
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        if !self.probe.may_mention(line) {
            return LineVerdict::Keep;
        }
        let Ok(mut event) = Json::parse_lossy(line) else { return LineVerdict::Keep };
        let Some(data) = row::data_mut(&mut event) else { return LineVerdict::Keep };
        let mut changed = value::trim_everywhere(data, &mut self.wanted, &mut self.tally);
        changed |= !self.renamed.is_empty() && blobs::rename(data, &self.renamed);
        if changed { LineVerdict::Replace(event.to_line().into_bytes()) } else { LineVerdict::Keep }
    }

    fn passed_over(&mut self, bytes: u64) {
        self.tally.errors.push(format!("an event of {bytes} bytes is too long to trim"));
    }
}
