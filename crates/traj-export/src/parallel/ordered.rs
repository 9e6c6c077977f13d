//! An ordered parallel map: results come out in the order of the input.
//!
//! Memory that one core has written is slow to write from another core, because
//! it moves between their caches line by line. So batches never change threads.
//! Each worker owns one batch and runs all stages on it; only the stages that
//! need the order wait for their turn.

use std::num::NonZeroUsize;
use std::panic;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The result of filling a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchFill {
    /// There was no input left.
    Done,
    /// A batch to work on.
    Batch,
    /// A large batch, which runs alone, so that memory use does not grow with
    /// the number of workers.
    Exclusive,
}

impl BatchFill {
    /// The result for a batch of this many bytes.
    pub(crate) const fn of(bytes: usize) -> Self {
        const EXCLUSIVE: usize = 1024 * 1024;
        if bytes < EXCLUSIVE { Self::Batch } else { Self::Exclusive }
    }
}

/// Fills, works on and empties batches until `fill` returns [`BatchFill::Done`].
///
/// `fill` and `empty` see the batches in the same order, one at a time; `work`
/// runs on all of them in parallel, except on exclusive ones. The calling
/// thread is one of the workers. The first error in that order ends the work.
pub(crate) fn in_turn<B: Default, E: Send>(
    workers: NonZeroUsize,
    mut fill: impl FnMut(&mut B) -> Result<BatchFill, E> + Send,
    work: impl Fn(&mut B) + Sync,
    mut empty: impl FnMut(&mut B) -> Result<(), E> + Send,
) -> Result<(), E> {
    if workers.get() == 1 {
        let mut batch = B::default();
        while fill(&mut batch)? != BatchFill::Done {
            work(&mut batch);
            empty(&mut batch)?;
        }
        return Ok(());
    }
    let filling = Mutex::new(BatchFiller { number: 0, action: Some(fill) });
    let emptying = Turns::new(empty);
    let worker = || {
        // Without this, other threads would wait for the turn of a thread that
        // panicked.
        let _guard = EndOnPanic(&emptying);
        let mut batch = B::default();
        loop {
            let mut filling = lock(&filling);
            let Some((number, filled)) = filling.next(&mut batch) else { return };
            // No other batch is filled while this lock is held.
            let alone = matches!(filled, Ok(BatchFill::Exclusive)).then_some(filling);
            if let Ok(BatchFill::Batch) = filled {
                work(&mut batch);
            }
            let is_over = emptying.take_turn(number, |empty| {
                let filled = filled?;
                if filled == BatchFill::Exclusive {
                    // All earlier batches are done now.
                    work(&mut batch);
                }
                let is_filled = filled != BatchFill::Done;
                if is_filled { empty(&mut batch).map(|()| true) } else { Ok(false) }
            });
            drop(alone);
            if is_over {
                return;
            }
        }
    };
    thread::scope(|scope| {
        // If a thread cannot be started, the others do its work.
        let others = (1..workers.get())
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, worker).ok())
            .collect::<Vec<_>>();
        worker();
        for other in others {
            other.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        }
    });
    emptying.finish()
}

/// Fills batches in order, until the input ends or fails.
struct BatchFiller<F> {
    number: u64,
    /// Fills a batch; `None` once the input has ended.
    action: Option<F>,
}

impl<F> BatchFiller<F> {
    /// Fills a batch and returns its number and the result; `None` once the
    /// input has ended.
    fn next<B, E>(&mut self, batch: &mut B) -> Option<(u64, Result<BatchFill, E>)>
    where
        F: FnMut(&mut B) -> Result<BatchFill, E>,
    {
        let filled = self.action.as_mut()?(batch);
        if !matches!(filled, Ok(BatchFill::Batch | BatchFill::Exclusive)) {
            self.action = None;
        }
        let number = self.number;
        self.number += 1;
        Some((number, filled))
    }
}

/// An action that the workers run in turn, and the number of the next turn.
struct Turns<F, E> {
    state: Mutex<TurnState<F, E>>,
    passed: Condvar,
}

struct TurnState<F, E> {
    number: u64,
    action: F,
    /// The result, once it has ended.
    end: Option<Result<(), E>>,
}

impl<F, E> Turns<F, E> {
    fn new(action: F) -> Self {
        let state = Mutex::new(TurnState { number: 0, action, end: None });
        Self { state, passed: Condvar::new() }
    }

    /// Waits for the turn with this number and takes it. `turn` returns whether
    /// there is another turn. Returns whether this was the last one.
    fn take_turn(&self, number: u64, turn: impl FnOnce(&mut F) -> Result<bool, E>) -> bool {
        let waits = |state: &mut TurnState<F, E>| state.end.is_none() && state.number != number;
        let state = self.passed.wait_while(lock(&self.state), waits);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.end.is_none() {
            state.end = match turn(&mut state.action) {
                Ok(true) => None,
                Ok(false) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            };
            state.number += 1;
            self.passed.notify_all();
        }
        state.end.is_some()
    }

    fn finish(self) -> Result<(), E> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.end.unwrap_or(Ok(()))
    }
}

/// Ends all turns when its thread panics.
struct EndOnPanic<'t, F, E>(&'t Turns<F, E>);

