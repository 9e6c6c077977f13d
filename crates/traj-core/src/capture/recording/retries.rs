//! How long to pause after the storage failed.

use std::time::Duration;

/// The pause after the first failure.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Pauses between the final tries when a recorder ends. They add up to less
/// than a second: short failures lose nothing, and longer ones cost no more.
const FINAL_PAUSES_MS: [u64; 4] = [50, 100, 200, 400];

/// Pauses that double with each consecutive failure.
#[derive(Debug, Default)]
pub(super) struct RetryBackoff {
    pause: Option<Duration>,
}

impl RetryBackoff {
    /// The current pause, if the last try failed.
    pub(super) const fn pause(&self) -> Option<Duration> {
        self.pause
    }

    /// Records a failed try; returns how long to pause.
    pub(super) fn failed(&mut self) -> Duration {
        let pause = self.pause.map_or(FIRST_PAUSE, |pause| (pause * 2).min(LONGEST_PAUSE));
        *self.pause.insert(pause)
    }

    /// Call after a success, or when nothing is left to try.
    pub(super) const fn reset(&mut self) {
        self.pause = None;
    }
}

/// The final tries of a recorder that ends while its storage fails.
#[derive(Debug)]
pub struct FinalRetries {
    /// The remaining pauses, in milliseconds.
    pauses: &'static [u64],
}

impl FinalRetries {
    /// Tries for about a second.
    #[must_use]
    pub const fn standard() -> Self {
        Self { pauses: &FINAL_PAUSES_MS }
    }

    /// No further try.
    #[must_use]
    pub const fn none() -> Self {
        Self { pauses: &[] }
    }

    /// How long to pause before the next try, given the time `left` to end.
    /// `None` if no try is left, or no time for one.
    pub fn next_pause(&mut self, left: Duration) -> Option<Duration> {
        let (first, rest) = self.pauses.split_first()?;
        self.pauses = rest;
        Some(Duration::from_millis(*first)).filter(|pause| *pause < left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_start_again() {
        let mut backoff = RetryBackoff::default();
        let pauses: Vec<u128> = (0..9).map(|_| backoff.failed().as_millis()).collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(backoff.pause(), Some(LONGEST_PAUSE));
        backoff.reset();
        assert_eq!((backoff.pause(), backoff.failed()), (None, FIRST_PAUSE));
    }

    #[test]
    fn final_tries_stay_within_the_time_that_is_left() {
        let pauses = |mut left: Duration| {
            let mut retries = FinalRetries::standard();
            let mut pauses = Vec::new();
            while let Some(pause) = retries.next_pause(left) {
                left -= pause;
                pauses.push(pause.as_millis());
            }
            pauses
        };
        assert_eq!(pauses(Duration::from_secs(60)), [50, 100, 200, 400]);
        assert_eq!(pauses(Duration::from_millis(340)), [50, 100]);
        assert!(pauses(FIRST_PAUSE).is_empty());
        assert_eq!(FinalRetries::none().next_pause(Duration::MAX), None);
    }
}
