//! Sorts more records than fit into memory: sorted runs in a scratch file,
//! merged as they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use traj_core::port::BundleSinkError;

use crate::index::record_store::{FixedRecord, RecordStore, Spool};

/// Bytes of records that are sorted in memory at once. The limit is low: an
/// ordinary session already reaches it, so ten times as many records need no
/// more memory.
const RUN_BYTES: usize = 512 * 1024;

/// Bytes of records that are read ahead while runs are merged, for all runs
/// together.
const AHEAD_BYTES: usize = 256 * 1024;

/// The fewest records that are read ahead for one run.
const LEAST_AHEAD: u64 = 16;

/// Collects records and returns them in order.
pub(crate) struct Sorter<R> {
    run: Vec<R>,
    run_length: usize,
    spilled: RecordStore<R>,
    /// Indexes into `spilled` where runs end.
    ends: Vec<u64>,
    /// The last record of the last run.
    last: Option<R>,
}

impl<R: FixedRecord + Ord + Copy> Sorter<R> {
    pub(crate) fn new() -> Self {
        Self::with_run_length(RUN_BYTES / size_of::<R>())
    }

    fn with_run_length(run_length: usize) -> Self {
        // The store's own memory is kept small: runs are already large.
        let spilled = RecordStore::with_limit(256 * 1024);
        Self { run: Vec::new(), run_length, spilled, ends: Vec::new(), last: None }
    }

    pub(crate) fn push(&mut self, record: R, spool: &dyn Spool) -> Result<(), BundleSinkError> {
        self.run.push(record);
        if self.run.len() >= self.run_length {
            self.spill(spool)?;
        }
        Ok(())
    }

    fn spill(&mut self, spool: &dyn Spool) -> Result<(), BundleSinkError> {
        self.run.sort();
        // Most files are in order. Records that continue the previous run
        // extend it, so there are few runs to merge.
        if self.run.first().zip(self.last).is_some_and(|(first, last)| last <= *first) {
            self.ends.pop();
        }
        self.last = self.run.last().copied();
        for record in self.run.drain(..) {
            self.spilled.push(record, spool)?;
        }
        self.ends.push(self.spilled.len());
        Ok(())
    }

    /// All records in order.
    pub(crate) fn finish(mut self, spool: &dyn Spool) -> Result<Sorted<R>, BundleSinkError> {
        if self.ends.is_empty() {
            self.run.sort();
            return Ok(Sorted::Memory(self.run.into_iter()));
        }
        if !self.run.is_empty() {
            self.spill(spool)?;
        }
        self.run = Vec::new();
        let mut start = 0;
        let mut runs = Vec::with_capacity(self.ends.len());
        for end in self.ends {
            runs.push(SortedRun { next: start, end, block: Vec::new().into_iter() });
            start = end;
        }
        let ahead = (AHEAD_BYTES / size_of::<R>() / runs.len()) as u64;
        let ahead = ahead.max(LEAST_AHEAD);
        let mut merge = MergedRuns { store: self.spilled, runs, heads: BinaryHeap::new(), ahead };
        for run in 0..merge.runs.len() {
            merge.refill(run)?;
        }
        Ok(Sorted::Merge(merge))
    }
}

/// Records in order.
pub(crate) enum Sorted<R> {
    Memory(std::vec::IntoIter<R>),
    Merge(MergedRuns<R>),
}

impl<R: FixedRecord + Ord> Sorted<R> {
    pub(crate) fn next(&mut self) -> Result<Option<R>, BundleSinkError> {
        match self {
            Self::Memory(records) => Ok(records.next()),
            Self::Merge(merge) => merge.next(),
        }
    }
}

pub(crate) struct MergedRuns<R> {
    store: RecordStore<R>,
    runs: Vec<SortedRun<R>>,
    heads: BinaryHeap<Reverse<(R, usize)>>,
    /// How many records of one run are read ahead.
    ahead: u64,
}

struct SortedRun<R> {
    next: u64,
    end: u64,
    block: std::vec::IntoIter<R>,
}

impl<R: FixedRecord + Ord> MergedRuns<R> {
    fn next(&mut self) -> Result<Option<R>, BundleSinkError> {
        let Some(Reverse((record, run))) = self.heads.pop() else { return Ok(None) };
        self.refill(run)?;
        Ok(Some(record))
    }

    /// Adds the next record of a run to the heads.
    fn refill(&mut self, index: usize) -> Result<(), BundleSinkError> {
        let Some(run) = self.runs.get_mut(index) else { return Ok(()) };
        let mut head = run.block.next();
        if head.is_none() && run.next < run.end {
            let stop = run.end.min(run.next + self.ahead);
            run.block = self.store.range(run.next..stop)?.into_iter();
            run.next = stop;
            head = run.block.next();
        }
        self.heads.extend(head.map(|record| Reverse((record, index))));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::record_store::tests::spool;

    #[test]
    fn ordered_records_form_few_runs() {
        let writer = spool();
        let mut sorter = Sorter::with_run_length(10);
        for value in (0..1_000_u64).chain(500..1_500) {
            sorter.push(value, &&*writer).unwrap();
        }
        let Sorted::Merge(merge) = sorter.finish(&&*writer).unwrap() else { panic!("in memory") };
        assert_eq!(merge.runs.len(), 2);
    }

    proptest! {
        #[test]
        fn runs_merge_to_the_same_order(
            mut values in prop::collection::vec(any::<u64>(), 0..200),
            ordered in 0_usize..200,
            run in 1_usize..40,
        ) {
            if let Some(head) = values.get_mut(..ordered) {
                head.sort_unstable();
            }
            let writer = spool();
            let mut sorter = Sorter::with_run_length(run);
            for value in &values {
                sorter.push(*value, &&*writer).unwrap();
            }
            let mut sorted = sorter.finish(&&*writer).unwrap();
            let mut merged = Vec::new();
            while let Some(value) = sorted.next().unwrap() {
                merged.push(value);
            }
            let mut expected = values;
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
