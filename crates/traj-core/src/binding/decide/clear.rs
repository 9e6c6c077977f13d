//! How a store removes a binding.

use crate::binding::BindingRecord;
use crate::id::ThreadId;

/// Whether another tool left a record for the session, readable by
/// [`import_record`](crate::binding::import_record).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store states which of the two it found")]
pub enum ForeignRecord {
    /// The session has such a record.
    Present,
    /// It has no such record.
    Absent,
}

/// What a store does to remove a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store has to carry out each of these")]
pub enum ClearDecision {
    /// Nothing: the session is not bound to the thread.
    Keep,
    /// Replace the record with
    /// [`encode_cleared`](crate::binding::encode_cleared):
    /// without it, the other tool's record would be imported again.
    Mark,
    /// Remove the record.
    Remove,
}

/// How to remove a session's binding to `thread`. `bound` is the record in
/// effect: the stored one, or the imported one if none is stored.
#[must_use]
pub fn decide_clear(
    bound: Option<&BindingRecord>,
    thread: &ThreadId,
    foreign: ForeignRecord,
) -> ClearDecision {
    if bound.is_none_or(|record| record.thread != *thread) {
        return ClearDecision::Keep;
    }
    match foreign {
        ForeignRecord::Present => ClearDecision::Mark,
        ForeignRecord::Absent => ClearDecision::Remove,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::BindingOrigin;
    use crate::timestamp::UnixMillis;

    #[test]
    fn only_a_foreign_record_needs_a_mark() {
        let thread = ThreadId::parse("t1").unwrap();
        let other = ThreadId::parse("t2").unwrap();
        let record =
            BindingRecord::new(thread.clone(), "/w", BindingOrigin::Started, UnixMillis::EPOCH);
        for foreign in [ForeignRecord::Present, ForeignRecord::Absent] {
            assert_eq!(decide_clear(None, &thread, foreign), ClearDecision::Keep);
            assert_eq!(decide_clear(Some(&record), &other, foreign), ClearDecision::Keep);
        }
        let decide = |foreign| decide_clear(Some(&record), &thread, foreign);
        assert_eq!(decide(ForeignRecord::Present), ClearDecision::Mark);
        assert_eq!(decide(ForeignRecord::Absent), ClearDecision::Remove);
    }
}
