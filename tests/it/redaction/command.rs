//! `traj redact`, `traj scan` and `traj rules` as scripts use them.
#![expect(clippy::disallowed_methods, reason = "a test reads and writes its own directory")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use traj_tests::rows;
use traj_tests::session_fixtures::databases;
use traj_tests::traj_binary::traj_command;

fn redact(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = traj_command(home)
        .arg("redact")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command with invalid arguments ends before it reads its input.
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(written.is_ok() || output.status.code() == Some(2), "{written:?}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn lines_come_out_in_order_and_parse() {
    let home = tempfile::tempdir().unwrap();
    let input =
        "{\"password\":\"hunter2\",\"n\":1e400}\n\nno json, token=abc123def456\n\"plain\"\n";
    let output = redact(home.path(), &["--jsonl", "--ephemeral-key"], input);
    assert_eq!(output.status.code(), Some(4));
    let lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[0].starts_with("{\"password\":\"<redacted:password:")
            && lines[0].ends_with("\"n\":1e400}")
    );
    assert!(lines[2].starts_with("\"no json, token=<redacted:token:"));
    assert_eq!(lines[3], "\"plain\"");
    let notes = text(&output.stderr);
    assert!(notes.contains("line 3") && !notes.contains("abc123"));
}

#[test]
fn markers_are_the_same_in_every_run_with_the_owners_key() {
    let home = tempfile::tempdir().unwrap();
    let first = redact(home.path(), &["--text"], "password=hunter2\n");
    let second = redact(home.path(), &["--text"], "password=hunter2\n");
    assert_eq!(first.stdout, second.stdout);
    let passing = redact(home.path(), &["--text", "--ephemeral-key"], "password=hunter2\n");
    assert_ne!(first.stdout, passing.stdout);
    let again = redact(home.path(), &["--text"], &text(&first.stdout));
    assert_eq!(again.stdout, first.stdout);
}

#[test]
fn home_is_labelled_unless_paths_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_string_lossy().into_owned();
    let output = redact(home.path(), &["--text"], &format!("in {path}/x and {path}y\n"));
    assert_eq!(text(&output.stdout), format!("in ~/x and {path}y\n"));
    let kept = redact(home.path(), &["--text", "--keep-paths"], &format!("in {path}/x\n"));
    assert_eq!(text(&kept.stdout), format!("in {path}/x\n"));
}

#[test]
fn the_report_and_the_map_are_private_and_hold_no_value_in_clear() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
    let output = redact(
        home.path(),
        &[
            "--jsonl",
            "--report",
            "report.json",
            "--reveal-map",
            "map.age",
            "--recipient",
            recipient,
        ],
        "{\"password\":\"hunter2\"}\n",
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for name in ["report.json", "map.age"] {
        let file = home.path().join(name);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!text(&std::fs::read(&file).unwrap()).contains("hunter2"));
    }
    let map = std::fs::read(home.path().join("map.age")).unwrap();
    assert!(map.starts_with(b"age-encryption.org/v1"));
}