impl<F, E> Drop for EndOnPanic<'_, F, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.state).end.get_or_insert(Ok(()));
            self.0.passed.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs both functions, in parallel if a second worker is allowed and can be
/// started. Waits for both; the error of the first one takes precedence.
pub(crate) fn both<A, B: Send, E: Send>(
    workers: NonZeroUsize,
    first: impl FnOnce() -> Result<A, E>,
    second: impl Fn() -> Result<B, E> + Sync,
) -> Result<(A, B), E> {
    if workers.get() == 1 {
        return Ok((first()?, second()?));
    }
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, &second);
        let first = first();
        let second = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Err(_) => second(),
        };
        Ok((first?, second?))
    })
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn workers(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    /// Puts the numbers below `end` into batches, and returns them as they are
    /// emptied.
    fn count(
        workers: NonZeroUsize,
        end: u64,
        work: impl Fn(u64) -> u64 + Sync,
        check: impl Fn(u64) -> Result<(), u64> + Sync,
    ) -> (Vec<u64>, Result<(), u64>) {
        let mut numbers = 0..end;
        let mut taken = Vec::new();
        let outcome = in_turn(
            workers,
            |batch: &mut u64| match numbers.next() {
                Some(number) => {
                    *batch = number;
                    // Some batches run alone.
                    Ok(if number % 10 == 9 { BatchFill::Exclusive } else { BatchFill::Batch })
                }
                None => Ok(BatchFill::Done),
            },
            |batch| *batch = work(*batch),
            |batch| {
                taken.push(*batch);
                check(*batch)
            },
        );
        (taken, outcome)
    }

    #[test]
    fn batches_are_emptied_in_order_with_any_number_of_workers() {
        // Uneven work, so that later batches are ready before earlier ones.
        let uneven =
            |number| (0..(number % 7) * 1_000).fold(number, |sum, _| std::hint::black_box(sum));
        for many in 1..=4 {
            let (taken, outcome) = count(workers(many), 1_000, uneven, |_| Ok(()));
            assert_eq!(outcome, Ok(()));
            assert!(taken.into_iter().eq(0..1_000));
        }
    }

    #[test]
    fn the_first_error_in_order_ends_the_work() {
        for many in 1..=4 {
            let fail = |number| if number < 50 { Ok(()) } else { Err(number) };
            let (taken, outcome) = count(workers(many), 1_000, |number| number, fail);
            assert_eq!((taken.len(), outcome), (51, Err(50)));
        }
    }

    #[test]
    fn batches_filled_before_a_failure_are_still_emptied() {
        for many in 1..=4 {
            let (mut filled, mut emptied) = (0, 0);
            let outcome = in_turn(
                workers(many),
                |(): &mut ()| {
                    filled += 1;
                    if filled > 9 { Err("gone") } else { Ok(BatchFill::Batch) }
                },
                |()| (),
                |()| {
                    emptied += 1;
                    Ok(())
                },
            );
            assert_eq!((emptied, outcome), (9, Err("gone")));
        }
    }

    /// Runs `many` batches on two workers. Returns how many were between
    /// filling and emptying at the same time, at most.
    fn most_at_a_time(fill: BatchFill, many: usize, work: impl Fn() + Sync) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut left = many;
        let outcome = in_turn(
            workers(2),
            |(): &mut ()| {
                if left == 0 {
                    return Ok::<_, ()>(BatchFill::Done);
                }
                left -= 1;
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                Ok(fill)
            },
            |()| work(),
            |()| {
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            },
        );
        assert_eq!(outcome, Ok(()));
        most.into_inner()
    }

    #[test]
    fn batches_run_in_parallel() {
        let both_there = Barrier::new(2);
        // A single worker would wait here for ever.
        let wait = || {
            both_there.wait();
        };
        assert_eq!(most_at_a_time(BatchFill::of(1), 100, wait), 2);
    }

    #[test]
    fn an_exclusive_batch_runs_alone() {
        assert_eq!(most_at_a_time(BatchFill::of(1 << 20), 100, thread::yield_now), 1);
    }

    #[test]
    fn nothing_is_filled_after_the_end() {
        for many in 1..=4 {
            let mut filled = 0;
            let fill = |(): &mut ()| {
                filled += 1;
                Ok::<_, ()>(if filled > 9 { BatchFill::Done } else { BatchFill::Batch })
            };
            assert_eq!(in_turn(workers(many), fill, |()| (), |()| Ok(())), Ok(()));
            assert_eq!(filled, 10);
        }
    }

    #[test]
    fn a_panic_in_any_worker_is_propagated() {
        for many in 1..=4 {
            let work = |number| {
                assert_ne!(number, 50);
                number
            };
            let run = || count(workers(many), 100, work, |_| Ok(()));
            assert!(panic::catch_unwind(AssertUnwindSafe(run)).is_err());
        }
    }

    #[test]
    fn both_are_done_and_the_first_error_counts() {
        for many in 1..=2 {
            let run = |first, second| both(workers(many), || first, || second);
            assert_eq!(run(Ok::<_, u8>(1), Ok::<_, u8>(2)), Ok((1, 2)));
            assert_eq!(run(Err(3), Err(4)), Err(3));
            assert_eq!(run(Ok(1), Err(4)), Err(4));
        }
    }
}
