//! The real OpenClaw writes a session, traj trims it, and OpenClaw loads it again.
#![expect(clippy::disallowed_methods, reason = "looks at the session that OpenClaw wrote")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use traj_tests::host::pinned::installed;
use traj_tests::traj_binary::traj_command;

const VERSION: &str = "2026.6.1";
const SENTINEL: &str = "[trimmed by self] short";

/// OpenClaw's own session manager, in a separate process.
struct OpenClaw {
    module: PathBuf,
    home: tempfile::TempDir,
}

impl OpenClaw {
    fn new() -> Option<Self> {
        let module = installed("openclaw", VERSION)?;
        Some(Self { module, home: tempfile::tempdir().unwrap() })
    }

    fn ask(&self, verb: &str, place: &Path) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("openclaw/session.mjs");
        let output = Command::new("node")
            .arg(script)
            .arg(&self.module)
            .arg(verb)
            .arg(place)
            .env("HOME", self.home.path())
            .output()
            .expect("node runs where npm does");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A session with branches, labels and tool calls.
    fn session(&self) -> PathBuf {
        let file = self.ask("make", self.home.path());
        PathBuf::from(file.as_str().unwrap())
    }

    fn trim(&self, session: &Path, arguments: &[&str]) -> Output {
        let mut command = traj_command(self.home.path());
        let output =
            command.args(["trim", "--session"]).arg(session).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    }
}

/// Replaces the result of the call and the input of the trim call, as a trim
/// does; everything else stays.
fn trimmed(loaded: &mut Value) {
    match loaded {
        Value::Array(items) => items.iter_mut().for_each(trimmed),
        Value::Object(members) => {
            if members.get("toolCallId") == Some(&json!("call_1|fc_1")) {
                members["content"] = json!([{ "type": "text", "text": SENTINEL }]);
            }
            if members.get("id") == Some(&json!("trim_1")) {
                members["arguments"] =
                    json!({ "tool_call_id": "call_1|fc_1", "_self_compacted": true });
            }
            members.values_mut().for_each(trimmed);
        }
        _ => {}
    }
}

#[test]
fn openclaw_loads_a_trimmed_session_with_every_entry_and_goes_on_with_it() {
    let Some(openclaw) = OpenClaw::new() else { return };
    let file = openclaw.session();
    let original = fs::read(&file).unwrap();
    let before = openclaw.ask("load", &file);
    assert_eq!(before["entries"].as_array().unwrap().len(), 12);
    assert_eq!(before["branch"].as_array().unwrap().len(), 9);
    assert!(before["context"].to_string().contains("the same call on another branch"));
    assert!(before["context"].to_string().contains("a long listing"));

    let call = ["--tool-call", "call_1|fc_1", "--replacement", "short", "--self-call", "trim_1"];
    openclaw.trim(&file, &call);
    let trimmed_bytes = fs::read(&file).unwrap();
    assert_ne!(trimmed_bytes, original);
    let after = openclaw.ask("load", &file);
    let mut expected = before.clone();
    trimmed(&mut expected);
    assert_ne!(expected, before);
    assert_eq!(after, expected);
    assert_eq!(fs::read(&file).unwrap(), trimmed_bytes, "OpenClaw finds nothing to put right");

    // OpenClaw continues at the same leaf.
    let gone_on = openclaw.ask("go-on", &file);
    let entries = gone_on["entries"].as_array().unwrap();
    assert_eq!(entries[..12], *after["entries"].as_array().unwrap());
    assert_eq!(entries[12]["parentId"], after["leaf"]);
    assert_eq!(gone_on["branch"].as_array().unwrap().len(), 11);
    assert!(fs::read(&file).unwrap().starts_with(&trimmed_bytes));

    // The undo restores the trimmed result and keeps the new turn.
    openclaw.trim(&file, &["--undo"]);
    assert!(fs::read(&file).unwrap().starts_with(&original));
    let restored = openclaw.ask("load", &file);
    assert_eq!(
        restored["entries"].as_array().unwrap()[..12],
        *before["entries"].as_array().unwrap()
    );
    assert_eq!(restored["leaf"], gone_on["leaf"]);
}

#[test]
fn openclaw_loads_what_was_trimmed_by_rule() {
    let Some(openclaw) = OpenClaw::new() else { return };
    let file = openclaw.session();
    let before = openclaw.ask("load", &file);
    openclaw.trim(&file, &["--auto", "--older-than", "0", "--larger-than", "100"]);
    let after = openclaw.ask("load", &file);
    assert!(!after["entries"].to_string().contains("a long listing"));
    for same in ["header", "recovered", "leaf", "branch", "roots"] {
        assert_eq!(after[same], before[same], "{same}");
    }
    // The parents and the roles of the entries.
    let frame = |loaded: &Value| -> Vec<Value> {
        let entries = loaded["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| json!([entry["id"], entry["parentId"], entry["message"]["role"]]))
            .collect()
    };
    assert_eq!(frame(&after), frame(&before));
    let messages = |loaded: &Value| loaded["context"]["messages"].as_array().unwrap().len();
    assert_eq!(messages(&after), messages(&before));
}
