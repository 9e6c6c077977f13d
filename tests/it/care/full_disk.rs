//! Trim, undo, repair and prune on a full disk.
//!
//! Each test runs twice: on a full disk, if the host permits mounting a small one,
//! and under a limit on the size of files, which ends a write early in the same
//! way and works everywhere.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use traj_tests::host::small_disk::{BALLAST, SmallDisk};
use traj_tests::rows::{at, entry, event, header, message, tool_result, user};
use traj_tests::traj_binary::{traj_binary, traj_command};

/// A place where writing can be made to fail.
enum Scarce {
    Disk(SmallDisk),
    Limited(TempDir),
}

/// How much more can be written, in kilobytes.
type Room = usize;

impl Scarce {
    /// Every kind of place that the host supports.
    fn all() -> Vec<Self> {
        let limited = Self::Limited(tempfile::tempdir().unwrap());
        SmallDisk::mount().map(Self::Disk).into_iter().chain([limited]).collect()
    }

    fn path(&self) -> &Path {
        match self {
            Self::Disk(disk) => disk.path(),
            Self::Limited(folder) => folder.path(),
        }
    }

    /// Runs traj with at most this much free space on the disk, or in one file.
    fn traj(&self, room: Room, arguments: &[&str]) -> Output {
        match self {
            Self::Disk(disk) => {
                disk.fill(room);
                let output = traj_command(disk.path()).args(arguments).output().unwrap();
                disk.free();
                output
            }
            Self::Limited(folder) => {
                // The unit of the limit is 512 bytes.
                let script = r#"ulimit -f "$0" && exec "$@""#;
                let mut command = Command::new("sh");
                command.args(["-c", script]).arg((room * 2).to_string()).arg(traj_binary());
                command.args(arguments).env_clear().env("HOME", folder.path());
                command.current_dir(folder.path()).output().unwrap()
            }
        }
    }

