//! `traj export --session-key`: sessions as an OpenClaw store names them.

use traj_tests::export_home::{ExportHome as Home, result};
use traj_tests::rows::HEADER;
use traj_tests::traj_binary::traj_command;

#[test]
fn a_key_finds_its_session_in_the_default_store() {
    let home = Home::new();
    home.folder.create_dir_all(".openclaw/agents/ops/sessions").unwrap();
    let folder = home.folder.open_dir(".openclaw/agents/ops/sessions").unwrap();
    home.folder.copy("s1.jsonl", &folder, "s1.jsonl").unwrap();
    folder.write("sessions.json", r#"{"agent:ops:main":{"sessionId":"s1"}}"#).unwrap();
    let export = |key: &str| {
        home.traj(&["export", "--session-key", key, "--workspace", "ws", "--output", "k", "--json"])
    };
    assert!(export("agent:ops:main").status.success());
    let unknown = export("agent:ops:other");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(!result(&unknown)["error"]["hints"].as_array().unwrap().is_empty());
    folder.write("sessions.json", "{torn").unwrap();
    assert_eq!(export("agent:ops:main").status.code(), Some(4));
}

#[test]
fn the_default_store_is_that_of_the_former_state_directory_if_only_that_is_there() {
    let home = Home::new();
    home.folder.create_dir_all(".clawdbot/agents/main/sessions").unwrap();
    let folder = home.folder.open_dir(".clawdbot/agents/main/sessions").unwrap();
    home.folder.copy("s1.jsonl", &folder, "s1.jsonl").unwrap();
    folder.write("sessions.json", r#"{"agent:main:main":{"sessionId":"s1"}}"#).unwrap();
    let export = |name: &str| {
        let key = ["export", "--session-key", "agent:main:main", "--workspace", "ws"];
        home.traj(&[&key[..], &["--output", name, "--json"]].concat())
    };
    assert!(export("former").status.success());
    assert!(home.folder.exists(".clawdbot/traj") && !home.folder.exists(".openclaw"));
    home.folder.create_dir(".openclaw").unwrap();
    assert_eq!(export("current").status.code(), Some(1));
}

#[test]
fn a_store_leads_to_the_files_its_entries_name_however_it_is_written() {
    let home = Home::new();
    for agent in ["main", "ops"] {
        home.folder.create_dir_all(format!("state/agents/{agent}/sessions")).unwrap();
    }
    let sessions = home.folder.open_dir("state/agents/main/sessions").unwrap();
    // The default name leads to a session without entries.
    sessions.write("s1.jsonl", HEADER).unwrap();
    home.folder.copy("s1.jsonl", &sessions, "own.jsonl").unwrap();
    let ops = home.folder.open_dir("state/agents/ops/sessions").unwrap();
    home.folder.copy("s1.jsonl", &ops, "theirs.jsonl").unwrap();
    let place = home.path().join("state/agents");
    let place = place.display();
    let files = [
        ("relative", "own.jsonl".to_owned()),
        ("absolute", format!("{place}/main/sessions/own.jsonl")),
        ("sibling", "../../ops/sessions/theirs.jsonl".to_owned()),
        ("absolute-sibling", format!("{place}/ops/sessions/theirs.jsonl")),
    ];
    let entries: Vec<String> = files
        .iter()
        .map(|(key, file)| format!(r#""{key}":{{"sessionId":"s1","sessionFile":"{file}"}}"#))
        .collect();
    sessions.write("sessions.json", format!("{{{}}}", entries.join(","))).unwrap();
    let root = home.path().display();
    let stores = [
        ("state/agents/main/sessions", "sessions.json".to_owned()),
        ("state/agents/main/sessions", "./sessions.json".to_owned()),
        ("", "state/agents/main/sessions/sessions.json".to_owned()),
        ("", format!("{root}//state/agents/main/sessions/sessions.json")),
        ("", format!("{root}/state/./agents/main/sessions/sessions.json")),
        ("", format!("{root}/state/agents/ops/../main/sessions/sessions.json")),
    ];
    for (folder, store) in &stores {
        for (key, _) in &files {
            let output = traj_command(home.path())
                .current_dir(home.path().join(folder))
                .args(["export", "--session-key", key, "--store", store])
                .args(["--output-root", "~/out", "--json"])
                .output()
                .unwrap();
            assert_eq!(result(&output)["result"]["eventCount"], 1, "{key} in {store}");
        }
    }
}
