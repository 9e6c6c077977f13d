//! Work on several cores that comes out in the order it went in.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How many jobs may wait or be finished per worker: enough to keep all busy,
/// few enough to bound memory.
const AHEAD: usize = 2;

/// Takes jobs from `next` until there are no more, works on them in parallel
/// and hands the results to `take` in order.
///
/// `next` and `take` run on the calling thread. The first error ends
/// everything.
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
        let (jobs, waiting) = mpsc::channel::<(u64, J)>();
        let (results, finished) = mpsc::channel::<(u64, R)>();
        let waiting = Arc::new(Mutex::new(waiting));
        let work = &work;
        for _ in 0..workers.get() {
            let (results, waiting) = (results.clone(), Arc::clone(&waiting));
            scope.spawn(move || {
                while let Some((number, job)) = receive(&waiting) {
                    if results.send((number, work(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
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
            match early.remove(&taken) {
                Some(result) => {
                    take(result)?;
                    taken += 1;
                }
                None => match finished.recv() {
                    Ok((number, result)) => drop(early.insert(number, result)),
                    // A worker panicked; the scope passes the panic on.
                    Err(_) => return Ok(()),
                },
            }
        }
    })
}

fn receive<J>(waiting: &Mutex<Receiver<J>>) -> Option<J> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
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
}