#[test]
fn a_scan_names_rule_and_place_and_never_the_value() {
    let home = tempfile::tempdir().unwrap();
    let bundle = home.path().join("bundle");
    std::fs::create_dir(&bundle).unwrap();
    std::fs::write(bundle.join("notes.txt"), "fine\nDB_PASSWORD=hunter2\n").unwrap();
    std::fs::write(bundle.join("events.jsonl"), "{}\n{\"env\":{\"apiKey\":\"abc123def456\"}}\n")
        .unwrap();
    let scan = |arguments: &[&str]| {
        traj_command(home.path()).arg("scan").args(arguments).output().unwrap()
    };
    let output = scan(&["bundle"]);
    assert_eq!(output.status.code(), Some(3));
    insta::assert_snapshot!(text(&output.stdout), @r"
    bundle/events.jsonl:2: api-key at /env/apiKey
    bundle/notes.txt:2: password
    2 findings in 2 files
    ");
    let document = text(&scan(&["--json", "bundle"]).stdout);
    assert!(
        document.contains("\"rule\": \"api-key\"")
            && !document.contains("hunter2")
            && !document.contains("abc123")
    );

    let redacted = redact(home.path(), &["--text"], "fine\nDB_PASSWORD=hunter2\n");
    std::fs::write(bundle.join("notes.txt"), &redacted.stdout).unwrap();
    std::fs::remove_file(bundle.join("events.jsonl")).unwrap();
    assert_eq!(scan(&["bundle"]).status.code(), Some(0));
}

#[test]
fn a_scan_looks_into_archives_where_they_are() {
    let home = tempfile::tempdir().unwrap();
    let ticket = rows::message("a1", None, 1, rows::user("ticket desk-4711"));
    let session = format!("{}\n{ticket}\n", rows::HEADER);
    std::fs::write(home.path().join("s1.jsonl"), session).unwrap();
    let export = ["export", "--session", "s1.jsonl", "--output-root", ".", "--output", "b"];
    let exported =
        traj_command(home.path()).args(export).args(["--archive", "zip"]).output().unwrap();
    assert_eq!(exported.status.code(), Some(0), "{}", text(&exported.stderr));
    let scan = |arguments: &[&str]| {
        traj_command(home.path()).arg("scan").args(arguments).output().unwrap()
    };
    assert_eq!(scan(&["b.zip"]).status.code(), Some(0));

    let rule = "[[rules]]\nid = \"desk\"\nregex = \"desk-[0-9]+\"\nkeywords = [\"desk-\"]\n";
    std::fs::write(home.path().join("rules.toml"), rule).unwrap();
    let found = scan(&["b.zip", "--rules", "rules.toml"]);
    assert_eq!(found.status.code(), Some(3));
    assert!(text(&found.stdout).contains("b.zip/events.jsonl:1: desk"));

    std::fs::write(home.path().join("cut.zip"), "PK\u{3}\u{4}").unwrap();
    assert_ne!(scan(&["cut.zip"]).status.code(), Some(0));
}

#[test]
fn rules_are_listed_checked_explained_and_refused() {
    let home = tempfile::tempdir().unwrap();
    let rules = |arguments: &[&str]| {
        traj_command(home.path()).arg("rules").args(arguments).output().unwrap()
    };
    assert!(text(&rules(&["list"]).stdout).lines().count() > 150);
    assert_eq!(rules(&["check"]).status.code(), Some(0));
    assert!(text(&rules(&["explain", "github-pat"]).stdout).contains("ghp_"));
    assert_eq!(rules(&["explain", "nothing"]).status.code(), Some(2));

    std::fs::write(
        home.path().join("rules.toml"),
        "[[rules]]\nid = \"desk\"\nregex = \"desk-[0-9]+\"\nkeywords = [\"desk-\"]\n",
    )
    .unwrap();
    let output = redact(home.path(), &["--text", "--rules", "rules.toml"], "see desk-12345\n");
    assert!(text(&output.stdout).starts_with("see <redacted:desk:"));

    std::fs::write(home.path().join("bad.toml"), "[[rules]]\nid = \"x\"\nregexp = \"y\"\n")
        .unwrap();
    let output = redact(home.path(), &["--text", "--rules", "bad.toml"], "x\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("line 3"), "{}", text(&output.stderr));
}

/// Sessions in databases and compressed files are searched and copied as rows.
#[test]
fn packed_sessions_are_searched_and_redacted() {
    let home = tempfile::tempdir().unwrap();
    let database = home.path().join("work/goose.db");
    std::fs::create_dir_all(database.parent().unwrap()).unwrap();
    databases::make(&database, "goose");
    let secret = "ghp_R7kQ2mVx9LtB4nZc8WpY1sHd6GfJ3aKe5TuN";
    databases::with_connection(&database, |connection| {
        let content = format!(r#"[{{"type":"text","text":"the key is {secret}"}}]"#);
        let sql = "update messages set content_json = ?1 where id = (select min(id) from messages)";
        assert_eq!(connection.execute(sql, [content]).unwrap(), 1);
    });
    let row =
        format!("{{\"type\":\"session\",\"version\":3,\"id\":\"p1\",\"note\":\"{secret}\"}}\n");
    let packed = zstd::encode_all(row.as_bytes(), 3).unwrap();
    std::fs::write(home.path().join("work/p1.jsonl.zst"), packed).unwrap();
    std::fs::write(home.path().join("work/other.db"), b"SQLite format 3\0 but not really").unwrap();
    let run = |arguments: &[&str]| traj_command(home.path()).args(arguments).output().unwrap();
    let output = run(&["scan", "work", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stdout);
    assert!(!said.contains(secret));
    let document: serde_json::Value = serde_json::from_str(&said).unwrap();
    let findings = document["result"]["findings"].as_array().unwrap();
    let files: Vec<&str> = findings.iter().filter_map(|one| one["file"].as_str()).collect();
    let session = files.iter().find(|file| file.starts_with("work/goose.db#")).unwrap();
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.contains(&"work/p1.jsonl.zst"), "{files:?}");
    let skipped = document["result"]["skipped"].to_string();
    assert!(skipped.contains("work/other.db"), "{skipped}");
    for name in [*session, "work/p1.jsonl.zst"] {
        let output = run(&["scan", name]);
        assert_eq!(output.status.code(), Some(3), "{name}: {}", text(&output.stderr));
        let output = run(&["redact", name]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
        let rows = text(&output.stdout);
        assert!(rows.contains("<redacted:github") && !rows.contains(secret), "{rows}");
        let is_json = |row: &str| serde_json::from_str::<serde_json::Value>(row).is_ok();
        assert!(rows.lines().all(is_json) && rows.lines().count() > 0, "{rows}");
    }
    assert_eq!(run(&["redact", "no-such-session"]).status.code(), Some(1));
}
