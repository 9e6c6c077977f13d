//! When a failed attempt is repeated: after a pause that doubles each time,
//! varies at random, and is never shorter than the peer asks for.

use std::time::Duration;

/// The first pause.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Waits between attempts.
pub trait Pace {
    /// Waits. Returns false if somebody asked to stop.
    fn wait(&mut self, pause: Duration) -> bool;

    /// A random number.
    fn random(&mut self) -> u64;
}

/// The number of attempts, and the length of the pauses between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two limits")]
pub struct RetryLimits {
    /// The most attempts.
    pub attempts: u32,
    /// The longest pause.
    pub longest_pause: Duration,
}

/// Why there is no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GaveUp {
    /// Every attempt failed.
    Failed {
        /// How many there were.
        attempts: u32,
    },
    /// The peer asks for a longer pause than is acceptable.
    TooLong {
        /// The pause.
        asked: Duration,
    },
    /// Somebody asked to stop.
    Stopped,
}

/// The attempts at one thing.
#[derive(Clone, Copy, Debug)]
pub struct Attempts {
    limits: RetryLimits,
    failed: u32,
}

impl Attempts {
    /// No attempt was made yet.
    #[must_use]
    pub const fn new(limits: RetryLimits) -> Self {
        Self { limits, failed: 0 }
    }

    /// Records a failed attempt, and waits before the next one. The peer may
    /// have asked for a pause.
    ///
    /// # Errors
    /// If there is no next attempt.
    pub fn wait_after_failure(
        &mut self,
        asked: Option<Duration>,
        pace: &mut dyn Pace,
    ) -> Result<(), GaveUp> {
        self.failed += 1;
        if let Some(asked) = asked.filter(|asked| *asked > self.limits.longest_pause) {
            return Err(GaveUp::TooLong { asked });
        }
        if self.failed >= self.limits.attempts {
            return Err(GaveUp::Failed { attempts: self.failed });
        }
        let pause = pause_after(self.failed, self.limits.longest_pause, pace.random());
        if pace.wait(pause.max(asked.unwrap_or_default())) { Ok(()) } else { Err(GaveUp::Stopped) }
    }
}

/// The pause after this many failed attempts: doubled each time, and between
/// half of that and all of it.
#[must_use]
pub fn pause_after(failed: u32, longest: Duration, random: u64) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << failed.saturating_sub(1).min(20));
    let half = whole.min(longest) / 2;
    let share = u32::try_from(random % 1_000).unwrap_or_default();
    half + half * share / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RetryLimits =
        RetryLimits { attempts: 4, longest_pause: Duration::from_secs(300) };

    #[derive(Default)]
    struct Watched {
        pauses: Vec<Duration>,
        stops: bool,
    }

    impl Pace for Watched {
        fn wait(&mut self, pause: Duration) -> bool {
            self.pauses.push(pause);
            !self.stops
        }

        fn random(&mut self) -> u64 {
            999
        }
    }

    #[test]
    fn pauses_double_and_end() {
        let (mut attempts, mut pace) = (Attempts::new(LIMITS), Watched::default());
        for _ in 0..3 {
            attempts.wait_after_failure(None, &mut pace).unwrap();
        }
        let seconds: Vec<u64> = pace.pauses.iter().map(|pause| pause.as_secs() + 1).collect();
        assert_eq!(seconds, [1, 2, 4]);
        let last = attempts.wait_after_failure(None, &mut pace);
        assert_eq!(last, Err(GaveUp::Failed { attempts: 4 }));
    }

    #[test]
    fn what_the_other_side_asks_for_is_respected() {
        let (mut attempts, mut pace) = (Attempts::new(LIMITS), Watched::default());
        attempts.wait_after_failure(Some(Duration::from_secs(60)), &mut pace).unwrap();
        assert_eq!(pace.pauses, [Duration::from_secs(60)]);
        let asked = Duration::from_secs(301);
        let refused = attempts.wait_after_failure(Some(asked), &mut pace);
        assert_eq!(refused, Err(GaveUp::TooLong { asked }));
    }

    #[test]
    fn a_stop_ends_the_attempts() {
        let mut pace = Watched { stops: true, ..Watched::default() };
        let stopped = Attempts::new(LIMITS).wait_after_failure(None, &mut pace);
        assert_eq!(stopped, Err(GaveUp::Stopped));
    }

    #[test]
    fn no_pause_is_longer_than_the_longest() {
        let longest = Duration::from_secs(300);
        for failed in [1, 9, 10, 30, u32::MAX] {
            for random in [0, 1, 999, u64::MAX] {
                let pause = pause_after(failed, longest, random);
                assert!(pause >= FIRST_PAUSE / 2 && pause <= longest, "{failed} {pause:?}");
            }
        }
    }
}
