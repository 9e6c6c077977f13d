//! `traj trim` on sessions of agents: found by id, below a root that was moved,
//! and with queues that wait.
#![expect(clippy::disallowed_methods, reason = "tests look at their own temporary directories")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;
use traj_tests::json_schema::violations;
use traj_tests::traj_binary::{printed, traj_command};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/ws"}"#;
const RESULT: &str = r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-06-01T10:00:02.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"a long listing of files"}],"isError":false}}"#;

/// A home whose agents are below `root`, with one session of the agent `main`.
fn home_with_agents(root: &str) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join(root).join("agents/main/sessions");
    fs::create_dir_all(&sessions).unwrap();
    fs::write(sessions.join("s1.jsonl"), format!("{HEADER}\n{RESULT}\n")).unwrap();
    (home, sessions)
}

fn traj(home: &Path, root: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = traj_command(home);
    command.envs(root.map(|root| ("OPENCLAW_PATH", home.join(root))));
    command.args(arguments).output().unwrap()
}

fn said(home: &Path, output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    let real = fs::canonicalize(home).unwrap();
    text.replace(real.to_str().unwrap(), "HOME").replace(home.to_str().unwrap(), "HOME")
}

#[test]
fn every_verb_finds_the_agents_below_openclaw_path() {
    let (home, sessions) = home_with_agents("elsewhere");
    let root = Some("elsewhere");
    let listed = printed(&traj(home.path(), root, &["sessions", "--json"]));
    assert!(listed.contains("agents/main/sessions/s1.jsonl"), "{listed}");
    for verb in
        [&["show", "s1"][..], &["tail", "s1"], &["inspect", "s1"], &["codex", "status", "s1"]]
    {
        let output = traj(home.path(), root, verb);
        assert!(output.status.success(), "{verb:?}: {}", said(home.path(), &output));
        assert!(!traj(home.path(), None, verb).status.success(), "{verb:?}");
    }
    fs::write(
        sessions.join("sessions.json"),
        r#"{"agent:main:main":{"sessionId":"s1","updatedAt":1780308000000}}"#,
    )
    .unwrap();
    for verb in [
        &["export", "--session-key", "agent:main:main", "--workspace", "."][..],
        &["show", "agent:main:main"],
        &["trim", "agent:main:main", "--tool-call", "c1"],
    ] {
        let output = traj(home.path(), root, verb);
        assert!(output.status.success(), "{verb:?}: {}", said(home.path(), &output));
    }
    let shown = printed(&traj(home.path(), root, &["config", "show", "--origin"]));
    let row = shown.lines().find(|line| line.contains("elsewhere")).unwrap_or_default();
    assert!(row.contains("OPENCLAW_PATH"), "{shown}");
}

#[test]
fn a_session_is_found_by_agent_and_id() {
    let (home, sessions) = home_with_agents(".openclaw");
    let find = ["trim", "--agent", "main", "--session-id", "s1", "--tool-call", "c1"];
    assert!(traj(home.path(), None, &find).status.success());
    assert!(fs::read_to_string(sessions.join("s1.jsonl")).unwrap().contains("[trimmed by self]"));
    // The directory of the agent is next to its sessions.
    fs::create_dir(sessions.join("../agent")).unwrap();
    let folder = ".openclaw/agents/main/agent";
    let find = ["trim", "--agent-dir", folder, "--session-id", "s1", "--undo"];
    assert!(traj(home.path(), None, &find).status.success());
    assert!(fs::read_to_string(sessions.join("s1.jsonl")).unwrap().contains("a long listing"));
}

#[test]
fn a_lookup_without_an_id_or_without_a_file_says_so() {
    let (home, _) = home_with_agents(".openclaw");
    let nameless = traj(home.path(), None, &["trim", "--agent-dir", "a/agent", "--auto"]);
    assert_eq!(nameless.status.code(), Some(2));
    insta::assert_snapshot!(said(home.path(), &nameless), @r"
    error: the context has no session id; perhaps no session is active
      hint: pass the id with --session-id; `traj sessions` lists the sessions
    ");
    let arguments =
        ["trim", "--agent", "main", "--agent-dir", "a/agent", "--session-id", "s2", "--auto"];
    let missing = traj(home.path(), None, &arguments);
    assert_eq!(missing.status.code(), Some(1));
    insta::assert_snapshot!(said(home.path(), &missing), @r"
    error: session s2 has no file; tried: HOME/.openclaw/agents/main/sessions/s2.jsonl, HOME/a/agent/sessions/s2.jsonl, HOME/a/sessions/s2.jsonl
      hint: check --agent and --agent-dir, and OPENCLAW_PATH if the agents are elsewhere
    ");
}

#[test]
fn queues_that_wait_are_listed_until_they_have_run() {
    let (home, sessions) = home_with_agents(".openclaw");
    let none = traj(home.path(), None, &["trim", "--pending"]);
    assert!(none.status.success());
    assert_eq!(printed(&none), "no trims are queued\n");

    let session = ["trim", "--agent", "main", "--session-id", "s1"];
    let enqueue = ["--tool-call", "c1", "--self-call", "d1", "--enqueue"];
    assert!(traj(home.path(), None, &[&session[..], &enqueue].concat()).status.success());
    // Its session does not exist any more.
    let queue = fs::read_to_string(sessions.join("s1.trim-queue.jsonl")).unwrap();
    fs::write(sessions.join("gone.trim-queue.jsonl"), format!("{queue}not a trim\n")).unwrap();

    let listed = traj(home.path(), None, &["trim", "--pending", "--json"]);
    assert!(listed.status.success());
    let document: Value = serde_json::from_str(&printed(&listed)).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema/cli/trim.schema.json");
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert_eq!(violations(&schema, &document), Vec::<String>::new());
    let queues = document.pointer("/result/pending").and_then(Value::as_array).unwrap();
    let counts: Vec<_> = queues
        .iter()
        .map(|queue| {
            let file = Path::new(queue["sessionFile"].as_str().unwrap());
            let name = file.file_name().unwrap().to_str().unwrap();
            (name, queue["trims"].as_u64().unwrap(), queue["unreadableLines"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(counts, [("gone.jsonl", 1, 1), ("s1.jsonl", 1, 0)]);

    assert!(traj(home.path(), None, &[&session[..], &["--queue", "-"]].concat()).status.success());
    let folder = sessions.to_str().unwrap();
    let left = printed(&traj(home.path(), None, &["trim", "--pending", "--folder", folder]));
    assert!(left.contains("gone.jsonl  1 trim since "), "{left}");
    assert!(!left.contains("s1.jsonl"), "{left}");
    let other = traj(home.path(), None, &["trim", "--pending", "--agent", "other"]);
    assert_eq!(printed(&other), "no trims are queued\n");
}
