//! Whether the segments of each session contain every event once.

use std::collections::{BTreeMap, HashMap};

use super::file::belong_together;
use super::{DatasetProblem, DatasetReport};
use crate::layout::{SegmentKey, Table};

/// Which segment a row belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SegmentId {
    pub(super) host: String,
    /// Its trace id.
    pub(super) session: String,
    pub(super) first: u64,
    pub(super) revision: u32,
}

/// Rows of a segment in one file.
#[derive(Debug)]
pub(super) struct FoundRows {
    pub(super) table: Table,
    pub(super) segment: SegmentId,
    /// How many rows.
    pub(super) count: u64,
    /// For totals: the last event, and how many events there are up to it.
    pub(super) last: u64,
    pub(super) total: u64,
    /// The digests that a segment's file states: of its rows, and of both files.
    pub(super) digests: Option<[String; 2]>,
    pub(super) key: Option<SegmentKey>,
}

/// A revision of a segment.
#[derive(Debug, Default)]
struct Revision {
    /// The last event, and the number of events up to it; `None` without totals.
    totals: Option<(u64, u64)>,
    /// How many of its events there are, in the file that has most.
    events: u64,
    files: u64,
    digests: [Option<[String; 2]>; 2],
    key: Option<SegmentKey>,
}

type Revisions = BTreeMap<u32, Revision>;

/// The segments of all sessions.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// By host and trace id.
    sessions: HashMap<(String, String), BTreeMap<u64, Revisions>>,
}

impl Coverage {
    pub(super) fn add(&mut self, found: Vec<FoundRows>) {
        for rows in found {
            let SegmentId { host, session, first, revision } = rows.segment;
            let segments = self.sessions.entry((host, session)).or_default();
            let known = segments.entry(first).or_default().entry(revision).or_default();
            known.files += 1;
            let slot = match rows.table {
                Table::Events => {
                    known.events = known.events.max(rows.count);
                    0
                }
                Table::Sessions => {
                    known.totals = Some((rows.last, rows.total));
                    1
                }
            };
            if rows.digests.is_some()
                && let Some(digests) = known.digests.get_mut(slot)
            {
                *digests = rows.digests;
            }
            known.key = rows.key.or(known.key.take());
        }
    }

    /// Reports gaps.
    pub(super) fn finish(self, report: &mut DatasetReport) {
        let mut sessions: Vec<_> = self.sessions.into_iter().collect();
        sessions.sort_by(|((host, one), _), ((other_host, other), _)| {
            (one, host).cmp(&(other, other_host))
        });
        for ((_, trace_id), segments) in sessions {
            let mut walk = Walk { trace_id, next: 1, total: 0, report };
            for (first, revisions) in segments {
                walk.segment(first, revisions);
            }
            let has_events = walk.total > 0;
            report.sessions += u64::from(has_events);
        }
    }
}

/// A walk over the segments of a session.
struct Walk<'r> {
    trace_id: String,
    /// The first event that no segment contained yet.
    next: u64,
    /// How many events there are before it.
    total: u64,
    report: &'r mut DatasetReport,
}

impl Walk<'_> {
    fn segment(&mut self, first: u64, revisions: Revisions) {
        let newest = revisions.iter().rev().find(|(_, known)| known.totals.is_some());
        let newest = newest.map(|(revision, _)| *revision);
        let mut counted = None;
        for (revision, known) in revisions {
            match newest {
                Some(newest) if revision == newest => counted = Some(known),
                Some(newest) if revision < newest => self.report.replaced += known.files,
                _ => self.report.unfinished += known.files,
            }
        }
        let Some(known) = counted else { return };
        let Some((last, total)) = known.totals else { return };
        if last < first {
            return;
        }
        if first > self.next {
            let missing = first - self.next;
            let count = if missing == 1 { "event is" } else { "events are" };
            self.problem(None, format!("{missing} {count} missing before event {first}"));
        } else if first < self.next {
            self.problem(
                known.key.as_ref(),
                format!(
                    "the events from {first} to {} are in two segments",
                    last.min(self.next - 1)
                ),
            );
        }
        let expected = total.saturating_sub(self.total);
        if first == self.next && known.events != expected {
            let found = known.events;
            self.problem(
                known.key.as_ref(),
                format!("{found} of {expected} events from {first} to {last} are there"),
            );
        }
        if let [Some(events), Some(sessions)] = &known.digests
            && !belong_together(events, sessions)
        {
            self.problem(known.key.as_ref(), "its two files do not belong together".to_owned());
        }
        self.report.events += known.events;
        self.next = self.next.max(last + 1);
        self.total = self.total.max(total);
    }

    fn problem(&mut self, key: Option<&SegmentKey>, problem: String) {
        let file = key.map(ToString::to_string);
        let trace_id = Some(self.trace_id.clone());
        self.report.add_problem(DatasetProblem { file, trace_id, problem });
    }
}
