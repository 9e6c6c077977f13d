//! A home with sessions of agents, for the tests of discovery.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::export_home::result;
use traj_tests::rows;
use traj_tests::traj_binary::traj_command;

pub(super) const UUID: &str = "0199a213-81c0-7800-8aa1-bbab2a035a53";

/// A home and variables. `~` in a value is the home.
pub(super) struct Home {
    pub(super) folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Home {
    pub(super) fn new(variables: &[(&'static str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("work/app")).unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| (*name, value.replace('~', &home)));
        Self { variables: variables.collect(), folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn put(&self, path: &str, content: &str) {
        self.put_bytes(path, content.as_bytes());
    }

    pub(super) fn put_bytes(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Puts a session with this title there. What its rows look like does not
    /// matter to discovery.
    pub(super) fn put_session(&self, path: &str, title: &str) {
        let prompt = format!(r#"{{"role":"user","content":"{title}"}}"#);
        let header = rows::header(UUID).text("cwd", self.path("work/app").to_str().unwrap());
        self.put(path, &(header.line() + &rows::message("a", None, 1, prompt) + "\n"));
    }

    pub(super) fn command(&self) -> Command {
        let mut command = traj_command(self.folder.path());
        command.current_dir(self.path("work/app"));
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    /// `AGENT: TITLE` of every session that is listed.
    pub(super) fn listed(&self, arguments: &[&str]) -> Vec<String> {
        let output = self.run(&[&["sessions", "--json"], arguments].concat());
        let report = result(&output)["result"].clone();
        assert_eq!(report["problems"], serde_json::json!([]));
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let sessions = report["sessions"].as_array().unwrap().iter();
        let mut listed: Vec<String> = sessions
            .map(|session| format!("{}: {}", text(&session["agent"]), text(&session["title"])))
            .collect();
        listed.sort();
        listed
    }
}
