//! Exports follow the active branch, whatever the session looks like.

use std::sync::Mutex;

use serde_json::json;
use traj_core::memory::{MemoryBundleSink, MemorySources};
use traj_core::port::BundleFile;
use traj_export::{ExportPorts, Progress, Stage, export};
use traj_tests::export_fixture::{export_from, exported, request};
use traj_tests::rows::{self, HEADER, USER, message};

fn entry(kind: &str, id: &str, parent: &str, members: &str) -> String {
    rows::entry(kind, id, Some(parent), 30).verbatim(members).json()
}

#[test]
fn abandoned_branches_are_left_out_and_every_entry_type_has_its_event() {
    let export = exported(
        &[
            message("a", None, 1, USER),
            message("x", Some("a"), 2, r#"{"role":"assistant","content":"abandoned"}"#),
            entry("branch_summary", "b", "a", r#""fromId":"a","summary":"s","fromHook":true"#),
            entry("label", "l", "b", r#""targetId":"a","label":"good""#),
            entry("custom", "c", "l", r#""customType":"todo","data":{"n":1}"#),
            entry("custom_message", "m", "c", r#""customType":"n","content":"c","display":true"#),
            entry(
                "compaction",
                "k",
                "m",
                r#""summary":"s","firstKeptEntryId":"b","tokensBefore":8"#,
            ),
            entry("model_change", "o", "k", r#""provider":"p","modelId":"m""#),
            entry("thinking_level_change", "t", "o", r#""thinkingLevel":"high""#),
            entry("session_info", "i", "t", r#""name":"n""#),
            entry("reset", "r", "i", r#""reason":"new topic","firstKeptEntryId":"k""#),
            entry("mystery", "y", "r", r#""payload":1"#),
            entry("message", "z", "y", r#""message":{"role":"bashExecution","command":"ls"}"#),
        ],
        &[],
    );
    assert_eq!(
        export.sequence(),
        [
            "user.message a",
            "session.branch_summary b",
            "session.label l",
            "session.custom c",
            "session.custom_message m",
            "session.compaction k",
            "session.model_change o",
            "session.thinking_level_change t",
            "session.info i",
            "session.reset r",
            "message.bashExecution z",
        ]
    );
    let branch = export.json(BundleFile::SessionBranch).unwrap();
    assert_eq!(branch["leafId"], "z");
    assert_eq!(branch["entries"].as_array().unwrap().len(), 12);
    assert_eq!(export.events()[5]["data"]["fromHook"], false);
}

#[test]
fn a_leaf_row_moves_the_leaf_and_is_not_shown() {
    let leaf = r#"{"type":"leaf","id":"l1","parentId":"b","timestamp":1,"targetId":"a"}"#;
    let rows = [message("a", None, 1, USER), message("b", Some("a"), 2, USER), leaf.to_owned()];
    assert_eq!(exported(&rows, &[]).sequence(), ["user.message a"]);
    let rows = [&rows[..], &[message("c", Some("l1"), 3, USER)]].concat();
    let export = exported(&rows, &[]);
    assert_eq!(export.sequence(), ["user.message a", "user.message c"]);
    assert_eq!(export.events()[1]["parentEntryId"], "a", "linked to the parent that is shown");
    assert_eq!(export.json(BundleFile::SessionBranch).unwrap()["entries"][1]["parentId"], "a");
}

#[test]
fn sessions_of_version_one_are_brought_up_to_date() {
    let sources = MemorySources::new();
    let rows = [
        r#"{"type":"session","id":"s1","provider":"p"}"#,
        r#"{"type":"message","timestamp":1,"message":{"role":"user","content":"v1"}}"#,
        r#"{"type":"message","timestamp":2,"message":{"role":"hookMessage","content":"h"}}"#,
        r#"{"type":"message","id":"own","parentId":"no","timestamp":3,"message":{"role":"user","content":"u"}}"#,
        r#"{"type":"compaction","timestamp":4,"summary":"s","firstKeptEntryIndex":2,"tokensBefore":1}"#,
        r#"{"type":"compaction","timestamp":5,"summary":"s","firstKeptEntryIndex":0,"tokensBefore":1}"#,
    ];
    sources.put("s1.jsonl", rows.join("\n"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(
        export.sequence(),
        [
            "user.message legacy-0",
            "message.custom legacy-1",
            "user.message own",
            "session.compaction legacy-2",
            "session.compaction legacy-3",
        ]
    );
    let branch = export.json(BundleFile::SessionBranch).unwrap();
    assert_eq!(branch["header"]["version"], 3);
    let parents: Vec<_> =
        branch["entries"].as_array().unwrap().iter().map(|entry| &entry["parentId"]).collect();
    assert_eq!(json!(parents), json!([null, "legacy-0", "legacy-1", "own", "legacy-2"]));
    assert_eq!(branch["entries"][3]["firstKeptEntryId"], "legacy-1");
    assert!(branch["entries"][4].get("firstKeptEntryId").is_none(), "the header is not an entry");
    assert!(branch["entries"][4].get("firstKeptEntryIndex").is_none());
}

#[test]
fn broken_links_end_the_branch_with_a_warning() {
    let cycle =
        exported(&[message("a", Some("b"), 1, USER), message("b", Some("a"), 2, USER)], &[]);
    assert_eq!(cycle.warnings(), ["cyclic-session-branch [3]"]);
    assert_eq!(cycle.sequence().len(), 2);
    let gone =
        exported(&[message("a", Some("gone"), 1, USER), message("b", Some("a"), 2, USER)], &[]);
    assert_eq!(gone.warnings(), ["incomplete-session-branch [2]"]);
    assert_eq!(gone.sequence().len(), 2);
}

#[test]
fn broken_rows_are_counted_and_the_others_exported() {
    let rows = [
        "\u{feff} \u{3000}{\"type\":\"session\",\"version\":3,\"id\":\"s1\"}".to_owned(),
        message("a", None, 1, USER),
        "{torn".to_owned(),
        "[]".to_owned(),
        String::new(),
        r#"{"type":"message","id":"n","message":{"content":"no role"}}"#.to_owned(),
        "{\"a\":1}{\"b\":2}".to_owned(),
        r#"{"type":"label","id":"untimed","parentId":"a","targetId":"a"}"#.to_owned(),
        message("b", Some("a"), 2, r#"{"role":"user","content":"\ud83d lone"}"#) + " \r",
        message("c", Some("b"), 3, "{\"role\":\"user\",\"content\":\"bad \u{1}\"}"),
    ];
    let mut bytes = rows.join("\n").into_bytes();
    bytes.extend_from_slice(b"\n{\"type\":\"message\",\"id\":\"d\",\"parentId\":\"b\",\"timestamp\":\"soon\",\"message\":{\"role\":\"user\",\"content\":\"\xff\"}}");
    let sources = MemorySources::new();
    sources.put("s1.jsonl", bytes);
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(
        export.warnings(),
        ["invalid-session-json [3, 7, 10]", "invalid-session-row [4, 6]"]
    );
    assert_eq!(export.notices(), ["session-not-utf8 [11]"]);
    // An unreadable time counts as 1970 and comes first.
    assert_eq!(export.sequence(), ["user.message d", "user.message a", "user.message b"]);
    assert_eq!(export.events()[0]["data"]["message"]["content"], "\u{fffd}");
}

#[test]
fn sessions_without_entries_are_bundles_too() {
    for content in ["", HEADER] {
        let sources = MemorySources::new();
        sources.put("s1.jsonl", content);
        let export = export_from(&sources, &request()).unwrap();
        assert_eq!(export.files[&BundleFile::Events], "\n");
        let branch = export.json(BundleFile::SessionBranch).unwrap();
        assert_eq!(branch["leafId"], json!(null));
        assert_eq!(branch["header"].is_null(), content.is_empty());
        let files: Vec<_> = export.files.keys().map(ToString::to_string).collect();
        assert_eq!(files, ["manifest.json", "events.jsonl", "session-branch.json"]);
    }
}

#[test]
fn tool_calls_of_every_spelling_become_events() {
    let content = r#"{"role":"assistant","content":[
        {"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}},
        {"type":"tool_use","id":"c2","name":"b","input":{}},
        {"type":"function_call","id":"c3"},
        {"type":"text","text":"t"},null,5,["toolCall"]]}"#
        .replace('\n', " ");
    let user = content.replace("assistant", "user");
    let export =
        exported(&[message("a", None, 1, &content), message("b", Some("a"), 2, &user)], &[]);
    assert_eq!(
        export.sequence(),
        ["assistant.message a", "tool.call a", "tool.call a", "tool.call a", "user.message b"]
    );
    let call = &export.events()[1]["data"];
    assert_eq!((&call["toolCallId"], &call["blockIndex"]), (&json!("c1"), &json!(0)));
}

#[test]
fn odd_values_come_through_unchanged() {
    let content = r#"{"role":"user","content":{"__proto__":{"x":1},"10":1,"2":2,"big":12345678901234567890,"huge":1e400,"zero":-0,"dup":1,"dup":2,"":"empty"}}"#;
    let export = exported(&[message("a", None, 1, content)], &[]);
    let line = &export.files[&BundleFile::Events];
    let kept = content.strip_prefix(r#"{"role":"user","content":"#).unwrap();
    assert!(line.contains(kept.strip_suffix('}').unwrap()), "{line}");
}

/// The steps that were reported.
#[derive(Debug, Default)]
struct Steps(Mutex<Vec<Stage>>);

impl Progress for Steps {
    fn enter(&self, stage: Stage, _left: u64) {
        self.0.lock().unwrap().push(stage);
    }

    fn advance(&self, _bytes: u64) {}
}

#[test]
fn files_written_in_one_pass_are_one_stage() {
    use Stage::{Branch, Commit, Events, Index, Recheck, SideFiles, Timeline};
    let after = [SideFiles, Recheck, Commit];
    for (seconds, written) in [([1, 2], &[Timeline][..]), ([2, 1], &[Branch, Events])] {
        let rows = [("a", None), ("b", Some("a"))].into_iter().zip(seconds);
        let rows = rows.map(|((id, parent), second)| message(id, parent, second, USER));
        let sources = MemorySources::new();
        let rows: Vec<String> = [HEADER.to_owned()].into_iter().chain(rows).collect();
        sources.put("s1.jsonl", rows.join("\n"));
        let (sink, steps) = (MemoryBundleSink::new(), Steps::default());
        export(ExportPorts { sources: &sources, sink: &sink }, &request(), &steps).unwrap();
        let steps = steps.0.into_inner().unwrap();
        assert_eq!(steps, [&[Index][..], written, &after].concat(), "{seconds:?}");
    }
}
