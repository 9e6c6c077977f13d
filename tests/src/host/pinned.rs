//! Third-party programs that `cargo xtask` installs for the tests.

use std::path::PathBuf;

use crate::host::skipped::skipped;

/// The program of an installed version; `cargo xtask PROGRAM` installs it.
/// Without it the test is [`skipped`].
pub fn installed(program: &str, version: &str) -> Option<PathBuf> {
    let entry = target_directory().join(program).join(version).join(program);
    if entry.exists() {
        return Some(entry);
    }
    skipped(&format!("{program} {version} is not installed: run `cargo xtask {program}`"));
    None
}

/// The directory that cargo builds into, three levels above this test binary.
fn target_directory() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    test.ancestors().nth(3).expect("a test is in target/profile/deps").to_path_buf()
}

/// A variable of the host.
#[expect(clippy::disallowed_methods, reason = "a CI run and the PATH are a matter of the host")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
