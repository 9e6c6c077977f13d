//! Rewriting on the real filesystem: processes that append at the same time,
//! links, swapped files and full disks.
#![expect(clippy::disallowed_methods, reason = "tests open their own temporary directories")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use cap_std::fs::Dir;
use traj_core::port::{RewriteError, RewriteMode, RewriteReport, SessionRewriter as _};
use traj_fs::{FsSessionRewriter, ProcessTable};
use traj_tests::contract::session_rewriter::ReplaceLine;
use traj_tests::host::small_disk::SmallDisk;
use traj_tests::traj_binary::names_in;

fn open(folder: &Path) -> Dir {
    Dir::open_ambient_dir(folder, cap_std::ambient_authority()).unwrap()
}

fn rewriter(folder: &Path) -> FsSessionRewriter {
    let processes = Arc::new(ProcessTable::new(open(Path::new("/proc"))));
    FsSessionRewriter::new(open(folder), "s.jsonl".to_owned(), Some(processes))
}

fn rewrite(
    folder: &Path,
    target: &'static str,
    replacement: &'static str,
) -> Result<RewriteReport, RewriteError> {
    let mut edit = ReplaceLine { target, replacement, refuse: false };
    rewriter(folder).rewrite(&mut edit, RewriteMode::Commit)
}

/// A process that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A shell that opens, appends a line and closes until a file `stop` appears, and
/// then writes the number of lines.
fn appender(folder: &Path, name: &str) -> Running {
    let script = format!(
        "i=0; while [ ! -e stop ]; do echo \"{name} $i\" >> s.jsonl; i=$((i+1)); done; echo $i > count-{name}"
    );
    Running(Command::new("sh").args(["-c", &script]).current_dir(folder).spawn().unwrap())
}

#[test]
fn real_appenders_lose_no_line_while_the_session_is_rewritten() {
    const REWRITES: usize = 8;
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("s.jsonl"), "one\n".repeat(2_000)).unwrap();
    let appenders = ["a", "b"].map(|name| (name, appender(place.path(), name)));
    let mut merged = 0;
    for round in 0..REWRITES {
        let (target, replacement) = if round % 2 == 0 { ("one", "two") } else { ("two", "one") };
        let report = rewrite(place.path(), target, replacement).unwrap();
        assert_eq!((report.changed_lines, report.held_open), (2_000, false));
        merged += report.merged_bytes;
    }
    fs::write(place.path().join("stop"), "").unwrap();
    let mut appended = 0;
    let text = appenders.map(|(name, mut child)| {
        child.0.wait().unwrap();
        let count = fs::read_to_string(place.path().join(format!("count-{name}"))).unwrap();
        (name, count.trim().parse::<usize>().unwrap())
    });
    let session = fs::read_to_string(place.path().join("s.jsonl")).unwrap();
    for (name, count) in text {
        let numbers = session
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.trim().parse::<usize>().ok());
        assert!(numbers.eq(0..count), "appender {name} wrote {count} lines, not all are there");
        appended += count;
    }
    assert_eq!(session.lines().count(), 2_000 + appended);
    assert!(merged > 0, "the appenders never met a rewrite");
    assert_eq!(names_in(place.path()), ["count-a", "count-b", "s.jsonl", "stop"]);
}

#[test]
fn a_process_that_holds_the_session_open_is_noticed_before_any_change() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("s.jsonl");
    fs::write(&file, "one\n").unwrap();
    let mut holder = Command::new("sh")
        .args(["-c", "exec 3>>s.jsonl; echo ready; read line; echo late >&3"])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let outcome = rewrite(place.path(), "one", "two");
    assert!(matches!(outcome, Err(RewriteError::Busy { .. })), "{outcome:?}");
    holder.stdin.take().unwrap().write_all(b"go\n").unwrap();
    holder.wait().unwrap();
    rewrite(place.path(), "one", "two").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "two\nlate\n");
}

