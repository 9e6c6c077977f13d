//! Facts that are only counted.

use super::{Fold, names};
use crate::run::{Attachment, Fact};

/// How many reasons for a gap are kept.
const MOST_GAPS: usize = 8;

impl Fold {
    /// Counts facts that need no context.
    pub(super) fn count_rest(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Rewind(_) => self.run.rewinds += 1,
            Fact::Branches(branches) => {
                self.run.branches += branches.count;
                self.run.branch_entries += branches.entries;
            }
            Fact::Attachment(Attachment { kind: Some(kind), .. })
                if kind.starts_with("inherited/") =>
            {
                self.models.is_fork = true;
            }
            Fact::Lost(loss) => {
                self.run.losses += 1;
                let lost = loss.events.unwrap_or_default();
                self.run.lost_events = self.run.lost_events.saturating_add(lost);
                let gaps = &mut self.run.gaps;
                if let Some(reason) = &loss.reason
                    && gaps.len() < MOST_GAPS
                {
                    let reason = names::short(reason);
                    if !gaps.contains(&reason) {
                        gaps.push(reason);
                    }
                }
            }
            Fact::Other { name, is_known: false } => {
                names::count(&mut self.run.unknown, &mut self.run.other_unknown, name);
            }
            Fact::UnknownRows(rows) => {
                let slot = rows.name.and_then(|name| names::entry(&mut self.run.unknown, name));
                let slot = slot.unwrap_or(&mut self.run.other_unknown);
                *slot = slot.saturating_add(rows.count);
            }
            _ => {}
        }
    }
}
