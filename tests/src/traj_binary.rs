//! Finds the `traj` binary for tests that run it, and reads its results.
//!
//! `TRAJ_TEST_BINARIES` names the directory of binaries that already exist (such as
//! those of a release). Without it, each test process asks cargo for them, in the
//! profile of the tests. Cargo holds no lock while tests run, so that is safe.

mod terminal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

pub use terminal::{answered_on_terminal, on_terminal};

/// The path of the `traj` binary.
///
/// # Panics
/// If it cannot be built.
pub fn traj_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("traj"))
}

/// The path of one of the hosts in `examples/hosts`.
///
/// # Panics
/// If it cannot be built.
pub fn example_host(name: &str) -> PathBuf {
    built(name)
}

/// A `traj` command that gets no variable of the host except `PATH`. `home` is its
/// home and its working directory.
pub fn traj_command(home: &Path) -> Command {
    let mut command = Command::new(traj_binary());
    command.env_clear().env("HOME", home).current_dir(home).stdin(Stdio::null());
    if let Some(path) = variable("PATH") {
        command.env("PATH", path);
    }
    command
}

/// What a command printed.
///
/// # Panics
/// If that is not UTF-8.
pub fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it prints UTF-8")
}

/// A document that a command printed, with the parts masked that differ between
/// runs: its version and the values at `places`.
///
/// # Panics
/// If a place does not exist.
pub fn masked(mut document: Value, places: &[&str]) -> Value {
    for place in [&["/version"], places].concat() {
        *document.pointer_mut(place).expect("the place exists") = "[masked]".into();
    }
    document
}

/// The names in a directory, sorted.
///
/// # Panics
/// If the directory cannot be read.
#[expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let name =
        |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    names
}

/// The binary of this name, built now unless it exists.
fn built(name: &str) -> PathBuf {
    match variable("TRAJ_TEST_BINARIES") {
        Some(directory) => Path::new(&directory).join(name),
        None => build(name),
    }
}

/// Builds what `cargo xtask ci` builds. A package alone has other features, so that its
/// dependencies would be built again.
fn build(name: &str) -> PathBuf {
    let cargo = variable("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--workspace", "--all-features", "--bins", "--tests"]);
    command.args(["--quiet", "--message-format", "json-render-diagnostics"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    // Cargo set these for the crate under test, not for those built here. Build scripts that
    // look at them would run again, and everything that depends on their crates with them.
    for name in variables_of_the_crate_under_test() {
        command.env_remove(name);
    }
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.stderr(Stdio::inherit()).output().expect("cargo starts");
    assert!(output.status.success(), "building {name} failed: {}", output.status);
    let messages = String::from_utf8(output.stdout).expect("cargo speaks UTF-8");
    let executable = messages.lines().find_map(|message| executable_of(name, message));
    executable.expect("cargo names the executable it built")
}

/// The executable of this name that a message from cargo reports.
fn executable_of(name: &str, message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    // The unit tests of a binary are an executable of the same name.
    let is_wanted = message.get("target")?.get("name")? == name
        && message.get("profile")?.get("test")? == false;
    message.get("executable")?.as_str().filter(|_| is_wanted).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "they are removed for cargo, not read")]
fn variables_of_the_crate_under_test() -> Vec<OsString> {
    let describes_it = |name: &OsString| {
        name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        })
    };
    std::env::vars_os().map(|(name, _)| name).filter(describes_it).collect()
}

#[expect(clippy::disallowed_methods, reason = "where the binary is, is a matter of the host")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
