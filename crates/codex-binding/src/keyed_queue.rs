//! A queue per key: tasks with one key run one at a time, tasks with different keys run in parallel.
//!
//! [`QueueOrder`] is the pure order of tickets; [`KeyedQueue`] lets tasks wait for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Whether a task may run, must wait or is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    Run,
    Wait,
    Full,
}

/// The running and waiting tickets, per key.
#[derive(Debug)]
struct QueueOrder {
    lines: BTreeMap<String, KeyedLine>,
    limit: usize,
}

#[derive(Debug)]
struct KeyedLine {
    running: u64,
    waiting: VecDeque<u64>,
}

impl QueueOrder {
    const fn new(limit: usize) -> Self {
        Self { lines: BTreeMap::new(), limit }
    }

    fn enter(&mut self, key: &str, ticket: u64) -> Admission {
        match self.lines.get_mut(key) {
            None => {
                let line = KeyedLine { running: ticket, waiting: VecDeque::new() };
                self.lines.insert(key.to_owned(), line);
                Admission::Run
            }
            Some(line) if line.waiting.len() >= self.limit => Admission::Full,
            Some(line) => {
                line.waiting.push_back(ticket);
                Admission::Wait
            }
        }
    }

    /// Removes a running or waiting ticket. Returns the ticket that runs next.
    fn leave(&mut self, key: &str, ticket: u64) -> Option<u64> {
        let line = self.lines.get_mut(key)?;
        if line.running != ticket {
            line.waiting.retain(|waiting| *waiting != ticket);
            return None;
        }
        if let Some(next) = line.waiting.pop_front() {
            line.running = next;
            return Some(next);
        }
        self.lines.remove(key);
        None
    }
}

/// Why a task could not enter the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueueError {
    /// Too many tasks are already waiting.
    #[error("too many messages are waiting in this conversation")]
    Full,
    /// The task was cancelled while it waited.
    #[error("cancelled while waiting in the queue")]
    Cancelled,
}

/// Queues by key. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct KeyedQueue {
    shared: Arc<Mutex<SharedQueue>>,
}

#[derive(Debug)]
struct SharedQueue {
    order: QueueOrder,
    wakers: BTreeMap<u64, oneshot::Sender<()>>,
    tickets: u64,
}

impl KeyedQueue {
    /// A queue in which at most `limit` tasks wait per key.
    pub(crate) fn new(limit: usize) -> Self {
        let order = QueueOrder::new(limit);
        let shared = SharedQueue { order, wakers: BTreeMap::new(), tickets: 0 };
        Self { shared: Arc::new(Mutex::new(shared)) }
    }

    fn lock(&self) -> MutexGuard<'_, SharedQueue> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn. Only the holder of the pass runs under this key.
    ///
    /// # Errors
    /// Too many tasks wait, or this one was cancelled.
    pub(crate) async fn enter(
        &self,
        key: &str,
        cancel: &CancellationToken,
    ) -> Result<QueuePass, QueueError> {
        let (waker, woken) = oneshot::channel();
        let (pass, entry) = {
            let mut shared = self.lock();
            shared.tickets += 1;
            let ticket = shared.tickets;
            let entry = shared.order.enter(key, ticket);
            if entry == Admission::Wait {
                shared.wakers.insert(ticket, waker);
            }
            // A task that is dropped while it waits leaves the queue by dropping this.
            let pass = QueuePass { queue: self.clone(), key: key.to_owned(), ticket };
            (pass, entry)
        };
        match entry {
            Admission::Run => Ok(pass),
            Admission::Full => Err(QueueError::Full),
            Admission::Wait => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(QueueError::Cancelled),
                woken = woken => woken.map(|()| pass).map_err(|_| QueueError::Cancelled),
            },
        }
    }

    /// How many keys are in use.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().order.lines.len()
    }

    /// Whether no key is in use.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The right to run under a key. Dropping it lets the next task run.
#[derive(Debug)]
pub(crate) struct QueuePass {
    queue: KeyedQueue,
    key: String,
    ticket: u64,
}

impl Drop for QueuePass {
    fn drop(&mut self) {
        let mut shared = self.queue.lock();
        shared.wakers.remove(&self.ticket);
        let mut next = shared.order.leave(&self.key, self.ticket);
        while let Some(ticket) = next {
            let waker = shared.wakers.remove(&ticket);
            if waker.is_some_and(|waker| waker.send(()).is_ok()) {
                return;
            }
            // The next task was just dropped.
            next = shared.order.leave(&self.key, ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Scenario 64: strictly one after the other under one key, in parallel under two.
    #[tokio::test]
    async fn tasks_with_one_key_run_one_after_the_other() {
        let queue = KeyedQueue::new(8);
        let never = CancellationToken::new();
        let first = queue.enter("a", &never).await.unwrap();
        let _beside = queue.enter("b", &never).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..3 {
            let (queue, order, never) = (queue.clone(), Arc::clone(&order), never.clone());
            tasks.push(tokio::spawn(async move {
                let _pass = queue.enter("a", &never).await.unwrap();
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
        assert_eq!(queue.len(), 1, "a key that nobody uses is gone");
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_cancelled_task_makes_room() {
        let queue = KeyedQueue::new(1);
        let never = CancellationToken::new();
        let running = queue.enter("a", &never).await.unwrap();
        let cancel = CancellationToken::new();
        let waiting = {
            let (queue, cancel) = (queue.clone(), cancel.clone());
            tokio::spawn(async move { queue.enter("a", &cancel).await.map(drop) })
        };
        tokio::task::yield_now().await;
        assert_eq!(queue.enter("a", &never).await.map(drop), Err(QueueError::Full));
        cancel.cancel();
        assert_eq!(waiting.await.unwrap(), Err(QueueError::Cancelled));
        drop(running);
        assert!(queue.is_empty());
    }

    proptest! {
        /// Compares the queue with the simplest model: a list per key.
        #[test]
        fn the_order_is_a_list_per_key(steps in proptest::collection::vec((0_u8..3, 0_u64..12), 0..60)) {
            const LIMIT: usize = 3;
            let mut order = QueueOrder::new(LIMIT);
            let mut model: BTreeMap<String, Vec<u64>> = BTreeMap::new();
            for (number, (key, ticket)) in steps.into_iter().enumerate() {
                let key = key.to_string();
                let list = model.entry(key.clone()).or_default();
                if number % 2 == 0 {
                    let fresh = u64::try_from(number).unwrap() + 100;
                    let expected = match list.len() {
                        0 => Admission::Run,
                        length if length > LIMIT => Admission::Full,
                        _ => Admission::Wait,
                    };
                    prop_assert_eq!(order.enter(&key, fresh), expected);
                    if expected != Admission::Full {
                        list.push(fresh);
                    }
                } else {
                    let position = usize::try_from(ticket).unwrap();
                    let leaving = list.get(position).copied().unwrap_or(ticket);
                    let was_running = list.first() == Some(&leaving);
                    list.retain(|waiting| *waiting != leaving);
                    let expected = if was_running { list.first().copied() } else { None };
                    prop_assert_eq!(order.leave(&key, leaving), expected);
                }
            }
        }
    }
}
