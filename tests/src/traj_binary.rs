//! Finds the `traj` binary for tests that run it, and reads its results.
//!
//! `TRAJ_TEST_BINARY` names a binary that already exists (such as a release).
//! Without it, the binary is built once per test process, in the profile of the
//! tests. Cargo holds no lock while tests run, so building from a test is safe.

mod terminal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

pub use terminal::on_terminal;

/// The path of the `traj` binary.
///
/// # Panics
/// If it cannot be built.
pub fn traj_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let build = || build("traj-cli", "traj");
    BINARY.get_or_init(|| variable("TRAJ_TEST_BINARY").map_or_else(build, PathBuf::from))
}

/// The path of one of the hosts in `examples/hosts`.
///
/// # Panics
/// If it cannot be built.
pub fn example_host(name: &str) -> PathBuf {
    build("traj-examples", name)
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

fn build(package: &str, name: &str) -> PathBuf {
    let cargo = variable("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--package", package, "--bin", name]);
    command.args(["--quiet", "--message-format", "json-render-diagnostics"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    // Cargo set these variables for the crate under test, not for the one built here.
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME");
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
    let is_wanted = message.get("target")?.get("name")? == name;
    message.get("executable")?.as_str().filter(|_| is_wanted).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "where the binary is, is a matter of the host")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
