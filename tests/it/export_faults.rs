//! Exports under bad luck: full disks, sources that change, giants, kills.

use std::time::Duration;

use cap_std::fs::Dir;
use traj_core::memory::{MemoryBundleSink, MemorySources};
use traj_core::port::{BundleFile, BundleSinkError, SourceError, Sources};
use traj_export::{ExportError, ExportPorts, Silent, export};
use traj_tests::export_fixture::{HEADER, export_from, message, request, runtime};
use traj_tests::traj_binary::traj_command;

fn long_session(rows: u32) -> String {
    let text = format!(r#"{{"role":"user","content":"{}"}}"#, "word ".repeat(200));
    let mut session = vec![HEADER.to_owned()];
    for number in 0..rows {
        let parent = number.checked_sub(1).map(|before| format!("m{before}"));
        session.push(message(&format!("m{number}"), parent.as_deref(), number % 60, &text));
    }
    session.join("\n")
}

#[test]
fn a_full_disk_leaves_nothing_whenever_it_is_full() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", long_session(20));
    sources.put("s1.trajectory.jsonl", runtime("x", "2026-06-01T10:00:00Z", 1, ""));
    let mut request = request();
    request.workers = std::num::NonZeroUsize::new(2).unwrap();
    let mut room = 0;
    loop {
        let sink = MemoryBundleSink::with_room(room);
        match export(ExportPorts { sources: &sources, sink: &sink }, &request, &mut Silent) {
            Ok(_) => break,
            Err(error) => {
                assert!(
                    matches!(error, ExportError::Sink(BundleSinkError::Full { .. })),
                    "{error}"
                );
                assert!(sink.names().is_empty(), "room {room}");
            }
        }
        room += 977;
    }
    assert!(room > 50_000, "many places were tried");
}

/// Sources whose session changes as soon as it was opened.
#[derive(Debug)]
struct Changing {
    sources: MemorySources,
    content: String,
}

impl Sources for Changing {
    fn open(&self, name: &str) -> Result<Box<dyn traj_core::port::Source>, SourceError> {
        let opened = self.sources.open(name);
        if name == "s1.jsonl" {
            self.sources.put(name, self.content.as_str());
        }
        opened
    }
}

#[test]
fn a_session_that_is_rewritten_while_it_is_read_is_an_error() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", long_session(5));
    let changing = Changing { sources, content: "cut".to_owned() };
    let sink = MemoryBundleSink::new();
    let ports = ExportPorts { sources: &changing, sink: &sink };
    let error = export(ports, &request(), &mut Silent).unwrap_err();
    assert!(matches!(error, ExportError::Source(SourceError::Changed { .. })), "{error}");
    assert!(sink.names().is_empty());
}

#[test]
fn a_session_that_grows_is_exported_as_it_was() {
    let before = long_session(5);
    let sources = MemorySources::new();
    sources.put("s1.jsonl", before.as_str());
    let more = message("later", Some("m4"), 59, r#"{"role":"user","content":"appended"}"#);
    let changing = Changing { sources, content: format!("{before}\n{more}") };
    let sink = MemoryBundleSink::new();
    let ports = ExportPorts { sources: &changing, sink: &sink };
    let report = export(ports, &request(), &mut Silent).unwrap();
    assert_eq!(report.event_count, 5);
}

#[test]
fn a_giant_row_keeps_its_place_and_its_ordinary_values() {
    let giant = "g".repeat(40 * 1024 * 1024);
    let sources = MemorySources::new();
    let rows = [
        HEADER.to_owned(),
        message("a", None, 1, r#"{"role":"user","content":"before"}"#),
        message(
            "b",
            Some("a"),
            2,
            &format!(r#"{{"role":"user","content":"{giant}","note":"kept"}}"#),
        ),
        message("c", Some("b"), 3, r#"{"role":"user","content":"after"}"#),
    ];
    sources.put("s1.jsonl", rows.join("\n"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.sequence(), ["user.message a", "user.message b", "user.message c"]);
    assert_eq!(export.notices(), ["session-row-shortened [3]"]);
    let message = &export.events()[1]["data"]["message"];
    assert_eq!(message["note"], "kept");
    assert_eq!(message["content"]["originalBytes"], giant.len());
    assert!(export.files[&BundleFile::Events].len() < 10_000);
}

#[test]
fn deep_nesting_and_many_values_do_not_hurt() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let some = "[".repeat(5_000) + &"]".repeat(5_000);
    let many = format!("[{}1]", "1,".repeat(600_000));
    let sources = MemorySources::new();
    let row = |id: &str, parent: Option<&str>, content: &str| {
        message(id, parent, 1, &format!(r#"{{"role":"user","content":{content}}}"#))
    };
    let rows = [
        HEADER.to_owned(),
        row("a", None, &some),
        row("b", Some("a"), &deep),
        row("c", Some("b"), &many),
        row("d", Some("c"), "\"last\""),
    ];
    sources.put("s1.jsonl", rows.join("\n"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.sequence().len(), 4);
    assert_eq!(export.notices(), ["session-row-shortened [3, 4]"]);
    let marker = &export.events()[2]["data"]["message"]["content"];
    assert_eq!(marker["truncated"], true);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test opens its own folder")]
fn a_killed_export_leaves_no_half_bundle_and_the_next_one_works() {
    let home = tempfile::tempdir().unwrap();
    let folder = Dir::open_ambient_dir(home.path(), cap_std::ambient_authority()).unwrap();
    folder.create_dir("ws").unwrap();
    folder.write("s1.jsonl", long_session(1_500)).unwrap();
    let command = |name: &str| {
        let mut command = traj_command(home.path());
        command.args(["export", "--session", "s1.jsonl", "--workspace", "ws", "--output", name]);
        command
    };
    let exports = || -> Vec<String> {
        let Ok(folder) = folder.open_dir("ws/.openclaw/trajectory-exports") else { return vec![] };
        let names = folder.entries().unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    for round in 0..12_u64 {
        let mut child = command("killed").stderr(std::process::Stdio::null()).spawn().unwrap();
        // Wherever it is by then; an export that was faster is removed again.
        std::thread::park_timeout(Duration::from_millis(round * 17));
        child.kill().unwrap();
        child.wait().unwrap();
        let visible: Vec<String> =
            exports().into_iter().filter(|name| !name.starts_with('.')).collect();
        if visible.contains(&"killed".to_owned()) {
            let path = "ws/.openclaw/trajectory-exports/killed";
            let verified = traj_command(home.path()).args(["verify", path]).status().unwrap();
            assert!(verified.success(), "what is visible is whole");
            folder.remove_dir_all(path).unwrap();
        } else {
            assert!(visible.is_empty());
        }
    }
    assert!(command("done").output().unwrap().status.success());
}
