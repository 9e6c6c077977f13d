//! One message after the other per conversation, conversations beside each other.
//!
//! The order is kept by a value without waiting ([`LaneQueue`]); [`Lanes`] lets tasks wait for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What becomes of somebody who wants to enter a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Run,
    Wait,
    Full,
}

/// Who runs and who waits, per lane.
#[derive(Debug)]
struct LaneQueue {
    lanes: BTreeMap<String, Lane>,
    limit: usize,
}

#[derive(Debug)]
struct Lane {
    running: u64,
    waiting: VecDeque<u64>,
}

impl LaneQueue {
    const fn new(limit: usize) -> Self {
        Self { lanes: BTreeMap::new(), limit }
    }

    fn enter(&mut self, key: &str, ticket: u64) -> Entry {
        match self.lanes.get_mut(key) {
            None => {
                let lane = Lane { running: ticket, waiting: VecDeque::new() };
                self.lanes.insert(key.to_owned(), lane);
                Entry::Run
            }
            Some(lane) if lane.waiting.len() >= self.limit => Entry::Full,
            Some(lane) => {
                lane.waiting.push_back(ticket);
                Entry::Wait
            }
        }
    }

    /// Takes a ticket out, wherever it is; tells who runs next.
    fn leave(&mut self, key: &str, ticket: u64) -> Option<u64> {
        let lane = self.lanes.get_mut(key)?;
        if lane.running != ticket {
            lane.waiting.retain(|waiting| *waiting != ticket);
            return None;
        }
        if let Some(next) = lane.waiting.pop_front() {
            lane.running = next;
            return Some(next);
        }
        self.lanes.remove(key);
        None
    }
}

/// Why somebody may not enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaneError {
    /// Too many wait already.
    #[error("too many messages wait in this conversation")]
    Full,
    /// Somebody called it off while it waited.
    #[error("it was called off while it waited")]
    Cancelled,
}

/// Lanes by name. Clones share them.
#[derive(Clone, Debug)]
pub struct Lanes {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    queue: LaneQueue,
    wakers: BTreeMap<u64, oneshot::Sender<()>>,
    tickets: u64,
}

impl Lanes {
    /// Lanes in which at most `limit` wait each.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let queue = LaneQueue::new(limit);
        let shared = Shared { queue, wakers: BTreeMap::new(), tickets: 0 };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the lane; whoever holds the pass runs alone in it.
    ///
    /// # Errors
    /// Too many wait, or it was called off.
    pub async fn enter(
        &self,
        key: &str,
        cancel: &CancellationToken,
    ) -> Result<LanePass, LaneError> {
        let (waker, woken) = oneshot::channel();
        let (pass, entry) = {
            let mut shared = self.lock();
            shared.tickets += 1;
            let ticket = shared.tickets;
            let entry = shared.queue.enter(key, ticket);
            if entry == Entry::Wait {
                shared.wakers.insert(ticket, waker);
            }
            // Whoever goes away while waiting leaves the lane by dropping this.
            let pass = LanePass { lanes: self.clone(), key: key.to_owned(), ticket };
            (pass, entry)
        };
        match entry {
            Entry::Run => Ok(pass),
            Entry::Full => Err(LaneError::Full),
            Entry::Wait => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(LaneError::Cancelled),
                woken = woken => woken.map(|()| pass).map_err(|_| LaneError::Cancelled),
            },
        }
    }

    /// How many lanes are in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().queue.lanes.len()
    }

    /// Whether no lane is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The right to run in a lane; dropping it lets the next one in.
#[derive(Debug)]
pub struct LanePass {
    lanes: Lanes,
    key: String,
    ticket: u64,
}

impl Drop for LanePass {
    fn drop(&mut self) {
        let mut shared = self.lanes.lock();
        shared.wakers.remove(&self.ticket);
        let mut next = shared.queue.leave(&self.key, self.ticket);
        while let Some(ticket) = next {
            let waker = shared.wakers.remove(&ticket);
            if waker.is_some_and(|waker| waker.send(()).is_ok()) {
                return;
            }
            // It went away in this moment.
            next = shared.queue.leave(&self.key, ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Scenario 64: strictly one after the other in a lane, beside each other in two.
    #[tokio::test]
    async fn one_after_the_other_in_a_lane() {
        let lanes = Lanes::new(8);
        let never = CancellationToken::new();
        let first = lanes.enter("a", &never).await.unwrap();
        let _beside = lanes.enter("b", &never).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..3 {
            let (lanes, order, never) = (lanes.clone(), Arc::clone(&order), never.clone());
            tasks.push(tokio::spawn(async move {
                let _pass = lanes.enter("a", &never).await.unwrap();
                order.lock().unwrap().push(number);
            }));
            tokio::task::yield_now().await;
        }
        assert!(order.lock().unwrap().is_empty());
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
        assert_eq!(lanes.len(), 1, "a lane that nobody uses is gone");
    }

    #[tokio::test]
    async fn a_full_lane_refuses_and_a_cancelled_one_makes_room() {
        let lanes = Lanes::new(1);
        let never = CancellationToken::new();
        let running = lanes.enter("a", &never).await.unwrap();
        let cancel = CancellationToken::new();
        let waiting = {
            let (lanes, cancel) = (lanes.clone(), cancel.clone());
            tokio::spawn(async move { lanes.enter("a", &cancel).await.map(drop) })
        };
        tokio::task::yield_now().await;
        assert_eq!(lanes.enter("a", &never).await.map(drop), Err(LaneError::Full));
        cancel.cancel();
        assert_eq!(waiting.await.unwrap(), Err(LaneError::Cancelled));
        drop(running);
        assert!(lanes.is_empty());
    }

    proptest! {
        /// The queue against the simplest thing that could be right: a list per lane.
        #[test]
        fn the_queue_is_a_list_per_lane(steps in proptest::collection::vec((0_u8..3, 0_u64..12), 0..60)) {
            const LIMIT: usize = 3;
            let mut queue = LaneQueue::new(LIMIT);
            let mut model: BTreeMap<String, Vec<u64>> = BTreeMap::new();
            for (number, (lane, ticket)) in steps.into_iter().enumerate() {
                let key = lane.to_string();
                let list = model.entry(key.clone()).or_default();
                if number % 2 == 0 {
                    let fresh = u64::try_from(number).unwrap() + 100;
                    let expected = match list.len() {
                        0 => Entry::Run,
                        length if length > LIMIT => Entry::Full,
                        _ => Entry::Wait,
                    };
                    prop_assert_eq!(queue.enter(&key, fresh), expected);
                    if expected != Entry::Full {
                        list.push(fresh);
                    }
                } else {
                    let position = usize::try_from(ticket).unwrap();
                    let leaving = list.get(position).copied().unwrap_or(ticket);
                    let was_running = list.first() == Some(&leaving);
                    list.retain(|waiting| *waiting != leaving);
                    let expected = if was_running { list.first().copied() } else { None };
                    prop_assert_eq!(queue.leave(&key, leaving), expected);
                }
            }
        }
    }
}
