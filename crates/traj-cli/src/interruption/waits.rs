//! Pauses between attempts, which end when somebody asks to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use traj_export::Pace;

/// How often to check whether somebody asked to stop.
pub(crate) const GLANCE: Duration = Duration::from_millis(100);

/// Waits until the time is up or somebody asks to stop.
#[derive(Debug)]
pub(crate) struct Waits {
    stop: Arc<AtomicBool>,
}

impl Waits {
    /// Waits until this flag is raised.
    pub(crate) const fn until(stop: Arc<AtomicBool>) -> Self {
        Self { stop }
    }

    /// Whether somebody asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Pace for Waits {
    fn wait(&mut self, pause: Duration) -> bool {
        let begin = Instant::now();
        loop {
            let rest = pause.saturating_sub(begin.elapsed());
            if self.is_stopped() {
                return false;
            }
            if rest.is_zero() {
                return true;
            }
            std::thread::sleep(rest.min(GLANCE));
        }
    }

    fn random(&mut self) -> u64 {
        // Without random numbers, pauses only vary less.
        getrandom::u64().unwrap_or_default()
    }
}
