//! Counts the work of a search, so that tests can show that it is linear.
//!
//! A step is one byte that a search, a reader or a check may read. Tests count
//! steps instead of time, because steps are the same on every machine. Outside
//! tests, counting compiles to nothing.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Adds to the steps of this thread.
#[cfg(test)]
pub(in crate::redaction) fn count(steps: usize) {
    STEPS.with(|total| total.set(total.get() + steps as u64));
}

/// Adds to the steps of this thread: only in tests.
#[cfg(not(test))]
#[inline(always)]
pub(in crate::redaction) const fn count(_steps: usize) {}

/// The steps that `work` takes.
#[cfg(test)]
pub(in crate::redaction) fn of<T>(work: impl FnOnce() -> T) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    work();
    STEPS.with(std::cell::Cell::get) - before
}
