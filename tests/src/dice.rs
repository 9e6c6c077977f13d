//! Random choices that can be repeated.

use std::hash::{BuildHasher as _, RandomState};

/// A small random number generator. A fixed seed gives the same numbers each
/// time; a test with a random seed prints it when it fails.
#[derive(Debug)]
pub struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    /// The numbers of this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// A random seed each time, unless `TRAJ_TEST_SEED` sets it.
    ///
    /// # Panics
    /// If the variable is not a number.
    #[expect(clippy::disallowed_methods, reason = "a failure is played again from outside")]
    pub fn random() -> Self {
        let wanted = std::env::var("TRAJ_TEST_SEED").ok();
        let seed = wanted.map(|seed| seed.parse().expect("TRAJ_TEST_SEED is a number"));
        Self::new(seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
    }

    /// A number below `bound`.
    pub const fn below(&mut self, bound: u64) -> u64 {
        let (factor, step) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
        self.state = self.state.wrapping_mul(factor).wrapping_add(step);
        (self.state >> 33) % bound
    }
}

impl Drop for Dice {
    #[expect(clippy::print_stderr, reason = "a failure says how to play it again")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("play it again with TRAJ_TEST_SEED={}", self.seed);
        }
    }
}
