//! Where the segments of a session end.
//!
//! Cuts are never moved: a stored segment has a name, and its events must not
//! be in another one. Apart from that, cuts depend on the events alone, so that
//! every process makes the same ones.

use std::collections::BTreeSet;

use traj_export::{EventRow, NextEvent, SessionRow, StatedTotals};

use crate::Day;

/// How large a segment becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two limits")]
pub struct SegmentLimits {
    /// A segment ends after this many events.
    pub events: usize,
    /// A segment ends after this many bytes of payload.
    pub bytes: usize,
}

impl Default for SegmentLimits {
    fn default() -> Self {
        Self { events: 4_096, bytes: 16 * 1024 * 1024 }
    }
}

/// A run of consecutive events, which becomes one file of events and one of
/// sessions.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) first: u64,
    /// One below `first` if the segment is empty.
    pub(super) last: u64,
    pub(super) day: Day,
    pub(super) rows: Vec<EventRow>,
    pub(super) totals: SessionRow,
}

/// Collects the events of a session in segments.
#[derive(Debug)]
pub(super) struct Cutter {
    limits: SegmentLimits,
    /// The numbers at which segments begin that are stored.
    starts: BTreeSet<u64>,
    rows: Vec<EventRow>,
    bytes: usize,
    first: u64,
    /// The day of the first event that is collected.
    day: Day,
    /// The day of the last event that stated a time.
    newest_day: Day,
}

/// The effect of an event on its segment.
#[derive(Debug)]
pub(super) enum Collected {
    /// Its segment continues.
    Open,
    /// Its segment ends with it.
    Whole(Segment),
    /// It is the last event, and nothing else ends its segment.
    Tail(Segment),
}

impl Cutter {
    pub(super) fn new(limits: SegmentLimits, starts: BTreeSet<u64>) -> Self {
        let day = Day::default();
        Self { limits, starts, rows: Vec::new(), bytes: 0, first: 1, day, newest_day: day }
    }

    /// Takes the next event.
    pub(super) fn push(
        &mut self,
        row: EventRow,
        next: Option<NextEvent>,
        totals: &dyn StatedTotals,
    ) -> Collected {
        if let Some(at) = row.at {
            self.newest_day = Day::of(Some(at));
        }
        if self.rows.is_empty() {
            self.day = self.newest_day;
        }
        let seq = u64::try_from(row.seq).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(row.data.len());
        self.rows.push(row);
        if !self.ends_before(next) {
            return Collected::Open;
        }
        let is_full = self.is_full();
        let segment = Segment {
            first: self.first,
            // The numbers of events that cannot be read belong to the segment before.
            last: next.map_or(seq, |next| next.seq.saturating_sub(1)),
            day: self.day,
            rows: std::mem::take(&mut self.rows),
            totals: totals.up_to(self.first, next.map_or(seq, |next| next.seq.saturating_sub(1))),
        };
        self.bytes = 0;
        self.first = segment.last + 1;
        let is_whole = is_full || next.is_some() || self.starts.contains(&self.first);
        if is_whole { Collected::Whole(segment) } else { Collected::Tail(segment) }
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.limits.events || self.bytes >= self.limits.bytes
    }

    fn ends_before(&self, next: Option<NextEvent>) -> bool {
        let Some(next) = next else { return true };
        let is_of_later_day = next.at.is_some_and(|at| Day::of(Some(at)) > self.day);
        self.is_full() || is_of_later_day || self.starts.contains(&next.seq)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use traj_core::timestamp::UnixMillis;

    use super::*;

    struct NoTotals;

    impl StatedTotals for NoTotals {
        fn up_to(&self, first_seq: u64, last_seq: u64) -> SessionRow {
            let number = |seq| i64::try_from(seq).unwrap();
            SessionRow {
                first_seq: number(first_seq),
                last_seq: number(last_seq),
                ..SessionRow::default()
            }
        }
    }

    const HOUR: i64 = 3_600_000;

    /// The segments of events at these hours: first, last, day and whether the end
    /// is certain.
    fn cut(
        hours: &[Option<i64>],
        starts: &[u64],
        limits: SegmentLimits,
    ) -> Vec<(u64, u64, Day, bool)> {
        let mut cutter = Cutter::new(limits, starts.iter().copied().collect());
        let mut found = Vec::new();
        let at = |hour: Option<i64>| hour.and_then(|hour| UnixMillis::new(hour * HOUR));
        for (place, hour) in hours.iter().enumerate() {
            let seq = place as u64 + 1;
            let row = EventRow { seq: place as i64 + 1, at: at(*hour), ..EventRow::default() };
            let next = hours.get(place + 1).map(|hour| NextEvent { seq: seq + 1, at: at(*hour) });
            match cutter.push(row, next, &NoTotals) {
                Collected::Open => {}
                Collected::Whole(segment) => found.push((segment, true)),
                Collected::Tail(segment) => found.push((segment, false)),
            }
        }
        let facts = found.into_iter().map(|(segment, is_whole)| {
            assert_eq!(segment.rows.len() as u64, segment.last + 1 - segment.first);
            assert_eq!(segment.totals.last_seq as u64, segment.last);
            (segment.first, segment.last, segment.day, is_whole)
        });
        facts.collect()
    }

    const LIMITS: SegmentLimits = SegmentLimits { events: 4, bytes: 1_000 };

    #[test]
    fn segments_end_after_so_many_events_and_at_cuts_that_were_made() {
        let day = Day::default();
        let hours = [Some(1); 10];
        let expected = [(1, 4, day, true), (5, 8, day, true), (9, 10, day, false)];
        assert_eq!(cut(&hours, &[], LIMITS), expected);
        let expected = [(1, 2, day, true), (3, 6, day, true), (7, 10, day, true)];
        assert_eq!(cut(&hours, &[1, 3, 11], LIMITS), expected);
    }

    #[test]
    fn a_later_day_begins_a_segment_and_an_earlier_one_does_not() {
        let day = |number: i64| Day::of(UnixMillis::new(number * 24 * HOUR));
        let hours = [None, Some(23), None, Some(24), Some(23), Some(49)];
        let expected = [(1, 3, day(0), true), (4, 5, day(1), true), (6, 6, day(2), false)];
        assert_eq!(cut(&hours, &[], LIMITS), expected);
    }

    #[test]
    fn a_segment_ends_after_so_many_bytes() {
        let mut cutter = Cutter::new(LIMITS, BTreeSet::new());
        let row = EventRow { seq: 1, data: "x".repeat(1_000), ..EventRow::default() };
        let next = Some(NextEvent { seq: 2, at: None });
        let Collected::Whole(segment) = cutter.push(row, next, &NoTotals) else { panic!() };
        assert_eq!((segment.first, segment.last), (1, 1));
    }

    proptest! {
        #[test]
        fn every_event_is_in_one_segment(
            hours in proptest::collection::vec(proptest::option::of(0..100_i64), 1..60),
            starts in proptest::collection::vec(1..70_u64, 0..10),
        ) {
            let segments = cut(&hours, &starts, LIMITS);
            let mut next = 1;
            for (first, last, ..) in &segments {
                prop_assert_eq!(*first, next);
                prop_assert!(last >= first);
                prop_assert!(starts.iter().all(|start| !(first + 1..=*last).contains(start)));
                next = last + 1;
            }
            prop_assert_eq!(next, hours.len() as u64 + 1);
            // A cut that was made is made again, and no other.
            let again: Vec<u64> = segments.iter().map(|(first, ..)| *first).collect();
            prop_assert_eq!(cut(&hours, &again, LIMITS).len(), segments.len());
        }
    }
}
