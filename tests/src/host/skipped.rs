//! Tests that need programs or permissions that the host may not have.

use std::io::Write as _;

/// Reports that a test did not run, and why. With `CI=true` that is a failure,
/// because a test that never runs there proves nothing.
///
/// # Panics
/// With `CI=true`.
#[expect(clippy::disallowed_methods, reason = "whether it is CI is a matter of the host")]
pub fn skipped(why: &str) {
    // Writes to the stream directly, because the test harness captures `eprintln!`.
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).ok();
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "skipped: {why}");
}
