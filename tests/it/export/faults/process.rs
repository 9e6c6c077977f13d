//! The exporting process is killed, runs out of space, loses its sources or reads
//! huge values. Afterwards there is a complete bundle, or none.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use cap_std::fs::{Permissions, PermissionsExt as _};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use traj_tests::export_home::{EXPORTS, ExportHome, result};
use traj_tests::rows::{message, next_message, user};
use traj_tests::traj_binary::{traj_binary, traj_command};

/// Rows of about a kilobyte.
fn long_session(home: &ExportHome, rows: u32) {
    let text = user(&"word ".repeat(200));
    let row = |number: u32| next_message(number, &text).json();
    home.put_session(&(0..rows).map(row).collect::<Vec<_>>());
}

fn command(home: &ExportHome, name: &str) -> Command {
    let mut command = traj_command(home.path());
    command.args(["export", "--session", "s1.jsonl", "--workspace", "ws", "--json"]);
    command.args(["--output", name]).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The length of a file of the unfinished bundle; `None` while it is missing.
fn staged(home: &ExportHome, file: &str) -> Option<u64> {
    let hidden = home.exports().into_iter().find(|name| name.starts_with('.'))?;
    let path = format!("{EXPORTS}/{hidden}/{file}");
    Some(home.folder.symlink_metadata(path).ok()?.len())
}

/// Watches the unfinished bundle until `has_come` is true or the process has ended.
fn watch(home: &ExportHome, child: &mut Child, mut has_come: impl FnMut(&ExportHome) -> bool) {
    while !has_come(home) && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// Asserts that the bundle is complete if it is visible. Returns whether it is.
fn assert_whole_or_absent(home: &ExportHome, name: &str) -> bool {
    let visible = home.exports().into_iter().filter(|name| !name.starts_with('.'));
    let visible: Vec<String> = visible.collect();
    if visible.is_empty() {
        return false;
    }
    assert_eq!(visible, [name]);
    let verified = home.traj(&["verify", &format!("{EXPORTS}/{name}")]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    true
}

#[test]
fn an_export_that_a_signal_ends_leaves_nothing_and_says_so() {
    let home = ExportHome::new();
    long_session(&home, 1_500);
    let mut ended = 0;
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
        for (file, archive) in
            [("", None), ("session-branch.json", Some("zip")), ("manifest.json", Some("tar.zst"))]
        {
            let mut command = command(&home, "b");
            command.args(archive.iter().flat_map(|form| ["--archive", form]));
            let mut child = command.spawn().unwrap();
            watch(&home, &mut child, |home| staged(home, file).is_some());
            kill_process(Pid::from_child(&child), signal).ok();
            let output = child.wait_with_output().unwrap();
            if output.status.success() {
                home.folder.remove_dir_all("ws/.openclaw").unwrap();
                continue;
            }
            assert_eq!(output.status.code(), Some(128 + number), "{signal:?}");
            assert_eq!(result(&output)["error"]["kind"], "interrupted");
            assert!(!home.folder.exists("ws/.openclaw"), "{:?}", home.exports());
            ended += 1;
        }
    }
    assert!(ended > 3, "some were ended before they were done");
}

#[test]
fn a_killed_export_leaves_no_half_bundle_and_the_next_one_works() {
    let home = ExportHome::new();
    long_session(&home, 1_500);
    assert!(command(&home, "whole").status().unwrap().success());
    let sizes = ["", "session-branch.json", "events.jsonl", "manifest.json"].map(|file| {
        let path = format!("{EXPORTS}/whole/{file}");
        (file, home.folder.symlink_metadata(path).unwrap().len())
    });
    home.folder.remove_dir_all(format!("{EXPORTS}/whole")).unwrap();
    // Random positions in the export, the same in every run.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut killed = 0;
    for (file, size) in sizes.iter().cycle().take(10) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let wanted = if file.is_empty() { 0 } else { (random >> 33) % size };
        let mut child = command(&home, "b").spawn().unwrap();
        watch(&home, &mut child, |home| staged(home, file).is_some_and(|bytes| bytes >= wanted));
        child.kill().unwrap();
        child.wait().unwrap();
        if assert_whole_or_absent(&home, "b") {
            home.folder.remove_dir_all(format!("{EXPORTS}/b")).unwrap();
        } else {
            killed += 1;
        }
        for hidden in home.exports() {
            home.folder.remove_dir_all(format!("{EXPORTS}/{hidden}")).unwrap();
        }
    }
    assert!(killed > 0, "at least one was caught in the act");
    assert!(command(&home, "b").status().unwrap().success());
    assert!(assert_whole_or_absent(&home, "b"));
}

#[test]
fn a_full_disk_is_reported_and_nothing_is_left() {
    let home = ExportHome::new();
    long_session(&home, 700);
    for (blocks, archive) in [(1, ""), (200, ""), (1_400, ""), (600, "--archive tar.zst")] {
        // The limit on file sizes, in units of 512 bytes, acts like a full disk.
        let script = format!(
            r#"ulimit -f {blocks}; exec "$0" export --session s1.jsonl --workspace ws --output b --json {archive}"#
        );
        let mut limited = Command::new("sh");
        limited.args(["-c", &script]).arg(traj_binary());
        limited.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
        let output = limited.current_dir(home.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{blocks} {archive}");
        let error = &result(&output)["error"];
        assert!(error["message"].as_str().unwrap().starts_with("no space left"), "{error}");
        assert!(home.exports().is_empty(), "{blocks} {archive}");
    }
}

#[test]
fn a_source_that_may_not_be_read_is_named() {
    for unreadable in ["s1.jsonl", "s1.trajectory.jsonl"] {
        let home = ExportHome::new();
        home.folder.set_permissions(unreadable, Permissions::from_mode(0o000)).unwrap();
        let mut command = command(&home, "b");
        if geteuid().is_root() {
            // Root can read everything, so another user runs the export, with a
            // copy of the program, because the original may be in root's home.
            let copy = home.path().join("traj");
            #[expect(clippy::disallowed_methods, reason = "the program lies outside the home")]
            std::fs::copy(traj_binary(), &copy).unwrap();
            for path in [".", "ws", "s1.jsonl", "s1.trajectory.jsonl"] {
                let path = home.path().join(path);
                std::os::unix::fs::chown(path, Some(65_534), Some(65_534)).unwrap();
            }
            let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            command = Command::new(copy);
            command.args(arguments).env_clear().env("HOME", home.path());
            command.current_dir(home.path()).uid(65_534).gid(65_534);
        }
        let output = loop {
            match command.output() {
                // Another test that is starting a process may have the copy open.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                started => break started.unwrap(),
            }
        };
        assert_eq!(output.status.code(), Some(1), "{unreadable}");
        let error = &result(&output)["error"];
        assert_eq!(error["message"], format!("cannot read {unreadable}"));
        assert!(error["causes"].to_string().contains("denied"), "{error}");
        assert!(home.exports().is_empty(), "{unreadable}");
    }
}

#[test]
fn sources_that_vanish_or_shrink_while_they_are_read() {
    let home = ExportHome::new();
    long_session(&home, 3_000);
    let whole = home.folder.read("s1.jsonl").unwrap();
    // Deleted: an open file can still be read to its end.
    let mut child = command(&home, "b").spawn().unwrap();
    watch(&home, &mut child, |home| staged(home, "").is_some());
    home.folder.remove_file("s1.jsonl").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(result(&output)["result"]["transcriptEventCount"], 3_000);
    assert!(assert_whole_or_absent(&home, "b"));
    home.folder.remove_dir_all(format!("{EXPORTS}/b")).unwrap();
    // Truncated: an error, unless the export was faster and is complete.
    home.folder.write("s1.jsonl", &whole).unwrap();
    let mut child = command(&home, "b").spawn().unwrap();
    watch(&home, &mut child, |home| staged(home, "").is_some());
    home.folder.write("s1.jsonl", whole.get(..whole.len() / 2).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let document = result(&output);
    if assert_whole_or_absent(&home, "b") {
        assert_eq!(document["result"]["transcriptEventCount"], 3_000);
    } else {
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(document["error"]["message"], "s1.jsonl changed while it was read");
        assert!(home.exports().is_empty());
    }
}

#[test]
fn huge_values_and_garbage_are_exported_with_a_notice() {
    let home = ExportHome::new();
    let giant = "g".repeat(101 * 1024 * 1024);
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let user = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
    let mut rows = vec![
        message("a", None, 1, user(r#""first""#)),
        message("b", Some("a"), 2, user(&format!("\"{giant}\""))),
        message("c", Some("b"), 3, user(&deep)),
        message("d", Some("c"), 4, user(r#""last ~""#)),
    ];
    drop((giant, deep));
    home.put_session(&rows);
    rows.clear();
    let mut bytes = home.folder.read("s1.jsonl").unwrap();
    *bytes.iter_mut().rev().find(|byte| **byte == b'~').unwrap() = 0xff;
    home.folder.write("s1.jsonl", &bytes).unwrap();
    drop(bytes);
    let document = result(&home.export(&["--output", "b"]));
    let exported = &document["result"];
    assert_eq!(exported["transcriptEventCount"], 4);
    let notices: Vec<String> = exported["notices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|notice| format!("{} {}", notice["code"].as_str().unwrap(), notice["rows"]))
        .collect();
    assert_eq!(
        notices,
        [
            "session-size-limit [0]",
            "session-row-shortened [3,4]",
            "session-not-utf8 [5]",
            "blob-too-large [0,0]"
        ]
    );
    assert!(assert_whole_or_absent(&home, "b"));
    let events = home.folder.read_to_string(format!("{EXPORTS}/b/events.jsonl")).unwrap();
    assert!(events.len() < 20_000 && events.contains("last \u{fffd}"));
}
