//! `traj prune` in a directory of sidecars that several agents share: what is
//! removed, what is kept, and a directory that changes during the run.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::rows;
use traj_tests::traj_binary::{names_in, traj_command};

/// A home with a directory of sessions and one of sidecars.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("sessions")).unwrap();
        fs::create_dir(home.path().join("sidecars")).unwrap();
        Self(home)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn put(&self, path: &str, content: &str) {
        fs::write(self.at(path), content).unwrap();
    }

    /// The first event of a run, which states the path of its session.
    fn started(&self, session: &str, file: &str) -> String {
        let file = self.at(file);
        event(session, &format!(r#"{{"sessionFile":"{}"}}"#, file.display()))
    }

    fn prune(&self, variable: &str, arguments: &[&str]) -> Output {
        let mut command = traj_command(self.0.path());
        command.env(variable, self.at("sidecars"));
        command.args(["prune", "--sessions", "sessions", "--older-than", "0s"]);
        command.args(arguments).output().unwrap()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        names_in(&self.at(folder))
    }
}

fn event(session: &str, data: &str) -> String {
    let event = rows::event("session.started", &rows::at(0), 1).of(session);
    event.with("sourceSeq", 1).with("data", data).line()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn sidecars_without_a_pointer_are_judged_by_their_first_event() {
    for variable in ["TRAJ_TRAJECTORY_DIR", "OPENCLAW_TRAJECTORY_DIR"] {
        let home = Home::new();
        home.put("sessions/sessions.json", r#"{"k":{"sessionId":"listed"}}"#);
        home.put("sessions/live.jsonl", "");
        home.put("sessions/archived.jsonl.deleted.2026", "");
        home.put("victim", "untouched\n");
        for session in ["gone", "live", "listed", "archived", "named"] {
            let first = home.started(session, &format!("sessions/{session}.jsonl"));
            home.put(&format!("sidecars/{session}.jsonl"), &first);
        }
        fs::rename(home.at("sidecars/named.jsonl"), home.at("sidecars/otherwise.jsonl")).unwrap();
        fs::create_dir(home.at("sidecars/gone.blobs")).unwrap();
        home.put(&format!("sidecars/gone.blobs/{}", "a".repeat(64)), "text");
        // A sidecar of another agent, one that states no session, and a file that is not a sidecar.
        home.put("sidecars/foreign.jsonl", &home.started("foreign", "elsewhere/foreign.jsonl"));
        home.put("sidecars/unsaid.jsonl", &event("unsaid", "{}"));
        home.put("sidecars/notes.jsonl", "{\"type\":\"session\",\"id\":\"notes\"}\n");
        home.put("sidecars/empty.jsonl", "");
        // Links and pipes with the right names.
        symlink("../victim", home.at("sidecars/link.jsonl")).unwrap();
        let hard = home.started("hard", "sessions/hard.jsonl");
        home.put("hard", &hard);
        fs::hard_link(home.at("hard"), home.at("sidecars/hard.jsonl")).unwrap();
        let pipe = Command::new("mkfifo").arg(home.at("sidecars/pipe.jsonl")).status().unwrap();
        assert!(pipe.success());
        // A sidecar that a pointer leads to is reported once; a hostile pointer has no effect.
        let pointer =
            |session: &str, target: &str| rows::pointer(session, home.at(target).display()).json();
        home.put("sidecars/moved.jsonl", &home.started("moved", "sessions/moved.jsonl"));
        home.put("sessions/moved.trajectory-path.json", &pointer("moved", "sidecars/moved.jsonl"));
        home.put("sessions/evil.trajectory-path.json", &pointer("evil", "sidecars/live.jsonl"));

        let before = home.names("sidecars");
        let dry = home.prune(variable, &["--dry-run", "--json"]);
        assert_eq!(home.names("sidecars"), before);
        let mut dry = document(&dry);
        dry["version"] = "[masked]".into();
        // The sizes depend on the length of the directory's path.
        dry["result"]["removedBytes"] = "[bytes]".into();
        for list in ["removed", "kept"] {
            let items = dry["result"][list].as_array_mut().unwrap();
            // The order is by age, and the files may have the same time.
            items.sort_by_key(|item| item["place"].to_string());
            for item in items {
                item["bytes"] = "[bytes]".into();
            }
        }
        insta::with_settings!({filters => vec![(r#""/[^"]*/sidecars"#, "\"[sidecars]")]}, {
            insta::assert_json_snapshot!("prune_strays", dry);
        });
        let output = home.prune(variable, &[]);
        assert!(output.status.success(), "{output:?}");
        let mut left = before;
        left.retain(|name| !["gone.jsonl", "gone.blobs", "moved.jsonl"].contains(&name.as_str()));
        assert_eq!(home.names("sidecars"), left);
        assert_eq!(
            home.names("sessions"),
            ["archived.jsonl.deleted.2026", "live.jsonl", "sessions.json"]
        );
        assert_eq!(fs::read_to_string(home.at("victim")).unwrap(), "untouched\n");
        assert_eq!(fs::read_to_string(home.at("hard")).unwrap(), hard);
    }
}

#[test]
fn a_directory_of_sidecars_that_is_a_link_or_missing_loses_nothing() {
    let home = Home::new();
    home.put("sidecars/gone.jsonl", &home.started("gone", "sessions/gone.jsonl"));
    fs::rename(home.at("sidecars"), home.at("real")).unwrap();
    assert!(home.prune("TRAJ_TRAJECTORY_DIR", &[]).status.success());
    symlink("real", home.at("sidecars")).unwrap();
    assert_eq!(home.prune("TRAJ_TRAJECTORY_DIR", &[]).status.code(), Some(1));
    assert_eq!(home.names("real"), ["gone.jsonl"]);
}

#[test]
fn files_that_cannot_be_removed_are_reported_with_their_cause() {
    let home = Home::new();
    home.put("sessions/gone.trajectory.jsonl", &home.started("gone", "sessions/gone.jsonl"));
    // A directory of blobs whose blob is itself a directory cannot be emptied, not even by root.
    let blob = format!("sessions/gone.trajectory.blobs/{}", "a".repeat(64));
    fs::create_dir_all(home.at(&blob)).unwrap();
    let output = home.prune("UNUSED", &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let result = document(&output)["result"].clone();
    assert_eq!(result["failed"][0]["kind"], "blobs");
    let causes = result["failed"][0]["causes"].as_array().unwrap();
    assert!(causes[0].as_str().unwrap().contains("remove"), "{causes:?}");
    assert!(result["removed"][0].get("causes").is_none());
    let said = String::from_utf8(home.prune("UNUSED", &[]).stdout).unwrap();
    assert!(said.contains("could not remove blobs") && said.contains("  because: "), "{said}");
}

/// A process that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Creates a sidecar of a missing session, a link and a sidecar of another session
/// under one name in turn, as fast as it can, and never overwrites a file.
fn swapper(folder: &Path) -> Running {
    let script = "i=0; while [ ! -e stop ]; do i=$((i+1)); \
        cp real copy; mv -n copy gone.jsonl; mv -n gone.jsonl trash-$i; \
        ln -s ../victim gone.jsonl; mv -n gone.jsonl link-$i; \
        mv -n alien gone.jsonl; mv -n gone.jsonl alien; done 2>/dev/null";
    Running(Command::new("sh").args(["-c", script]).current_dir(folder).spawn().unwrap())
}

#[test]
fn a_file_that_replaces_a_sidecar_meanwhile_is_never_removed() {
    let home = Home::new();
    let alien = home.started("someone", "elsewhere/someone.jsonl");
    home.put("victim", "untouched\n");
    home.put("sidecars/real", &home.started("gone", "sessions/gone.jsonl"));
    home.put("sidecars/alien", &alien);
    let mut swapper = swapper(&home.at("sidecars"));
    let mut removed = 0;
    let mut rounds = 0;
    while rounds < 30 || (removed == 0 && rounds < 500) {
        rounds += 1;
        let output = home.prune("TRAJ_TRAJECTORY_DIR", &["--json"]);
        removed += document(&output)["result"]["removed"].as_array().unwrap().len();
        assert_eq!(fs::read_to_string(home.at("victim")).unwrap(), "untouched\n");
    }
    home.put("sidecars/stop", "");
    swapper.0.wait().unwrap();
    let is_alien =
        |name: &String| fs::read_to_string(home.at("sidecars").join(name)).unwrap() == alien;
    assert!(home.names("sidecars").iter().any(is_alien), "someone else's sidecar is gone");
    assert!(removed > 0, "the swapper never let a prune through");
}
