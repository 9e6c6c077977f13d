//! Work on several cores that comes out in the order it went in.
//!
//! What one core has written is slow to write again for another: it has to be
//! taken from the other's cache, line by line. So no work is handed on here.
//! Each thread has a bench of its own, and does all that is to be done with
//! what lies on it; only what must be done in order is done in turn.

use std::num::NonZeroUsize;
use std::panic;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What filling a bench came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// There was nothing left.
    Nothing,
    /// Something to work on.
    Something,
    /// So much that it is worked on alone: memory must not grow with the number
    /// of workers.
    Much,
}

impl Fill {
    /// Of a bench with so many bytes on it.
    pub(crate) const fn of(bytes: usize) -> Self {
        const MUCH: usize = 1024 * 1024;
        if bytes < MUCH { Self::Something } else { Self::Much }
    }
}

/// Has benches filled, worked on and emptied until `fill` says that there is
/// nothing left.
///
/// `fill` and `empty` see the benches in the same order and never two at a
/// time; `work` goes on at all of them at once, but for those with much on
/// them. The calling thread is one of the workers. The first error in that
/// order ends everything.
pub(crate) fn in_turn<B: Default, E: Send>(
    workers: NonZeroUsize,
    mut fill: impl FnMut(&mut B) -> Result<Fill, E> + Send,
    work: impl Fn(&mut B) + Sync,
    mut empty: impl FnMut(&mut B) -> Result<(), E> + Send,
) -> Result<(), E> {
    if workers.get() == 1 {
        let mut bench = B::default();
        while fill(&mut bench)? != Fill::Nothing {
            work(&mut bench);
            empty(&mut bench)?;
        }
        return Ok(());
    }
    let filling = Mutex::new(Filling { number: 0, action: Some(fill) });
    let emptying = Turns::new(empty);
    let worker = || {
        // Nobody is to wait for the turn of a thread that is gone.
        let _guard = Leaving(&emptying);
        let mut bench = B::default();
        loop {
            let mut filling = lock(&filling);
            let Some((number, filled)) = filling.next(&mut bench) else { return };
            // No other bench is filled while this is held.
            let alone = matches!(filled, Ok(Fill::Much)).then_some(filling);
            if let Ok(Fill::Something) = filled {
                work(&mut bench);
            }
            let is_over = emptying.take_turn(number, |empty| {
                let filled = filled?;
                if filled == Fill::Much {
                    // All benches before this one are empty now.
                    work(&mut bench);
                }
                let is_something = filled != Fill::Nothing;
                if is_something { empty(&mut bench).map(|()| true) } else { Ok(false) }
            });
            drop(alone);
            if is_over {
                return;
            }
        }
    };
    thread::scope(|scope| {
        // Where there is no thread to be had, those that are there do it.
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

/// Fills benches, one after the other, until one stays empty or fails.
struct Filling<F> {
    number: u64,
    /// How a bench is filled, while there may be something left.
    action: Option<F>,
}

impl<F> Filling<F> {
    /// The number of the bench that was to be filled, and what came of it;
    /// nothing when there was no need to look.
    fn next<B, E>(&mut self, bench: &mut B) -> Option<(u64, Result<Fill, E>)>
    where
        F: FnMut(&mut B) -> Result<Fill, E>,
    {
        let filled = self.action.as_mut()?(bench);
        if !matches!(filled, Ok(Fill::Something | Fill::Much)) {
            self.action = None;
        }
        let number = self.number;
        self.number += 1;
        Some((number, filled))
    }
}

/// What is done in turn, and whose turn it is.
struct Turns<F, E> {
    state: Mutex<Turn<F, E>>,
    passed: Condvar,
}

struct Turn<F, E> {
    number: u64,
    action: F,
    /// How it ended, if it has.
    end: Option<Result<(), E>>,
}

impl<F, E> Turns<F, E> {
    fn new(action: F) -> Self {
        let state = Mutex::new(Turn { number: 0, action, end: None });
        Self { state, passed: Condvar::new() }
    }

    /// Waits for the turn with this number and takes it; `turn` says whether
    /// there is another. Says whether it was the last one.
    fn take_turn(&self, number: u64, turn: impl FnOnce(&mut F) -> Result<bool, E>) -> bool {
        let waits = |state: &mut Turn<F, E>| state.end.is_none() && state.number != number;
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
struct Leaving<'t, F, E>(&'t Turns<F, E>);

impl<F, E> Drop for Leaving<'_, F, E> {
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

/// Does two things, at the same time where there may be several threads and
/// another one is to be had. The first one's error counts first, and is told
/// when both have come to their end.
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

    /// Puts the numbers below `end` on benches; says which were taken from them.
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
            |bench: &mut u64| match numbers.next() {
                Some(number) => {
                    *bench = number;
                    // Now and then one of them is worked on alone.
                    Ok(if number % 10 == 9 { Fill::Much } else { Fill::Something })
                }
                None => Ok(Fill::Nothing),
            },
            |bench| *bench = work(*bench),
            |bench| {
                taken.push(*bench);
                check(*bench)
            },
        );
        (taken, outcome)
    }

    #[test]
    fn benches_are_emptied_in_order_with_any_number_of_workers() {
        // Uneven work, so that later benches are ready before earlier ones.
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
    fn what_was_filled_before_filling_failed_is_still_emptied() {
        for many in 1..=4 {
            let (mut filled, mut emptied) = (0, 0);
            let outcome = in_turn(
                workers(many),
                |(): &mut ()| {
                    filled += 1;
                    if filled > 9 { Err("gone") } else { Ok(Fill::Something) }
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

    /// Has `many` benches worked on by two; says how many there were at a time
    /// at the most, from being filled to being empty.
    fn most_at_a_time(fill: Fill, many: usize, work: impl Fn() + Sync) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut left = many;
        let outcome = in_turn(
            workers(2),
            |(): &mut ()| {
                if left == 0 {
                    return Ok::<_, ()>(Fill::Nothing);
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
    fn benches_are_worked_on_at_the_same_time() {
        let both_there = Barrier::new(2);
        // Whoever is alone here waits for ever.
        let wait = || {
            both_there.wait();
        };
        assert_eq!(most_at_a_time(Fill::of(1), 100, wait), 2);
    }

    #[test]
    fn what_is_much_is_worked_on_alone() {
        assert_eq!(most_at_a_time(Fill::of(1 << 20), 100, thread::yield_now), 1);
    }

    #[test]
    fn nothing_is_filled_behind_the_end() {
        for many in 1..=4 {
            let mut filled = 0;
            let fill = |(): &mut ()| {
                filled += 1;
                Ok::<_, ()>(if filled > 9 { Fill::Nothing } else { Fill::Something })
            };
            assert_eq!(in_turn(workers(many), fill, |()| (), |()| Ok(())), Ok(()));
            assert_eq!(filled, 10);
        }
    }

    #[test]
    fn a_panic_of_any_worker_is_passed_on() {
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
