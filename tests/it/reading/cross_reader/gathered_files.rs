//! Files that are gathered before they are read give the same answers as their
//! rows.

use serde_json::Value;
use traj_tests::export_home::{ExportHome, result};

const GEMINI: &str = include_str!("../../../fixtures/gemini-cli/session.jsonl");
const SUB_AGENT: &str = include_str!("../../../fixtures/gemini-cli/sub-agent.jsonl");

/// What `inspect` says about a file, apart from the name of the file.
fn inspected(home: &ExportHome, file: &str) -> Value {
    let output = home.traj(&["inspect", file, "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut report = result(&output)["result"].take();
    for member in ["file", "path", "source", "subject", "sessionFile"] {
        report.as_object_mut().unwrap().remove(member);
    }
    report
}

#[test]
fn files_of_every_shape_are_read_like_their_rows() {
    for (dialect, file, content, rows) in [
        (
            "continue",
            "s1.json",
            include_str!("../../../fixtures/continue/session.json"),
            include_str!("../../../fixtures/continue/rows.jsonl"),
        ),
        (
            "aider",
            ".aider.chat.history.md",
            include_str!("../../../fixtures/aider/history.md"),
            include_str!("../../../fixtures/aider/rows.jsonl"),
        ),
        ("gemini-cli", "g.jsonl", GEMINI, include_str!("../../../fixtures/gemini-cli/rows.jsonl")),
    ] {
        let home = ExportHome::new();
        home.folder.remove_file("s1.trajectory.jsonl").unwrap();
        home.folder.create_dir("s1").unwrap();
        home.folder.write("s1/agent-1.jsonl", SUB_AGENT).unwrap();
        home.folder.write(file, content).unwrap();
        home.folder.write("s1.jsonl", rows).unwrap();
        let gathered = inspected(&home, file);
        assert_eq!(gathered, inspected(&home, "s1.jsonl"), "{dialect}");
        assert_eq!(gathered["dialect"], dialect);
        let exported =
            home.traj(&["export", "--session", file, "--workspace", "ws", "--output", "b"]);
        assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    }
}

#[test]
fn an_old_document_of_gemini_has_its_calls_and_tokens() {
    let home = ExportHome::new();
    home.folder.write("g.json", include_str!("../../../fixtures/gemini-cli/old.json")).unwrap();
    let report = inspected(&home, "g.json");
    assert_eq!((&report["agent"], &report["turns"]), (&"gemini-cli".into(), &1.into()));
    assert_eq!((&report["calls"]["calls"], &report["calls"]["errors"]), (&3.into(), &2.into()));
    assert_eq!(report["usage"]["inputTokens"], 400);
}
