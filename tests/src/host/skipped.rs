//! Tests that need something that the host may not have.

use std::io::Write as _;

/// Says loudly that a test did not run, and why. With `CI=true` that is a
/// failure: a test that never runs there proves nothing.
///
/// # Panics
/// With `CI=true`.
#[expect(clippy::disallowed_methods, reason = "whether it is CI is a matter of the host")]
pub fn skipped(why: &str) {
    // Straight to the stream: the test harness captures what is printed.
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).ok();
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "skipped: {why}");
}
