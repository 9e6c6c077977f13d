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

/// A program of the environment of Python that `cargo xtask ci` installs for
/// tests of datasets. Without it the test is [`skipped`].
pub fn program_of_fleet(program: &str) -> Option<PathBuf> {
    let folder = target_directory().join("fleet");
    // Written when the installation is complete.
    if folder.join("requirements.txt").exists() {
        return Some(folder.join("venv/bin").join(program));
    }
    skipped("moto is not installed: run `cargo xtask ci --only 'fleet programs'`");
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
