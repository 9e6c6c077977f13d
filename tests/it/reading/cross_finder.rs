//! Every command chooses the same sidecar: with colliding names, relative and
//! foreign pointers, directories reached through links, and relocated directories.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::rows;
use traj_tests::traj_binary::{printed, traj_command};

const LISTING: &str = "a long listing of files";

/// The mark that means no sidecar.
const NONE: &str = "none";

/// A home with sessions in `sessions`.
struct Home {
    folder: TempDir,
    trajectory_dir: Option<PathBuf>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sessions")).unwrap();
        Self { folder, trajectory_dir: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn point(&self, file: &str, id: &str, target: &str) {
        self.put(file, &rows::pointer(id, target).json());
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = traj_command(self.folder.path());
        command.args(arguments).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &self.trajectory_dir {
            command.env("TRAJ_TRAJECTORY_DIR", folder);
        }
        let mut child = command.spawn().unwrap();
        // A command that reads no input may have ended already.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        child.wait_with_output().unwrap()
    }

    fn trim(&self, session: &str, more: &[&str]) -> Output {
        self.run(&[&["trim", "--session", session, "--tool-call", "c1"], more].concat(), "")
    }

    /// The sidecar that all reading commands choose for a session, by the mark in
    /// its event. `trim` and `prune` would change that sidecar or none.
    fn chosen(&self, session: &str) -> String {
        let tail = self.run(&["tail", "--session", session, "--json"], "");
        let tail = mark(&printed(&tail));
        let inspect = self.run(&["inspect", session, "--json"], "");
        assert_eq!(tail, mark(&printed(&inspect)), "tail and inspect of {session}");
        let sessions = self.listed(session);
        assert_eq!(tail, sessions, "tail and sessions of {session}");
        assert_eq!(tail, mark(&self.exported(session)), "tail and export of {session}");
        let dry = document(&self.trim(session, &["--dry-run", "--json"]));
        let events = dry["result"]["report"]["sidecar_events"].as_u64().unwrap();
        assert_eq!(tail != NONE, events == 1, "tail and trim of {session}: {dry}");
        for place in self.pruned(session) {
            assert_eq!(tail, mark_in(&place), "tail and prune of {session}: {place}");
        }
        tail
    }

    /// The mark in the sidecar that `sessions` lists for a session.
    fn listed(&self, session: &str) -> String {
        let (folder, _) = session.rsplit_once('/').unwrap();
        let listed = document(&self.run(&["sessions", "--sessions", folder, "--json"], ""));
        let listed = listed["result"]["sessions"].as_array().unwrap().iter();
        // The path is reported without links.
        let path = session.trim_start_matches("link");
        let own = listed.filter(|one| one["sessionFile"].as_str().unwrap().ends_with(path));
        let own: Vec<&Value> = own.collect();
        assert_eq!(own.len(), 1, "{session} is listed once");
        own[0]["trajectory"].as_str().map_or(NONE.to_owned(), mark_in)
    }

    /// The events of a bundle of a session.
    fn exported(&self, session: &str) -> String {
        let root = tempfile::tempdir().unwrap();
        let place = ["--output-root", root.path().to_str().unwrap(), "--output", "bundle"];
        let output = self.run(&[&["export", "--session", session][..], &place].concat(), "");
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(root.path().join("bundle/events.jsonl")).unwrap()
    }

    /// The sidecars that `prune` would remove if the session were gone.
    fn pruned(&self, session: &str) -> Vec<String> {
        let (folder, _) = session.rsplit_once('/').unwrap();
        let away = self.path("away.jsonl");
        fs::rename(self.path(session), &away).unwrap();
        let prune = ["prune", "--sessions", folder, "--older-than", "0s", "--dry-run", "--json"];
        let found = document(&self.run(&prune, ""));
        fs::rename(away, self.path(session)).unwrap();
        let of = |list: &str| found["result"][list].as_array().unwrap().clone();
        let items = [of("removed"), of("kept")].concat().into_iter();
        let stem = Path::new(session).file_stem().unwrap().to_str().unwrap();
        items
            .filter(|item| item["session"] == stem)
            .filter(|item| item["kind"].as_str().unwrap().ends_with("sidecar"))
            .filter(|item| item["reason"] == "old" || item["reason"] == "elsewhere")
            .map(|item| self.path(folder).join(item["place"].as_str().unwrap()))
            .map(|path| path.to_str().unwrap().to_owned())
            .collect()
    }

    fn record(&self, session: &str, id: &str, mark: &str) {
        let record = ["record", "--session", session, "--session-id", id];
        let lines =
            marked(mark).map(|(kind, data)| serde_json::json!({"type": kind, "data": data}));
        let output = self.run(&record, &lines.map(|line| format!("{line}\n")).concat());
        assert!(output.status.success(), "{output:?}");
    }
}

fn document(output: &Output) -> Value {
    serde_json::from_str(&printed(output)).unwrap()
}

/// The first mark in a text.
fn mark(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.into_iter().find(|word| word.starts_with("mark-")).unwrap_or(NONE).to_owned()
}

fn mark_in(file: &str) -> String {
    mark(&fs::read_to_string(file).unwrap())
}

fn transcript(id: &str) -> String {
    let result = rows::message("b", None, 2, rows::tool_result("c1", "read", LISTING));
    format!("{}\n{result}\n", rows::header(id).text("cwd", "/ws"))
}

/// A sidecar: a marked prompt, and the result of the call in the transcript.
fn sidecar(id: &str, mark: &str) -> String {
    let numbered = (1..).zip(marked(mark));
    let rows = numbered.map(|(number, (kind, data))| {
        let event = rows::event(kind, &rows::at(2), number).of(id);
        event.with("sourceSeq", number).with("data", data).line()
    });
    rows.collect()
}

/// The types and data of the events of a sidecar.
fn marked(mark: &str) -> [(&'static str, Value); 2] {
    let result = serde_json::json!({"toolCallId": "c1", "name": "read", "success": true, "contentItems": [{"type": "inputText", "text": LISTING}]});
    [("prompt.submitted", serde_json::json!({"prompt": mark})), ("tool.result", result)]
}

#[test]
fn colliding_names_stay_apart() {
    let mut home = Home::new();
    home.trajectory_dir = Some(home.path("t"));
    home.put("sessions/one.jsonl", &transcript("a/b"));
    home.put("sessions/two.jsonl", &transcript("a_b"));
    home.put("t/a_b.jsonl", &sidecar("a_b", "mark-two"));
    assert_eq!(home.chosen("sessions/one.jsonl"), NONE);
    assert_eq!(home.chosen("sessions/two.jsonl"), "mark-two");
    let before = home.read("t/a_b.jsonl");
    assert!(home.trim("sessions/one.jsonl", &[]).status.success());
    assert_eq!(home.read("t/a_b.jsonl"), before);
    // New events go to a separate name and are found there.
    home.record("sessions/one.jsonl", "a/b", "mark-one");
    home.put("sessions/one.jsonl", &transcript("a/b"));
    assert_eq!(home.chosen("sessions/one.jsonl"), "mark-one");
    assert_eq!(home.read("t/a_b.jsonl"), before);
}

#[test]
fn a_foreign_file_is_never_trimmed_or_shown() {
    let home = Home::new();
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.put("elsewhere/s1.jsonl", &sidecar("s2", "mark-foreign"));
    let target = home.path("elsewhere/s1.jsonl");
    home.point("sessions/s1.trajectory-path.json", "s1", target.to_str().unwrap());
    assert_eq!(home.chosen("sessions/s1.jsonl"), NONE);
    let output = home.trim("sessions/s1.jsonl", &["--irreversible"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("it belongs to another session"), "{said}");
    assert_eq!(home.read("elsewhere/s1.jsonl"), sidecar("s2", "mark-foreign"));
    // The same holds for a sidecar of another session under this session's default name.
    home.put("sessions/two.jsonl", &transcript("s2"));
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.put("sessions/s1.trajectory.jsonl", &sidecar("s2", "mark-foreign"));
    assert_eq!(home.chosen("sessions/s1.jsonl"), NONE);
    assert!(home.trim("sessions/s1.jsonl", &[]).status.success());
    assert_eq!(home.read("sessions/s1.trajectory.jsonl"), sidecar("s2", "mark-foreign"));
}

#[test]
fn a_relative_pointer_starts_in_its_own_directory() {
    let home = Home::new();
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.put("sessions/t/s1.jsonl", &sidecar("s1", "mark-right"));
    home.put("t/s1.jsonl", &sidecar("s1", "mark-wrong"));
    home.point("sessions/s1.trajectory-path.json", "s1", "t/s1.jsonl");
    assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-right");
    assert!(home.trim("sessions/s1.jsonl", &[]).status.success());
    assert!(home.read("t/s1.jsonl").contains(LISTING));
    assert!(!home.read("sessions/t/s1.jsonl").contains(LISTING));
    // All commands find what a recorder writes.
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.record("sessions/s1.jsonl", "s1", "mark-new");
    assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-new");
}

#[test]
fn a_pointer_at_the_transcript_leaves_the_sidecar() {
    let home = Home::new();
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.put("sessions/s1.trajectory.jsonl", &sidecar("s1", "mark-right"));
    let absolute = home.path("sessions/s1.jsonl");
    for target in ["s1.jsonl", absolute.to_str().unwrap()] {
        home.point("sessions/s1.trajectory-path.json", "s1", target);
        assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-right", "{target}");
    }
}

#[test]
fn links_above_the_directory_are_followed_by_every_verb() {
    let mut home = Home::new();
    home.put("real/sessions/s1.jsonl", &transcript("s1"));
    symlink(home.path("real"), home.path("link")).unwrap();
    for folder in [None, Some(home.path("link/t"))] {
        home.trajectory_dir = folder;
        home.record("link/sessions/s1.jsonl", "s1", "mark-right");
        assert_eq!(home.chosen("link/sessions/s1.jsonl"), "mark-right");
        // The pointer alone leads there as well.
        home.trajectory_dir = None;
        assert_eq!(home.chosen("link/sessions/s1.jsonl"), "mark-right");
    }
    assert!(home.trim("link/sessions/s1.jsonl", &["--irreversible"]).status.success());
    assert!(!home.read("real/t/s1.jsonl").contains(LISTING));
}

#[test]
fn a_sidecar_that_cannot_be_trimmed_is_an_error() {
    let home = Home::new();
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.put("elsewhere.jsonl", &sidecar("s1", "mark-linked"));
    symlink(home.path("elsewhere.jsonl"), home.path("sessions/s1.trajectory.jsonl")).unwrap();
    let output = home.trim("sessions/s1.jsonl", &["--irreversible"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(home.read("sessions/s1.jsonl").contains(LISTING));
}

#[test]
fn an_undo_without_the_sidecar_keeps_the_rest_for_later() {
    let mut home = Home::new();
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.put("t/s1.jsonl", &sidecar("s1", "mark-right"));
    home.trajectory_dir = Some(home.path("t"));
    assert!(home.trim("sessions/s1.jsonl", &[]).status.success());
    assert!(!home.read("t/s1.jsonl").contains(LISTING));
    let undo = ["trim", "--session", "sessions/s1.jsonl", "--undo"];
    let folder = home.trajectory_dir.take();
    let output = home.run(&undo, "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("a sidecar that was not found"), "{said}");
    assert_eq!(home.read("sessions/s1.jsonl"), transcript("s1"));
    assert!(!home.read("t/s1.jsonl").contains(LISTING));
    // A second undo without it still keeps the journal.
    assert_eq!(home.run(&undo, "").status.code(), Some(1));
    home.trajectory_dir = folder;
    let output = home.run(&undo, "");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.read("t/s1.jsonl"), sidecar("s1", "mark-right"));
    assert!(!home.path("sessions/s1.trim-undo.jsonl").exists());
}

#[test]
fn the_target_of_a_copied_pointer_is_not_an_orphan() {
    let mut home = Home::new();
    home.trajectory_dir = Some(home.path("t"));
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.record("sessions/s1.jsonl", "s1", "mark-right");
    let pointer = home.read("sessions/s1.trajectory-path.json");
    home.put("copy/s1.trajectory-path.json", &pointer);
    let prune = |folder: &str| {
        let output = home.run(&["prune", "--sessions", folder, "--older-than", "0s"], "");
        assert!(output.status.success(), "{output:?}");
    };
    // The transcript was not copied; the original still exists.
    prune("copy");
    assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-right");
    // Once the original is gone, its sidecar is removed too.
    fs::remove_file(home.path("sessions/s1.jsonl")).unwrap();
    home.put("copy/s1.trajectory-path.json", &pointer);
    prune("copy");
    assert!(home.path("t/s1.jsonl").exists());
    prune("sessions");
    assert!(!home.path("t/s1.jsonl").exists());
}

#[test]
fn a_pointer_cannot_vouch_for_the_file_it_leads_to() {
    let home = Home::new();
    // The transcript is damaged and states no id; the pointer is foreign.
    let rows = transcript("s1");
    let (_, without_header) = rows.split_once('\n').unwrap();
    home.put("sessions/s1.jsonl", without_header);
    home.put("elsewhere/s2.jsonl", &sidecar("s2", "mark-foreign"));
    let target = home.path("elsewhere/s2.jsonl");
    home.point("sessions/s1.trajectory-path.json", "s2", target.to_str().unwrap());
    let output = home.trim("sessions/s1.jsonl", &["--irreversible"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(home.read("elsewhere/s2.jsonl"), sidecar("s2", "mark-foreign"));
    assert_eq!(home.read("sessions/s1.jsonl"), without_header);
}

#[test]
fn a_sidecar_in_a_relocated_directory_is_found_where_the_pointer_leads() {
    let mut home = Home::new();
    home.put("sessions/s1.jsonl", &transcript("s1"));
    home.trajectory_dir = Some(home.path("t"));
    home.record("sessions/s1.jsonl", "s1", "mark-right");
    assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-right");
    // Without the setting, and with another directory.
    for folder in [None, Some(home.path("other"))] {
        home.trajectory_dir = folder;
        assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-right");
    }
    // Without the pointer only the setting leads there.
    fs::remove_file(home.path("sessions/s1.trajectory-path.json")).unwrap();
    assert_eq!(home.chosen("sessions/s1.jsonl"), NONE);
    home.trajectory_dir = Some(home.path("t"));
    assert_eq!(home.chosen("sessions/s1.jsonl"), "mark-right");
}
