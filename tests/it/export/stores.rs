//! `traj export --session-key`: sessions by their key in an OpenClaw store.

use traj_export::chat::{ChatAnswer, ChatCommand, ChatExport, Sender};
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
    // The file with the default name is a session without entries.
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

#[test]
fn a_request_from_a_chat_is_carried_out_and_answered() {
    let home = Home::new();
    home.folder.create_dir_all(".openclaw/agents/ops/sessions").unwrap();
    let folder = home.folder.open_dir(".openclaw/agents/ops/sessions").unwrap();
    home.folder.copy("s1.jsonl", &folder, "s1.jsonl").unwrap();
    folder.write("sessions.json", r#"{"agent:ops:main":{"sessionId":"s1"}}"#).unwrap();
    let command = ChatCommand::parse("/export-trajectory bug-1").unwrap().unwrap();
    let workspace = home.path().join("ws").display().to_string();
    let request = ChatExport::new(Sender::Owner, "agent:ops:main", workspace, command).unwrap();
    let arguments = request.arguments().unwrap();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let exported = home.traj(&arguments);
    assert!(exported.status.success());
    let document = String::from_utf8(exported.stdout).unwrap();
    let answer = ChatAnswer::from_document(&document).unwrap().unwrap();
    assert_eq!(answer.path, ".openclaw/trajectory-exports/bug-1");
    assert!(answer.events > 0 && answer.digest.starts_with("sha256:"));
    assert!(home.folder.exists("ws/.openclaw/trajectory-exports/bug-1/manifest.json"));

    let mut unknown = request;
    unknown.session_key = "agent:ops:other".to_owned();
    let failed = home.traj(&["export", "--request", &unknown.encode().unwrap(), "--json"]);
    let document = String::from_utf8(failed.stdout).unwrap();
    assert_eq!(ChatAnswer::from_document(&document), Ok(None));
    assert_eq!(home.traj(&["export", "--request", "e30"]).status.code(), Some(2));
    let both = home.traj(&["export", "--request", "e30", "--session-key", "k"]);
    assert_eq!(both.status.code(), Some(2));
}
