//! Limits how much may wait. The counters need no lock, so hosts that record at
//! the same time and the writer do not block each other.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Limits on the events that wait. Nothing else is published through these
/// counters, so relaxed memory ordering is enough.
#[derive(Debug)]
pub(super) struct QueueBounds {
    max_events: u64,
    /// About how many bytes of events may wait.
    max_bytes: usize,
    /// The number of accepted events.
    accepted: AtomicU64,
    /// The number of accepted events that the writer took.
    taken: AtomicU64,
    /// The bytes of accepted events that were neither written nor given up.
    bytes: AtomicUsize,
    /// The number of refused events.
    refused: AtomicU64,
    /// The bytes of refused events.
    refused_bytes: AtomicU64,
}

impl QueueBounds {
    pub(super) const fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            max_events: max_events as u64,
            max_bytes,
            accepted: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            refused_bytes: AtomicU64::new(0),
        }
    }

    /// Reserves space for an event of this size, if there is any. An event of
    /// any size is accepted when nothing else waits.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let fits = before == 0 || before.saturating_add(bytes) <= self.max_bytes;
        let reserved = fits && self.accept();
        if !reserved {
            self.release(bytes);
        }
        reserved
    }

    /// Counts an accepted event. It never counts another one, not even briefly,
    /// because a flush waits for every event that is counted.
    fn accept(&self) -> bool {
        let next = |accepted: u64| {
            let waiting = accepted.saturating_sub(self.taken.load(Ordering::Relaxed));
            (waiting < self.max_events).then_some(accepted + 1)
        };
        self.accepted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }

    /// Counts an event of this size that was refused.
    pub(super) fn refuse(&self, bytes: usize) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.refused_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The writer took events, so there is space for others.
    pub(super) fn take(&self, events: usize) {
        self.taken.fetch_add(events as u64, Ordering::Relaxed);
    }

    /// Events of this size were written or dropped.
    pub(super) fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The number of events that the writer has not taken yet.
    pub(super) fn waiting(&self) -> u64 {
        self.accepted().saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed) as u64
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(super) fn refused_bytes(&self) -> u64 {
        self.refused_bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_of_any_size_is_accepted_by_an_empty_queue() {
        let bounds = QueueBounds::new(10, 100);
        assert!(bounds.reserve(1_000));
        assert!(!bounds.reserve(1));
        bounds.release(1_000);
        assert!(bounds.reserve(60) && bounds.reserve(40) && !bounds.reserve(1));
        assert_eq!((bounds.accepted(), bounds.bytes()), (3, 100));
    }

    #[test]
    fn concurrent_hosts_do_not_exceed_the_bounds() {
        let bounds = QueueBounds::new(1_000, usize::MAX);
        let got = || (0..600).filter(|_| bounds.reserve(1)).count();
        let sum: usize = std::thread::scope(|scope| {
            let hosts: Vec<_> = (0..4).map(|_| scope.spawn(got)).collect();
            hosts.into_iter().map(|host| host.join().unwrap()).sum()
        });
        assert_eq!((sum, bounds.accepted(), bounds.bytes()), (1_000, 1_000, 1_000));
    }

    #[test]
    fn waiting_events_stay_within_the_bounds() {
        for (max_events, max_bytes) in [(1, 1), (3, 500), (8, 500), (20, 1_000)] {
            let bounds = QueueBounds::new(max_events, max_bytes);
            let mut waiting: Vec<usize> = Vec::new();
            for turn in 1_usize..200 {
                if turn.is_multiple_of(7) {
                    bounds.take(waiting.len());
                    waiting.drain(..).for_each(|size| bounds.release(size));
                }
                let size = turn * 7_919 % 200 + 1;
                if bounds.reserve(size) {
                    waiting.push(size);
                }
                let bytes: usize = waiting.iter().sum();
                assert_eq!(bounds.bytes(), bytes as u64);
                assert!(!waiting.is_empty() && waiting.len() <= max_events);
                assert!(bytes <= max_bytes || waiting.len() == 1);
            }
        }
    }
}
