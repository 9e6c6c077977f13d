//! `traj prune`, `repair`, `sessions` and `doctor` end to end.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use traj_tests::rows;
use traj_tests::traj_binary::{masked, names_in, printed, traj_command};

fn run(home: &Path, arguments: &[&str]) -> Output {
    traj_command(home).args(arguments).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_str(&printed(output)).unwrap()
}

fn event(session: &str) -> String {
    rows::event("session.ended", &rows::at(0), 1)
        .of(session)
        .with("sourceSeq", 1)
        .text("provider", "openai")
        .text("modelId", "gpt")
        .with("data", r#"{"status":"success","usage":{"input":5,"output":2}}"#)
        .line()
}

fn pointer(session: &str, target: &Path) -> String {
    rows::pointer(session, target.display()).json()
}

#[test]
fn prune_removes_what_is_proven_and_never_anything_else() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join("sessions");
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir_all(sessions.join("gone.trajectory.blobs")).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let put = |name: &str, content: &str| fs::write(sessions.join(name), content).unwrap();
    put("sessions.json", r#"{"k":{"sessionId":"listed"}}"#);
    put("live.jsonl", "");
    put("live.trajectory.jsonl", &event("live"));
    put("listed.trajectory.jsonl", &event("listed"));
    put("gone.trajectory.jsonl", &event("gone"));
    put("gone.codex-binding.json", "{}");
    let blob = "a".repeat(64);
    fs::write(sessions.join("gone.trajectory.blobs").join(&blob), "text").unwrap();
    // A valid pointer, one possibly copied from another directory, and three hostile ones.
    fs::write(elsewhere.join("moved.jsonl"), event("moved")).unwrap();
    let for_this = format!(r#","sessionFile":"{}"}}"#, sessions.join("moved.jsonl").display());
    let moved = pointer("moved", &elsewhere.join("moved.jsonl")).replace('}', &for_this);
    put("moved.trajectory-path.json", &moved);
    fs::write(elsewhere.join("copied.jsonl"), event("copied")).unwrap();
    put("copied.trajectory-path.json", &pointer("copied", &elsewhere.join("copied.jsonl")));
    put("evil1.trajectory-path.json", &pointer("evil1", &sessions.join("sessions.json")));
    put("evil2.trajectory-path.json", &pointer("evil2", &sessions.join("live.jsonl")));
    fs::write(elsewhere.join("evil3.jsonl"), event("someone")).unwrap();
    put("evil3.trajectory-path.json", &pointer("evil3", &elsewhere.join("evil3.jsonl")));
    // A link and a hard link with sidecar names, and a session that is named like a sidecar.
    symlink("live.jsonl", sessions.join("link.trajectory.jsonl")).unwrap();
    fs::hard_link(sessions.join("live.trajectory.jsonl"), sessions.join("hard.trajectory.jsonl"))
        .unwrap();
    put("odd.trajectory.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"odd.trajectory\"}\n");
    assert!(
        Command::new("mkfifo")
            .arg(sessions.join("fifo.trajectory.jsonl"))
            .status()
            .unwrap()
            .success()
    );

    let arguments = ["prune", "--sessions", "sessions", "--older-than", "0s"];
    let before = names_in(&sessions);
    let dry = run(home.path(), &[&arguments[..], &["--dry-run", "--json"]].concat());
    let mut dry = document(&dry);
    assert_eq!(names_in(&sessions), before);
    for list in ["removed", "kept"] {
        // The order is by age, and the files may have the same time.
        dry["result"][list].as_array_mut().unwrap().sort_by_key(|item| item["place"].to_string());
    }
    insta::with_settings!({filters => vec![(r#""/[^"]*/elsewhere"#, "\"[elsewhere]")]}, {
        insta::assert_json_snapshot!(masked(dry, &[]));
    });
    let output = run(home.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        names_in(&sessions),
        [
            "fifo.trajectory.jsonl",
            "hard.trajectory.jsonl",
            "link.trajectory.jsonl",
            "listed.trajectory.jsonl",
            "live.jsonl",
            "live.trajectory.jsonl",
            "odd.trajectory.jsonl",
            "sessions.json",
        ]
    );
    assert_eq!(names_in(&elsewhere), ["copied.jsonl", "evil3.jsonl"]);
}

#[test]
fn prune_keeps_what_is_young_unless_a_budget_asks() {
    let home = tempfile::tempdir().unwrap();
    for (index, name) in ["a", "b", "c"].iter().enumerate() {
        let file = home.path().join(format!("{name}.trajectory.jsonl"));
        fs::write(&file, event(name)).unwrap();
        let stamp = format!("@{}", 1_900_000_000 + index * 100);
        assert!(Command::new("touch").args(["-d", &stamp]).arg(&file).status().unwrap().success());
    }
    assert!(run(home.path(), &["prune", "--sessions", "."]).status.success());
    assert_eq!(names_in(home.path()).len(), 3);
    assert!(run(home.path(), &["prune", "--sessions", ".", "--max-entries", "1"]).status.success());
    assert_eq!(names_in(home.path()), ["c.trajectory.jsonl"]);
    assert!(run(home.path(), &["prune", "--sessions", ".", "--max-bytes", "1"]).status.success());
    assert!(names_in(home.path()).is_empty());
}

#[test]
fn repair_reports_by_line_and_writes_a_sound_copy_beside_the_original() {
    let home = tempfile::tempdir().unwrap();
    let header = rows::header("s").text("timestamp", "2026-06-01T10:00:00Z").text("cwd", "/");
    let entry = |id: &str, parent: &str| {
        rows::entry("message", id, Some(parent), 0)
            .text("timestamp", "2026-06-01T10:00:00Z")
            .with("message", rows::user("x"))
    };
    let damaged =
        format!("{header}\n\0\0\0{}\n{{\"type\":\"mess{}\n", entry("a", "gone"), entry("b", "a"));
    fs::write(home.path().join("s.jsonl"), &damaged).unwrap();
    let report = run(home.path(), &["repair", "s.jsonl"]);
    assert_eq!(report.status.code(), Some(4));
    insta::assert_snapshot!(printed(&report), @r"
    session: 3 lines, 3 rows
    line 2 contains zero bytes; they are left out
    line 2 names a parent that does not exist; it follows the row before it
    line 3 breaks off; the unreadable part is left out
    run again with --write to write a repaired copy
    ");
    let written = run(home.path(), &["repair", "s.jsonl", "--write", "--json"]);
    assert!(written.status.success());
    insta::assert_json_snapshot!(masked(document(&written), &["/result/file", "/result/copy"]));
    assert_eq!(fs::read_to_string(home.path().join("s.jsonl")).unwrap(), damaged);
    let copy = fs::read_to_string(home.path().join("s.repaired.jsonl")).unwrap();
    let expected = [header, entry("a", "").with("parentId", "null"), entry("b", "a")];
    assert_eq!(copy, expected.map(|row| row.line()).concat());
    assert!(run(home.path(), &["repair", "s.repaired.jsonl"]).status.success());
    // A second copy never replaces the first.
    assert!(run(home.path(), &["repair", "s.jsonl", "--write"]).status.success());
    assert!(home.path().join("s.repaired-2.jsonl").exists());
}

#[test]
fn sessions_are_listed_with_what_is_known_about_them() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".openclaw/agents/main/sessions");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("sessions.json"),
        r#"{"agent:main:a":{"sessionId":"one","updatedAt":1780308005000,"status":"running"},"agent:main:b":{"sessionId":"two"}}"#,
    )
    .unwrap();
    fs::write(folder.join("one.jsonl"), "{\"type\":\"session\",\"version\":3,\"id\":\"one\"}\n")
        .unwrap();
    let answer = event("one").replace("session.ended", "model.completed");
    fs::write(folder.join("one.trajectory.jsonl"), answer + &event("one")).unwrap();
    let listed = document(&run(home.path(), &["sessions", "--json"]));
    insta::with_settings!({filters => vec![(r#""/[^"]*/\.openclaw"#, "\"[state]")]}, {
        insta::assert_json_snapshot!(masked(listed.clone(), &[]));
    });
    let keys = run(home.path(), &["sessions", "--keys"]);
    assert_eq!(printed(&keys), "agent:main:a\nagent:main:b\n");
    let in_folder = document(&run(
        home.path(),
        &["sessions", "--json", "--sessions", ".openclaw/agents/main/sessions"],
    ));
    assert_eq!(in_folder["result"]["sessions"], listed["result"]["sessions"]);
}

#[test]
fn doctor_says_where_settings_come_from_and_probes_every_sink() {
    let home = tempfile::tempdir().unwrap();
    let output = traj_command(home.path())
        .env("TRAJ_WHEN_FULL", "roll")
        .env("TRAJ_CODEX", "/nowhere/codex")
        .args(["doctor", "--probe", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut report = document(&output);
    for probe in report["result"]["probes"].as_array_mut().unwrap() {
        assert_eq!(probe["ok"], true, "{probe}");
        probe["detail"] = "[detail]".into();
    }
    insta::with_settings!({filters => vec![(r#""/[^"]*/\.openclaw"#, "\"[state]"), (r#""/tmp[^"]*""#, "\"[home]\"")]}, {
        insta::assert_json_snapshot!(masked(report, &["/result/settings/1/value"]));
    });
    // The probe leaves nothing.
    assert_eq!(names_in(&home.path().join(".openclaw/traj")), ["redaction.key"]);
    // A sink that cannot record is an error.
    fs::remove_dir_all(home.path().join(".openclaw")).unwrap();
    symlink("/nowhere", home.path().join(".openclaw")).unwrap();
    let broken = run(home.path(), &["doctor", "--probe"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(printed(&broken).contains("FAILED"));
}

#[test]
fn shells_complete_session_keys() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".openclaw/agents/main/sessions");
    fs::create_dir_all(&folder).unwrap();
    let store = r#"{"agent:main:one":{"sessionId":"one"},"agent:main:two":{"sessionId":"two"}}"#;
    fs::write(folder.join("sessions.json"), store).unwrap();
    let script = printed(&run(home.path(), &["completions", "bash"]));
    fs::write(home.path().join("completions.bash"), script).unwrap();
    let line = "traj tail --session-key agent:main:t";
    let ask = format!(
        "source completions.bash; COMP_LINE='{line}'; COMP_POINT={}; _traj_with_keys; echo \"${{COMPREPLY[@]}}\"",
        line.len()
    );
    let binary = traj_tests::traj_binary::traj_binary().parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", binary.display());
    let output = Command::new("bash")
        .args(["-c", &ask])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", path)
        .current_dir(home.path())
        .output()
        .unwrap();
    assert_eq!(printed(&output), "two\n", "{output:?}");
    let zsh = printed(&run(home.path(), &["completions", "zsh"]));
    assert!(zsh.contains(":KEY:_traj_session_keys") && zsh.starts_with("#compdef traj\n"));
    assert!(printed(&run(home.path(), &["completions", "fish"])).contains("-l session-key -x"));
}
