//! Trimming a session: a host's transcript or a Codex rollout.
//!
//! - `probe`: whether a block can mention one of the ids at all.
//! - `tally`: what a pass over a document found and did.
//! - `message`, `value`, `images`: the rows, values and images that change.
//! - `sidecar`, `blobs`: the same for the copies in a run's events.

pub(super) mod blobs;
pub(super) mod images;
pub(super) mod message;
pub(super) mod probe;
mod sidecar;
pub(super) mod tally;
pub(super) mod value;

use self::probe::IdProbe;
use self::tally::OpenItems;
use super::TrimItem;
use crate::dialect::shape::row;
use crate::json::Json;
use crate::port::{LineEdit, LineVerdict};

pub use sidecar::SidecarEdit;
pub use tally::Tally;

/// Trims the results of some calls in a session file.
#[derive(Debug)]
pub struct TrimEdit {
    wanted: OpenItems,
    probe: IdProbe,
    tally: Tally,
}

impl TrimEdit {
    /// An edit that trims these items.
    #[must_use]
    pub fn new(items: &[TrimItem]) -> Self {
        let wanted = OpenItems::new(items);
        let probe = IdProbe::new(wanted.ids());
        Self { wanted, probe, tally: Tally::default() }
    }

    /// The counts; items that were not found are errors.
    #[must_use]
    pub fn finish(mut self) -> Tally {
        self.wanted.close(&mut self.tally);
        self.tally
    }
}

impl LineEdit for TrimEdit {
    fn concerns(&self, block: &[u8]) -> bool {
        self.probe.may_mention(block)
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        if !self.probe.may_mention(line) {
            return LineVerdict::Keep;
        }
        let Ok(mut row) = Json::parse_lossy(line) else { return LineVerdict::Keep };
        if row::is_of_rollout(&row) {
            return self.rollout_row(row, line.len());
        }
        if message::trim_row(&mut row, &mut self.wanted, &mut self.tally) {
            LineVerdict::Replace(row.to_line().into_bytes())
        } else {
            LineVerdict::Keep
        }
    }

    fn passed_over(&mut self, bytes: u64) {
        self.tally.errors.push(format!("a line of {bytes} bytes is too long to trim"));
    }
}

impl TrimEdit {
    fn rollout_row(&mut self, mut row: Json<'_>, length: usize) -> LineVerdict {
        let numbered = row::is_numbered(&row);
        let before = self.tally.clone();
        let Some(payload) = row::payload_mut(&mut row) else { return LineVerdict::Keep };
        if !value::trim_everywhere(payload, &mut self.wanted, &mut self.tally) {
            return LineVerdict::Keep;
        }
        let mut text = row.to_line();
        if numbered {
            // Forks point into numbered rollouts by byte offset, so a row keeps
            // its length; readers ignore spaces after the value.
            if text.len() > length {
                self.tally = before;
                self.tally.errors.push(format!(
                    "a row of a numbered rollout cannot grow from {length} to {} bytes",
                    text.len()
                ));
                self.tally.skipped += 1;
                return LineVerdict::Keep;
            }
            text.extend(std::iter::repeat_n(' ', length - text.len()));
        }
        LineVerdict::Replace(text.into_bytes())
    }
}
