//! What is known of the files that a session has in the dataset.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::SegmentFolder;

/// A segment that is stored: its newest revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownSegment {
    /// The last event; one below the first if the segment is empty.
    pub(super) last: u64,
    pub(super) revision: u32,
    pub(super) digest: String,
    pub(super) folder: SegmentFolder,
}

impl KnownSegment {
    /// The segment with the highest rank counts.
    pub(super) fn rank(&self) -> (u32, String) {
        (self.revision, self.folder.to_string())
    }
}

/// The segments of a session, by their first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownSegments {
    pub(super) segments: BTreeMap<u64, KnownSegment>,
    /// The highest revision that any file has, even if its segment does not count.
    pub(super) used: BTreeMap<u64, u32>,
}

impl KnownSegments {
    pub(super) fn put(&mut self, first: u64, segment: KnownSegment) {
        self.note_used(first, segment.revision);
        self.segments.insert(first, segment);
    }

    pub(super) fn note_used(&mut self, first: u64, revision: u32) {
        let used = self.used.entry(first).or_default();
        *used = revision.max(*used);
    }

    /// The revision of the next file of a segment.
    pub(super) fn next_revision(&self, first: u64) -> u32 {
        self.used.get(&first).copied().unwrap_or_default() + 1
    }

    /// The numbers at which segments begin, and those after which they end.
    pub(super) fn starts(&self) -> BTreeSet<u64> {
        let firsts = self.segments.keys().copied();
        let ends = self.segments.values().map(|segment| segment.last + 1);
        firsts.chain(ends).collect()
    }

    /// The segments that begin after an event and are not empty.
    pub(super) fn beyond(&self, last: u64) -> Vec<u64> {
        let beyond = self.segments.range(last + 1..);
        beyond.filter(|(first, known)| known.last >= **first).map(|(first, _)| *first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(last: u64, revision: u32) -> KnownSegment {
        let folder = SegmentFolder::new(crate::Day::default(), None);
        KnownSegment { last, revision, digest: String::new(), folder }
    }

    #[test]
    fn cuts_are_remembered_even_those_of_segments_that_became_empty() {
        let mut known = KnownSegments::default();
        known.put(1, segment(5, 2));
        known.put(9, segment(8, 3));
        assert_eq!(known.starts(), [1, 6, 9].into());
        assert_eq!(known.beyond(3), [0; 0], "an empty one needs nothing");
        known.put(9, segment(12, 4));
        assert_eq!((known.beyond(3), known.beyond(9)), (vec![9], vec![]));
    }

    #[test]
    fn a_revision_is_never_used_twice() {
        let mut known = KnownSegments::default();
        assert_eq!(known.next_revision(1), 1);
        known.note_used(1, 3);
        known.put(1, segment(5, 2));
        assert_eq!(known.next_revision(1), 4);
    }
}
