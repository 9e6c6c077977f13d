//! The rows of each program's database: the same as in `tests/fixtures`.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;

use serde_json::Value;
use traj_core::limits::Reading;
use traj_tests::export_home::result;
use traj_tests::session_fixtures::agent_files::AGENT_FILES;
use traj_tests::session_fixtures::databases::{COMPRESSED_ROW, DATABASES, gathered, make};
use traj_tests::traj_binary::traj_command;

#[test]
fn a_session_becomes_the_rows_of_its_fixture() {
    let folder = tempfile::tempdir().unwrap();
    for (program, _) in DATABASES.iter().filter(|(program, _)| *program != "openclaw") {
        make(&folder.path().join(program), program);
        let name = format!("{program}/session");
        let expected = AGENT_FILES.iter().find(|file| file.name == name).unwrap().content;
        let rows = gathered(folder.path(), &format!("{program}#s1"), Reading::standard()).unwrap();
        for (row, expected) in rows.lines().zip(expected.lines()) {
            assert_eq!(row, expected, "{program}");
        }
        assert_eq!(rows, expected, "{program}");
    }
}

#[test]
fn rows_of_openclaw_are_those_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    make(&folder.path().join("agent.sqlite"), "openclaw");
    let open = |name: &str| gathered(folder.path(), name, Reading::standard());
    let rows = open("agent.sqlite#s1").unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows[3], COMPRESSED_ROW);
    // The active branch ends before the last entry.
    let leaf = r#"{"type":"leaf","id":"leaf-0a-4","parentId":"0a-4","targetId":"0a-4"}"#;
    assert_eq!((rows.len(), rows[6]), (7, leaf));
    let events = open("agent.sqlite#s1.trajectory.jsonl").unwrap();
    assert_eq!(events.lines().count(), 2);
    assert!(open("agent.sqlite#s2.trajectory.jsonl").unwrap_err().is_not_found());
    assert!(open("agent.sqlite#s9").unwrap_err().is_not_found());
    // The only session that is not a sub-agent's.
    assert_eq!(open("agent.sqlite").unwrap().lines().count(), 7);
}

