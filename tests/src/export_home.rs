//! A home with a workspace and a session, for tests that run `traj export`.

use std::path::Path;
use std::process::Output;

use cap_std::fs::Dir;
use serde_json::Value;
use tempfile::TempDir;

use crate::rows::{HEADER, event, message};
use crate::traj_binary::traj_command;

/// The directory of the exports of the workspace `ws`.
pub const EXPORTS: &str = "ws/.openclaw/trajectory-exports";

/// A home with a workspace and a session with its sidecar.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportHome {
    temporary: TempDir,
    /// The home.
    pub folder: Dir,
}

impl Default for ExportHome {
    fn default() -> Self {
        Self::new()
    }
}

impl ExportHome {
    /// A session `s1.jsonl` with one message and a sidecar with one event.
    ///
    /// # Panics
    /// When the temporary directory cannot be written.
    #[expect(clippy::disallowed_methods, reason = "a test opens its own directory")]
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority());
        let home = Self { folder: folder.expect("it opens"), temporary };
        home.folder.create_dir("ws").expect("it is empty");
        let text = format!(
            r#"{{"role":"user","content":"see {}/ws/notes and \u001b[31mred"}}"#,
            home.path().display()
        );
        home.put_session(&[message("a", None, 1, &text)]);
        let event =
            event("session.started", "2026-06-01T10:00:00Z", 1).with("data", r#"{"n":1}"#).json();
        home.folder.write("s1.trajectory.jsonl", event).expect("it is writable");
        home
    }

    /// Replaces the session's rows.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn put_session(&self, rows: &[String]) {
        let rows = [&[HEADER.to_owned()], rows].concat();
        self.folder.write("s1.jsonl", rows.join("\n")).expect("the home is writable");
    }

    /// The path of the home.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Runs `traj` in it.
    ///
    /// # Panics
    /// When it does not start.
    pub fn traj(&self, arguments: &[&str]) -> Output {
        traj_command(self.path()).args(arguments).output().expect("it starts")
    }

    /// Runs a command with some variables.
    ///
    /// # Panics
    /// When `traj` does not start.
    pub fn traj_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let mut command = traj_command(self.path());
        command.envs(variables.iter().copied()).args(arguments);
        command.output().expect("it starts")
    }

    /// Exports the session at a fixed time.
    ///
    /// # Panics
    /// When `traj` does not start.
    pub fn export(&self, more: &[&str]) -> Output {
        let now = ["--now", "2026-06-02T12:00:00Z", "--json"];
        let base = ["export", "--session", "s1.jsonl", "--workspace", "ws"];
        self.traj(&[&base[..], &now, more].concat())
    }

    /// The names in the directory of exports, sorted; empty if it does not exist.
    ///
    /// # Panics
    /// When it cannot be listed.
    pub fn exports(&self) -> Vec<String> {
        let Ok(folder) = self.folder.open_dir(EXPORTS) else { return Vec::new() };
        let entries = folder.entries().expect("it can be listed");
        let names = entries.map(|entry| entry.expect("it can be listed").file_name());
        let mut names: Vec<String> =
            names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The name of a leftover of an export that crashed on this host.
pub fn left_behind(number: u32) -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let host: String =
        host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').take(40).collect();
    format!(".traj-bundle-{host}-4194305-{number}.tmp")
}

/// The one document that a command printed.
///
/// # Panics
/// If it printed something else, or its `ok` contradicts the exit code.
pub fn result(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["schema"], "traj-cli/2");
    assert_eq!(document["ok"], output.status.success());
    document
}