#[test]
fn mode_and_owner_stay() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("s.jsonl");
    for mode in [0o600, 0o640, 0o444] {
        fs::write(&file, "one\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(&file).unwrap();
        rewrite(place.path(), "one", "two").unwrap();
        let after = fs::metadata(&file).unwrap();
        assert_eq!(after.mode() & 0o7777, mode);
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino());
        fs::remove_file(&file).unwrap();
    }
    // Only root can change the owner of a file.
    if rustix::process::geteuid().is_root() {
        fs::write(&file, "one\n").unwrap();
        std::os::unix::fs::chown(&file, Some(4_242), Some(4_243)).unwrap();
        rewrite(place.path(), "one", "two").unwrap();
        let after = fs::metadata(&file).unwrap();
        assert_eq!((after.uid(), after.gid()), (4_242, 4_243));
    }
}

#[test]
fn links_and_strange_files_are_refused_and_untouched() {
    let place = tempfile::tempdir().unwrap();
    let (file, victim) = (place.path().join("s.jsonl"), place.path().join("victim"));
    fs::write(&victim, "one\n").unwrap();
    let refused = |what: &str| {
        let outcome = rewrite(place.path(), "one", "two");
        assert!(matches!(outcome, Err(RewriteError::Refused { .. })), "{what}: {outcome:?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "one\n", "{what}");
        fs::remove_file(&file).or_else(|_| fs::remove_dir(&file)).unwrap();
    };
    symlink("victim", &file).unwrap();
    refused("symbolic link");
    fs::hard_link(&victim, &file).unwrap();
    refused("hard link");
    fs::create_dir(&file).unwrap();
    refused("folder");
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    refused("fifo");
}

#[test]
fn a_link_that_takes_the_sessions_place_meanwhile_never_gets_the_text() {
    let place = tempfile::tempdir().unwrap();
    let (file, victim) = (place.path().join("s.jsonl"), place.path().join("victim"));
    fs::write(&victim, "untouched\n").unwrap();
    // A process that replaces the session with a link and back, as fast as it can.
    let script = "while [ ! -e stop ]; do mv s.jsonl real 2>/dev/null; ln -sf victim s.jsonl 2>/dev/null; rm -f s.jsonl; mv real s.jsonl 2>/dev/null; done";
    fs::write(&file, "one\n").unwrap();
    let mut swapper =
        Running(Command::new("sh").args(["-c", script]).current_dir(place.path()).spawn().unwrap());
    let mut outcomes = [0, 0];
    for round in 0..150 {
        let (target, replacement) = if round % 2 == 0 { ("one", "two") } else { ("two", "one") };
        let outcome = rewrite(place.path(), target, replacement);
        outcomes[usize::from(outcome.is_err())] += 1;
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched\n", "round {round}");
    }
    fs::write(place.path().join("stop"), "").unwrap();
    swapper.0.wait().unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched\n");
    assert!(outcomes[1] > 0, "the swapper never met a rewrite: {outcomes:?}");
}

#[test]
fn two_rewrites_at_once_both_take_effect() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("s.jsonl"), "one\nother\n".repeat(500)).unwrap();
    std::thread::scope(|scope| {
        for (target, replacement) in [("one", "1"), ("other", "2")] {
            let folder = place.path();
            scope.spawn(move || {
                // The error may be a conflict; then the rewrite is repeated.
                while !rewrite(folder, target, replacement).is_ok_and(|report| !report.held_open) {}
            });
        }
    });
    let text = fs::read_to_string(place.path().join("s.jsonl")).unwrap();
    assert_eq!(text, "1\n2\n".repeat(500));
}

#[test]
fn a_full_disk_leaves_the_session_as_it_was() {
    let Some(disk) = SmallDisk::mount() else { return };
    let line = "x".repeat(99);
    let text = format!("one\n{}", format!("{line}\n").repeat(7_000));
    fs::write(disk.path().join("s.jsonl"), &text).unwrap();
    let outcome = rewrite(disk.path(), "one", "two");
    assert!(matches!(outcome, Err(RewriteError::Storage { .. })), "{outcome:?}");
    assert_eq!(fs::read_to_string(disk.path().join("s.jsonl")).unwrap(), text);
    assert_eq!(names_in(disk.path()), ["s.jsonl"]);
}