    /// Like [`Self::traj`], with enough space. It must succeed.
    fn freely(&self, arguments: &[&str]) {
        let output = traj_command(self.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// All files and their content.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.path()).unwrap().map(Result::unwrap);
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names
            .filter(|name| name != BALLAST)
            .map(|name| {
                let content = fs::read(self.path().join(&name)).unwrap();
                (name, content)
            })
            .collect()
    }

    /// Asserts that the command fails with this message and changes no file.
    fn fails(&self, room: Room, arguments: &[&str], said: &str) {
        let error = self.fails_with(room, arguments, said);
        let reason = match self {
            Self::Disk(_) => "No space left on device",
            Self::Limited(_) => "File too large",
        };
        assert!(error.contains(reason), "{error}");
    }

    fn fails_with(&self, room: Room, arguments: &[&str], said: &str) -> String {
        let before = self.files();
        let output = self.traj(room, arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(said), "{error}");
        assert_eq!(self.files().into_keys().collect::<Vec<_>>(), names(&before));
        assert!(self.files() == before, "a file changed");
        error
    }
}

fn names(files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    files.keys().cloned().collect()
}

/// A session with one large result, and small ones.
fn session() -> String {
    let result = |id: &str, text: &str| message(id, None, 2, tool_result(id, "read", text));
    let lines = [
        header("s").json(),
        result("large", &"a long listing ".repeat(16_000)),
        result("small", &"text ".repeat(20)),
        result("own", &"other text ".repeat(2_000)),
    ];
    lines.join("\n") + "\n"
}

fn put(place: &Scarce, name: &str, content: &str) {
    fs::write(place.path().join(name), content).unwrap();
}

const TRIM: [&str; 5] = ["trim", "--session", "s.jsonl", "--tool-call", "large"];

#[test]
fn a_trim_that_cannot_be_noted_or_written_changes_nothing() {
    for place in Scarce::all() {
        put(&place, "s.jsonl", &session());
        // Too little space for the new session.
        place.fails(8, &TRIM, "cannot trim the session");
        // Enough space for the new session, but not for the undo journal.
        place.fails(100, &TRIM, "cannot trim the session");
        // The same with a journal that contains an earlier trim.
        place.freely(&["trim", "--session", "s.jsonl", "--tool-call", "small"]);
        place.fails(100, &TRIM, "cannot trim the session");
        place.freely(&TRIM);
        place.freely(&["trim", "--session", "s.jsonl", "--undo", "--all"]);
        assert_eq!(place.files(), BTreeMap::from([("s.jsonl".to_owned(), session().into_bytes())]));
    }
}

#[test]
fn an_undo_that_cannot_be_written_stays_possible() {
    for place in Scarce::all() {
        put(&place, "s.jsonl", &session());
        place.freely(&TRIM);
        place.fails(100, &["trim", "--session", "s.jsonl", "--undo"], "cannot trim the session");
        place.freely(&["trim", "--session", "s.jsonl", "--undo"]);
        assert_eq!(place.files(), BTreeMap::from([("s.jsonl".to_owned(), session().into_bytes())]));
    }
}

#[test]
fn a_full_disk_leaves_no_half_line_in_the_queue() {
    const ENQUEUE: [&str; 6] = ["trim", "--session", "s.jsonl", "--enqueue", "--self-call", "own"];
    let long = "long ".repeat(4_000);
    let long = [&ENQUEUE[..], &["--tool-call", "small", "--replacement", &long]].concat();
    let short = [&ENQUEUE[..], &["--tool-call", "large", "--replacement", "short"]].concat();
    for place in Scarce::all() {
        put(&place, "s.jsonl", &session());
        // The first queued trim, and a second one after it.
        place.fails(4, &long, "trim-queue");
        place.freely(&short);
        place.fails(4, &long, "trim-queue");
        // If the trim cannot be written, it stays in the queue.
        let drain = ["trim", "--session", "s.jsonl", "--queue", "-"];
        place.fails(8, &drain, "cannot trim the session");
        place.freely(&drain);
        let files = place.files();
        assert_eq!(names(&files), ["s.jsonl", "s.trim-undo.jsonl"]);
        assert!(String::from_utf8_lossy(&files["s.jsonl"]).contains("[trimmed by self] short"));
    }
}

#[test]
fn a_copy_that_cannot_be_written_is_not_there() {
    for place in Scarce::all() {
        put(&place, "s.jsonl", &format!("\0\0\0{}", session()));
        place.fails(8, &["repair", "s.jsonl", "--write"], "cannot write the copy");
        place.fails(200, &["repair", "s.jsonl", "--write"], "cannot write the copy");
        place.freely(&["repair", "s.jsonl", "--write"]);
        assert_eq!(place.files()["s.repaired.jsonl"], session().into_bytes());
    }
}

#[test]
fn notes_about_many_rows_go_to_a_file_that_nobody_sees() {
    let row = |number: u32, parent: u32| {
        entry("message", &number.to_string(), Some(&parent.to_string()), 0)
            .with("message", user(""))
    };
    let place = Scarce::Limited(tempfile::tempdir().unwrap());
    let header = session().lines().next().unwrap().to_owned();
    let mut rows = vec![header, row(0, 0).with("parentId", "null").json()];
    rows.extend((1..80_000).map(|number| row(number, number - 1).json()));
    let sound = rows.join("\n") + "\n";
    // A row that repeats a much earlier one, and a row whose parent is missing.
    rows.push(rows[10].clone());
    rows.push(row(80_000, 99_999).json());
    put(&place, "s.jsonl", &(rows.join("\n") + "\n"));
    place.fails_with(
        8,
        &["repair", "s.jsonl", "--write"],
        "no space left for notes about the rows",
    );
    place.freely(&["repair", "s.jsonl", "--write"]);
    let files = place.files();
    assert_eq!(names(&files), ["s.jsonl", "s.repaired.jsonl"]);
    let expected = sound + &row(80_000, 79_999).line();
    assert!(files["s.repaired.jsonl"] == expected.into_bytes());
}

#[test]
fn pruning_needs_no_room() {
    let event = event("x", &at(0), 1).of("gone").with("data", "{}");
    for place in Scarce::all() {
        put(&place, "s.jsonl", &session());
        put(&place, "gone.trajectory.jsonl", &event.line());
        put(&place, "gone.codex-binding.json", "{}");
        let output = place.traj(0, &["prune", "--sessions", ".", "--older-than", "0s"]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(names(&place.files()), ["s.jsonl"]);
    }
}
