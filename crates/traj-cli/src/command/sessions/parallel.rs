//! Runs work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compose::Host;

/// Runs `work` on every item, on several threads. The results are in the order
/// of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let threads = Host::workers().get().min(items.len());
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take_turns)).collect();
        let mut done = take_turns();
        // A thread that panicked makes the scope panic.
        done.extend(others.into_iter().filter_map(|other| other.join().ok()).flatten());
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..500).collect();
        let doubled = in_parallel(&items, |item| item * 2);
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(in_parallel(&[] as &[u32], |item| *item).is_empty());
    }
}
