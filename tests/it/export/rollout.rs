//! Codex rollouts are exported to bundles with their events; files of an unknown
//! format are refused.

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::memory::MemorySources;
use traj_core::port::BundleFile;
use traj_core::run::{Fact, Place};
use traj_export::{ExportError, Selection};
use traj_tests::export_fixture::{Exported, export_from, request};
use traj_tests::rows::{self, ROLLOUT_CALL, ROLLOUT_RESULT};

const OLD: &[(&str, &str)] = &[
    (
        "session_meta",
        r#"{"id":"t1","cwd":"/home/ann/shop","cli_version":"0.135.0","model_provider":"openai"}"#,
    ),
    ("event_msg", r#"{"type":"task_started","turn_id":"u1"}"#),
    ("event_msg", r#"{"type":"user_message","message":"list files","images":[]}"#),
    ROLLOUT_CALL,
    ROLLOUT_RESULT,
    (
        "event_msg",
        r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"output_tokens":2}}}"#,
    ),
    ("event_msg", r#"{"type":"task_complete","turn_id":"u1","last_agent_message":null}"#),
];

const NEW: &[(&str, &str)] = &[
    ("session_meta", r#"{"id":"t1","history_mode":"paginated","cwd":"/home/ann/shop"}"#),
    (
        "event_msg",
        r#"{"type":"item_completed","turn_id":"u1","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"list files"}]}}"#,
    ),
    (
        "response_item",
        r#"{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{}","call_id":"c1"}"#,
    ),
    (
        "event_msg",
        r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","exit_code":1,"status":"failed","aggregated_output":"no"}}"#,
    ),
    ("token_usage_record", r#"{"response_id":"r1","usage":{"input_tokens":9,"output_tokens":2}}"#),
    ("brand_new", r#"{"a":1}"#),
];

fn rollout(rows: &[(&str, &str)]) -> String {
    rows::rollout(rows).join("\n") + "\n"
}

fn export_of(content: &str, allows_empty: bool) -> Result<Exported, ExportError> {
    let sources = MemorySources::new();
    sources.put("r.jsonl", content);
    let mut request = request();
    request.selection = Selection::file("r.jsonl");
    request.allows_empty = allows_empty;
    export_from(&sources, &request)
}

/// The transcript events of a bundle, in short form.
fn reported(exported: &Exported) -> Vec<String> {
    let mut reported = Vec::new();
    for line in exported.files[&BundleFile::Events].lines() {
        let event = Json::parse(line).unwrap();
        Dialect::Bundle.decode(&event, Place::line(1), &mut |event| match event.fact {
            Fact::Prompt(prompt) => reported.push(format!("prompt {}", prompt.content.to_text())),
            Fact::ToolCall(call) => {
                reported.push(format!("call {} {}", call.id.unwrap(), call.name));
            }
            Fact::ToolResult(result) => {
                let (id, outcome) = (result.id.unwrap(), &result.outcome);
                reported.push(format!("result {id} {} {:?}", outcome.name(), outcome.exit_code()));
            }
            Fact::ModelCall(call) => {
                reported.push(format!("tokens {}", call.usage.unwrap().total()));
            }
            Fact::TurnEnded(ended) => reported.push(format!("ended {}", ended.status.as_str())),
            Fact::Other { name, is_known } => reported.push(format!("other {name} {is_known}")),
            _ => {}
        });
    }
    reported
}

#[test]
fn rollouts_of_both_generations_become_bundles() {
    let common =
        ["prompt list files", "call c1 exec_command", "result c1 failed Some(1)", "tokens 11"];
    for (rows, last) in [(OLD, "ended error"), (NEW, "other brand_new false")] {
        let exported = export_of(&rollout(rows), false).unwrap();
        assert_eq!(exported.report.session_id, "t1");
        assert_eq!(reported(&exported), [&common[..], &[last]].concat());
        let branch = exported.json(BundleFile::SessionBranch).unwrap();
        assert_eq!(branch["entries"].as_array().unwrap().len(), rows.len());
        assert_eq!(branch["leafId"], format!("row-{}", rows.len()));
        assert_eq!(branch["entries"][1]["parentId"], "row-1");
        assert_eq!(branch["entries"][0]["customType"], "codex-rollout/session_meta");
        let manifest = exported.json(BundleFile::Manifest).unwrap();
        assert_eq!(
            (&manifest["agent"], &manifest["dialect"]),
            (&"codex".into(), &"codex-rollout".into())
        );
        for number in 1..=rows.len() {
            let id = format!("row-{number}");
            assert!(exported.events().iter().any(|event| event["entryId"] == *id), "{id}");
        }
    }
}

#[test]
fn secrets_of_a_rollout_are_hidden() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let exported = export_of(&rollout(OLD).replace("list files", secret), false).unwrap();
    for (file, text) in &exported.files {
        assert!(!text.contains(secret), "{file}");
    }
    assert!(reported(&exported)[0].contains("<redacted:"));
}

#[test]
fn a_file_of_an_unknown_format_is_an_error_unless_empty_bundles_are_allowed() {
    for unknown in [
        "{\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-06-01T10:00:00Z\"}\n",
        "{\"a\":1}\n",
        "plain text\n",
    ] {
        let error = export_of(unknown, false).unwrap_err();
        assert!(matches!(error, ExportError::NoEvents { .. }), "{unknown}: {error}");
        assert_eq!(export_of(unknown, true).unwrap().report.event_count, 0, "{unknown}");
    }
    for empty in ["", "\n", "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"] {
        assert_eq!(export_of(empty, false).unwrap().report.event_count, 0, "{empty}");
    }
}
