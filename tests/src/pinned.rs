//! Programs of others that `cargo xtask` installs for the tests.

use std::path::PathBuf;

/// What a test starts of an installed version: `cargo xtask PROGRAM` makes it. Without it the test
/// says so loudly and is skipped; where `CI` is `true` it fails.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub fn installed(program: &str, version: &str) -> Option<PathBuf> {
    let entry = target_folder().join(program).join(version).join(program);
    if entry.exists() {
        return Some(entry);
    }
    let told = format!("{program} {version} is not installed: run `cargo xtask {program}`");
    assert!(variable("CI").as_deref() != Some("true"), "{told}");
    eprintln!("SKIPPED: {told} for this test");
    None
}

/// The folder that cargo builds into: this test lies two levels below it.
fn target_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it lies");
    test.ancestors().nth(3).expect("a test lies in target/profile/deps").to_path_buf()
}

/// A variable of the host.
#[expect(clippy::disallowed_methods, reason = "a CI run and the PATH are a matter of the host")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