#[test]
fn commands_read_a_session_in_a_database() {
    let home = tempfile::tempdir().unwrap();
    for (program, calls, tokens) in
        [("crush", 3, 120), ("goose", 4, 120), ("openclaw", 1, 220), ("opencode", 8, 373)]
    {
        make(&home.path().join(program), program);
        let session = format!("{program}#s1");
        let output = traj_command(home.path()).args(["inspect", "--json", &session]).output();
        let found = &result(&output.unwrap())["result"];
        assert_eq!(found["calls"]["calls"], calls, "{program}: {found}");
        assert_eq!(found["usage"]["inputTokens"], tokens, "{program}: {found}");
        let output = traj_command(home.path())
            .args(["export", &session, "--output-root", ".", "--output"])
            .arg(format!("{program}-bundle"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{program}: {output:?}");
        let bundle = home.path().join(format!("{program}-bundle"));
        let verified = traj_command(home.path()).arg("verify").arg(&bundle).output().unwrap();
        assert!(verified.status.success(), "{program}: {verified:?}");
    }
}

#[test]
fn a_fork_counts_only_what_it_did_itself() {
    let home = tempfile::tempdir().unwrap();
    make(&home.path().join("opencode"), "opencode");
    let inspect = |session: &str| {
        let output = traj_command(home.path()).args(["inspect", "--json", session]).output();
        let found = &result(&output.unwrap())["result"];
        (found["calls"]["calls"].clone(), found["usage"]["inputTokens"].clone())
    };
    assert_eq!(inspect("opencode#s3"), (0.into(), 70.into()));
}

#[test]
fn a_database_with_several_sessions_needs_a_name() {
    let home = tempfile::tempdir().unwrap();
    make(&home.path().join("opencode"), "opencode");
    let output = traj_command(home.path()).args(["show", "./opencode"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("has 2 sessions") && said.contains("opencode#s3"), "{said}");
    assert_eq!(output.status.code(), Some(2));
    let output = traj_command(home.path()).args(["show", "opencode#s9"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("there is no session s9"), "{said}");
}

#[test]
fn a_compressed_file_is_read_like_the_file_itself() {
    let home = tempfile::tempdir().unwrap();
    let rollout = include_str!("../../fixtures/rollouts/new-plain.jsonl");
    let packed = zstd::encode_all(rollout.as_bytes(), 3).unwrap();
    fs::write(home.path().join("rollout-1.jsonl.zst"), packed).unwrap();
    fs::write(home.path().join("rollout-1.jsonl"), rollout).unwrap();
    let inspect = |file: &str| {
        let output = traj_command(home.path()).args(["inspect", "--json", file]).output();
        let found = &result(&output.unwrap())["result"];
        (found["calls"].clone(), found["usage"].clone(), found["events"].clone())
    };
    assert_eq!(inspect("rollout-1.jsonl.zst"), inspect("rollout-1.jsonl"));
}

#[test]
fn what_opencode_exports_is_the_session_without_its_sub_agents() {
    let folder = tempfile::tempdir().unwrap();
    let export = r#"{
  "info": {"id": "ses_1", "directory": "/srv/app", "title": "t", "version": "1.18.33",
    "time": {"created": 1780308000000, "updated": 1780308090000}},
  "messages": [
    {"info": {"id": "m1", "sessionID": "ses_1", "role": "user", "time": {"created": 1780308001000}},
     "parts": [{"id": "p1", "type": "text", "text": "fix\nthe import"}]},
    {"info": {"id": "m2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1780308002000, "completed": 1780308009000},
      "modelID": "small-1", "providerID": "acme", "cost": 0.5, "finish": "stop",
      "tokens": {"input": 100, "output": 20, "reasoning": 5, "cache": {"read": 40, "write": 3}}},
     "parts": [{"id": "p2", "type": "tool", "tool": "bash", "callID": "t1", "state": {"status": "completed",
       "input": {"command": "make"}, "output": "no", "metadata": {"exit": 2}, "time": {"start": 1780308003000, "end": 1780308005000}}}]}
  ]
}"#;
    fs::write(folder.path().join("s.json"), export).unwrap();
    let rows = gathered(folder.path(), "s.json", Reading::standard()).unwrap();
    let tables: Vec<Value> = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap()["table"].clone())
        .collect();
    assert_eq!(tables, ["session", "message", "part", "part", "part", "message"]);
}

#[test]
fn tail_shows_the_rows_of_a_database() {
    let home = tempfile::tempdir().unwrap();
    for (program, _) in DATABASES {
        make(&home.path().join(program), program);
        let session = format!("{program}#s1");
        let output = traj_command(home.path()).args(["tail", "--json", &session]).output().unwrap();
        assert!(output.status.success(), "{program}: {output:?}");
        assert!(output.stdout.iter().filter(|byte| **byte == b'\n').count() >= 2, "{program}");
    }
}

#[test]
fn only_plain_files_of_known_programs_are_changed() {
    let home = tempfile::tempdir().unwrap();
    make(&home.path().join("goose"), "goose");
    let goose = AGENT_FILES.iter().find(|file| file.name == "goose/session").unwrap().content;
    fs::write(home.path().join("s1.jsonl"), goose).unwrap();
    for (file, what) in [("goose#s1", "databases"), ("./goose", "databases"), ("s1.jsonl", "goose")]
    {
        for command in [vec!["repair", file], vec!["trim", "--auto", file]] {
            let output = traj_command(home.path()).args(&command).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
            assert!(
                said.contains("does not support") && said.contains(what),
                "{command:?}: {said}"
            );
        }
    }
    assert_eq!(fs::read_to_string(home.path().join("s1.jsonl")).unwrap(), goose);
}
