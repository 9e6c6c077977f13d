//! Every session of a home.

use serde_json::Value;
use traj_tests::export_home::ExportHome as Home;

use super::{done, ended, files, verified};

/// Sessions where their programs store them.
const SESSIONS: [(&str, &str); 6] = [
    (
        ".codex/sessions/2026/06/01/rollout-u.jsonl",
        include_str!("../../fixtures/rollouts/new-plain.jsonl"),
    ),
    (
        ".claude/projects/-work-app/v.jsonl",
        include_str!("../../fixtures/claude-code/v2-1-requests.jsonl"),
    ),
    (
        ".pi/agent/sessions/--work-app--/2026-06-01_u.jsonl",
        include_str!("../../fixtures/pi/session.jsonl"),
    ),
    (
        ".qwen/projects/-work-app/chats/u.jsonl",
        include_str!("../../fixtures/qwen-code/session.jsonl"),
    ),
    (".continue/sessions/u-1.json", include_str!("../../fixtures/continue/session.json")),
    (".copilot/session-state/u/events.jsonl", include_str!("../../fixtures/copilot/session.jsonl")),
];

fn put(home: &Home, path: &str, content: &str) {
    let (folder, _) = path.rsplit_once('/').unwrap();
    home.folder.create_dir_all(folder).unwrap();
    home.folder.write(path, content).unwrap();
}

fn home() -> Home {
    let home = Home::new();
    for (number, (path, content)) in SESSIONS.into_iter().enumerate() {
        // Several of them have the same session id.
        put(&home, path, &content.replace(r#""s1""#, &format!(r#""s{number}""#)));
    }
    home
}

fn ship_all(home: &Home) -> Value {
    done(home, "ship", &home.traj(&["ship", "--all", "--to", "lake", "--json"]))
}

#[test]
fn sessions_of_every_agent_are_shipped_once() {
    let home = home();
    let listed = done(&home, "sessions", &home.traj(&["sessions", "--json"]));
    let listed = listed["sessions"].as_array().unwrap().len() as u64;
    assert_eq!(listed, SESSIONS.len() as u64);
    let first = ship_all(&home);
    assert_eq!((&first["sessions"], &first["shipped"]), (&listed.into(), &listed.into()));
    let before = files(&home, "lake");
    for agent in ["codex", "claude-code", "pi", "qwen-code", "continue", "copilot"] {
        let folder = format!("agent={agent}");
        let is_there = before.keys().any(|name| name.to_string_lossy().contains(&folder));
        assert!(is_there, "{agent}: {:?}", before.keys());
    }
    assert_eq!(verified(&home, "lake")["sessions"], listed);
    let again = ship_all(&home);
    assert_eq!((&again["unchanged"], &again["segments"]), (&listed.into(), &0.into()));
    assert_eq!(files(&home, "lake"), before);
}

#[test]
fn files_that_are_no_sessions_are_skipped_and_counted() {
    let home = home();
    put(&home, ".codex/sessions/2026/06/01/rollout-empty.jsonl", "");
    put(&home, ".claude/projects/-work-app/summary.jsonl", "{\"type\":\"noise\"}\n");
    let report = ship_all(&home);
    assert_eq!(report["shipped"], SESSIONS.len());
    assert_eq!(report["problems"], serde_json::json!([]));
    assert_eq!(
        report["sessions"].as_u64().unwrap(),
        report["shipped"].as_u64().unwrap() + report["skipped"].as_u64().unwrap()
    );
}

#[test]
fn two_files_with_one_session_id_are_not_shipped_in_turns() {
    let home = home();
    let (_, content) = SESSIONS[2];
    put(&home, ".pi/agent/sessions/--work-app--/2026-06-02_copy.jsonl", content);
    let arguments = ["ship", "--all", "--to", "lake", "--json"];
    let first = ended(&home, "ship", 1, &home.traj(&arguments))["result"].clone();
    assert_eq!((&first["shipped"], &first["failed"]), (&SESSIONS.len().into(), &1.into()));
    let before = files(&home, "lake");
    let again = ended(&home, "ship", 1, &home.traj(&arguments))["result"].clone();
    assert_eq!((&again["segments"], &again["failed"]), (&0.into(), &1.into()));
    assert_eq!(files(&home, "lake"), before);
}
