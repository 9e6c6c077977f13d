//! Finding the `traj` binary for tests that run it, and reading what it leaves.
//!
//! `TRAJ_TEST_BINARY` names one that is built already (a release, say);
//! without it the binary is built once per test process, in the profile of the
//! tests. Cargo holds no lock while tests run, so building from a test is safe.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The path of the `traj` binary.
///
/// # Panics
/// When it cannot be built.
pub fn traj_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| variable("TRAJ_TEST_BINARY").map_or_else(build, PathBuf::from))
}

/// A `traj` command that sees nothing of the host's variables but `PATH`;
/// `home` is its home and the directory it runs in.
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
/// When that is not text.
pub fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it prints UTF-8")
}

/// A document that a command printed, without what differs from run to run:
/// its version and the values at `places`.
///
/// # Panics
/// When there is no such place.
pub fn masked(mut document: Value, places: &[&str]) -> Value {
    for place in [&["/version"], places].concat() {
        *document.pointer_mut(place).expect("the place exists") = "[masked]".into();
    }
    document
}

/// The names of what lies in a directory, in order.
///
/// # Panics
/// When the directory cannot be read.
#[expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let name =
        |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    names
}

fn build() -> PathBuf {
    let cargo = variable("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--package", "traj-cli", "--bin", "traj"]);
    command.args(["--quiet", "--message-format", "json-render-diagnostics"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    // Cargo describes the crate under test to it, which is not the one built here.
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME");
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.stderr(Stdio::inherit()).output().expect("cargo starts");
    assert!(output.status.success(), "building traj failed: {}", output.status);
    let messages = String::from_utf8(output.stdout).expect("cargo speaks UTF-8");
    let executable = messages.lines().find_map(executable_of);
    executable.expect("cargo names the executable it built")
}

/// The executable that a message from cargo reports, if that is `traj`.
fn executable_of(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_traj = message.get("target")?.get("name")? == "traj";
    message.get("executable")?.as_str().filter(|_| is_traj).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "where the binary is, is a matter of the host")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
