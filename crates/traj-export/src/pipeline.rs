//! Work on several cores that comes out in the order it went in.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// How many jobs may wait or be finished per worker: enough to keep all busy,
/// few enough to bound memory.
const AHEAD: usize = 2;

/// Takes jobs from `next` until there are no more, works on them in parallel
/// and hands the results to `take` in order.
///
/// `next` and `take` run on the calling thread, which is one of the workers:
/// a thread that only hands on would take a core from them whenever it wakes.
/// The first error ends everything.
pub(crate) fn ordered<J: Send, R: Send, E>(
    workers: NonZeroUsize,
    mut next: impl FnMut() -> Result<Option<J>, E>,
    work: impl Fn(J) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if workers.get() == 1 {
        while let Some(job) = next()? {
            take(work(job))?;
        }
        return Ok(());
    }
    thread::scope(|scope| {
        let (jobs, waiting) = crossbeam_channel::unbounded::<(u64, J)>();
        let (results, finished) = crossbeam_channel::unbounded::<(u64, thread::Result<R>)>();
        let work = &work;
        for _ in 1..workers.get() {
            let (results, waiting) = (results.clone(), waiting.clone());
            let worker = move || {
                for (number, job) in waiting {
                    // A panic is handed on: nobody is to wait for its result.
                    let result = panic::catch_unwind(AssertUnwindSafe(|| work(job)));
                    if results.send((number, result)).is_err() {
                        break;
                    }
                }
            };
            // Where there is no thread to be had, those that are there do it.
            thread::Builder::new().spawn_scoped(scope, worker).ok();
        }
        let mut early = BTreeMap::new();
        let (mut started, mut taken) = (0_u64, 0_u64);
        let mut is_drained = false;
        loop {
            while !is_drained && started - taken < (workers.get() * AHEAD) as u64 {
                match next()? {
                    Some(job) => {
                        // Workers only leave when this end is dropped.
                        jobs.send((started, job)).ok();
                        started += 1;
                    }
                    None => is_drained = true,
                }
            }
            if taken == started {
                return Ok(());
            }
            if let Some(result) = early.remove(&taken) {
                take(result)?;
                taken += 1;
                continue;
            }
            let own = || waiting.try_recv().ok().map(|(number, job)| (number, Ok(work(job))));
            let done = finished.try_recv().ok().or_else(own).or_else(|| finished.recv().ok());
            if let Some((number, result)) = done {
                early.insert(number, result.unwrap_or_else(|panic| panic::resume_unwind(panic)));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn results_come_in_order_with_any_number_of_workers() {
        for workers in 1..=4 {
            let mut jobs = 0..1_000_u64;
            let mut results = Vec::new();
            let outcome = ordered(
                NonZeroUsize::new(workers).unwrap(),
                || Ok::<_, Infallible>(jobs.next()),
                // Uneven work, so that later jobs overtake earlier ones.
                |job| (0..(job % 7) * 1_000).fold(job, |sum, _| std::hint::black_box(sum)),
                |result| {
                    results.push(result);
                    Ok(())
                },
            );
            assert_eq!(outcome, Ok(()));
            assert!(results.into_iter().eq(0..1_000));
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let two = NonZeroUsize::new(2).unwrap();
        let outcome = ordered(two, || Ok(Some(1)), |job: u8| job, |_| Err("full"));
        assert_eq!(outcome, Err("full"));
    }

    #[test]
    fn a_panic_of_any_worker_is_passed_on() {
        for workers in 1..=4 {
            let workers = NonZeroUsize::new(workers).unwrap();
            let mut jobs = 0..100_u64;
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                ordered(
                    workers,
                    || Ok::<_, Infallible>(jobs.next()),
                    |job| assert_ne!(job, 50),
                    |()| Ok(()),
                )
            }));
            assert!(outcome.is_err());
        }
    }
}
