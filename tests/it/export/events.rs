//! Exports order runtime and transcript events and build the smaller files.

use proptest::prelude::*;
use serde_json::json;
use traj_core::capture::BlobDigest;
use traj_core::memory::MemorySources;
use traj_core::port::BundleFile;
use traj_tests::export_fixture::{export_from, exported, request};
use traj_tests::rows::{self, HEADER, USER, event, message};

fn at(kind: &str, second: u32, seq: u32, members: &str) -> String {
    event(kind, &rows::at(second), seq).verbatim(members).json()
}

#[test]
fn events_are_ordered_by_instant_then_source_then_number() {
    let ordered = |ts: &str, name: &str, seq: u32| event(name, ts, seq).json();
    let export = exported(
        &[message("a", None, 5, USER), message("b", Some("a"), 6, USER)],
        &[
            ordered("2026-06-01T12:00:05.000+02:00", "offset", 2),
            ordered("2026-06-01T10:00:05Z", "plain", 1),
            event("later", "2026-06-01T10:00:05Z", 9).with("sourceSeq", r#""x""#).json(),
            ordered("12/25/2026", "christmas", 1),
            ordered("Jun 1 2026", "midnight", 1),
            ordered("+010000-01-01T00:00:00.000Z", "year-10000", 1),
            ordered("1970-01-01", "epoch", 1),
            event("negative", "2026-06-01T10:00:05Z", 3).with("sourceSeq", r#"-1"#).json(),
        ],
    );
    assert_eq!(
        export.sequence(),
        [
            "epoch",
            "midnight",
            "negative",
            "plain",
            "offset",
            "later",
            "user.message a",
            "user.message b",
            "christmas",
            "year-10000",
        ]
    );
    assert_eq!(export.events()[4]["ts"], "2026-06-01T12:00:05.000+02:00", "kept as it was");
    let manifest = export.json(BundleFile::Manifest).unwrap();
    assert_eq!(
        (
            &manifest["eventCount"],
            &manifest["runtimeEventCount"],
            &manifest["transcriptEventCount"]
        ),
        (&json!(10), &json!(8), &json!(2))
    );
}

/// A message that produces two events.
const CALL: &str =
    r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{}}]}"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The order is that of a stable sort, and the numbers follow it, also if the
    /// clock of the session went back.
    #[test]
    fn any_two_timelines_are_merged_in_order(
        mut entries in prop::collection::vec((0_u32..20, any::<bool>()), 0..12),
        events in prop::collection::vec((0_u32..20, 0_u32..5), 0..12),
        is_sorted: bool,
    ) {
        if is_sorted {
            entries.sort_by_key(|(second, _)| *second);
        }
        let mut expected = Vec::new();
        let mut rows = Vec::new();
        let mut number = 0;
        for (at, (second, is_call)) in entries.iter().enumerate() {
            let (id, parent) = (format!("e{at}"), at.checked_sub(1).map(|at| format!("e{at}")));
            let body = if *is_call { CALL } else { USER };
            rows.push(message(&id, parent.as_deref(), *second, body));
            let kinds: &[&str] =
                if *is_call { &["assistant.message", "tool.call"] } else { &["user.message"] };
            for kind in kinds {
                number += 1;
                expected.push(((*second, 1, number), format!("{kind} {id}"), Some(number)));
            }
        }
        let sidecar: Vec<String> = events
            .iter()
            .enumerate()
            .map(|(place, (second, seq))| {
                let kind = format!("r{place}");
                expected.push(((*second, 0, u64::from(*seq)), kind.clone(), None));
                at(&kind, *second, *seq, r#""data":{"n":1}"#)
            })
            .collect();
        expected.sort_by_key(|(key, ..)| *key);
        let export = exported(&rows, &sidecar);
        let names: Vec<String> = expected.iter().map(|(_, name, _)| name.clone()).collect();
        prop_assert_eq!(export.sequence(), names);
        for (event, (_, _, number)) in export.events().iter().zip(&expected) {
            prop_assert_eq!(event["sourceSeq"].as_u64(), *number);
        }
        let branch = export.json(BundleFile::SessionBranch).unwrap();
        let ids = branch["entries"].as_array().unwrap().iter().map(|entry| entry["id"].clone());
        let in_order = ids.eq((0..entries.len()).map(|at| json!(format!("e{at}"))));
        prop_assert!(in_order);
    }
}

#[test]
fn rows_that_are_not_events_are_counted_and_other_sessions_skipped() {
    let good = at("good", 1, 1, r#""extra":{"kept":true}"#);
    let rows = [
        good.clone(),
        "{torn".to_owned(),
        "[]".to_owned(),
        good.replace("\"runtime\"", "\"transcript\""),
        good.replace("\"seq\":1", "\"seq\":\"1\""),
        good.replace("\"sessionId\":\"s1\"", "\"sessionId\":\"other\""),
        at("null-data", 1, 1, r#""data":null"#),
        at("array-data", 1, 1, r#""data":[]"#),
    ];
    let export = exported(&[], &rows);
    assert_eq!(export.sequence(), ["good"]);
    assert_eq!(export.events()[0]["extra"]["kept"], true);
    assert_eq!(
        export.warnings(),
        ["invalid-runtime-json [2]", "invalid-runtime-event [3, 4, 5, 7, 8]"]
    );
}

#[test]
fn the_smaller_files_come_from_the_last_events_of_their_kind() {
    let model = r#""provider":"p","modelId":"m""#;
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":"/x/Deploy/SKILL.md"}}]}"#;
    let export = exported(
        &[message("a", None, 1, call)],
        &[
            at("trace.metadata", 1, 1, r#""data":{"harness":{"old":true}}"#),
            at("prompt.submitted", 2, 2, r#""data":{"prompt":"p1"}"#),
            at("prompt.submitted", 3, 3, r#""data":{"prompt":5}"#),
            at("prompt.submitted", 4, 4, &format!(r#"{model},"data":{{"prompt":"p2"}}"#)),
            at(
                "context.compiled",
                5,
                5,
                r#""data":{"systemPrompt":"be brief","tools":[{"name":"read"}]}"#,
            ),
            at("model.completed", 6, 6, r#""data":{"usage":{"input":9},"promptCache":{"c":1}}"#),
            at("session.ended", 7, 7, r#""data":{"status":"success","aborted":false}"#),
            at("trace.artifacts", 8, 8, r#""data":{"promptCache":null,"toolMetas":null}"#),
            at(
                "trace.metadata",
                9,
                9,
                r#""data":{"model":null,"skills":{"entries":[{"name":"deploy","filePath":"/y/deploy/SKILL.md"},null]},"prompting":{"skillsPrompt":"sp","systemPromptReport":[1]},"unknown":1}"#,
            ),
        ],
    );
    let metadata = export.json(BundleFile::Metadata).unwrap();
    assert_eq!(metadata["model"], json!({"provider":"p","name":"m"}));
    assert_eq!(metadata["skills"]["entries"][0]["invoked"], true);
    assert_eq!(metadata["skills"]["entries"][1], json!({"invoked":false}));
    assert!(metadata.get("unknown").is_none() && metadata.get("harness").is_none());
    let artifacts = export.json(BundleFile::Artifacts).unwrap();
    assert_eq!(artifacts["finalStatus"], "success");
    assert_eq!(artifacts["usage"], json!({"input":9}));
    assert_eq!(artifacts["promptCache"], json!({"c":1}));
    assert_eq!(artifacts["toolMetas"], json!(null));
    let prompts = export.json(BundleFile::Prompts).unwrap();
    assert_eq!(prompts["submittedPrompts"], json!(["p1", "p2"]));
    assert_eq!(prompts["latestSubmittedPrompt"], "p2");
    assert_eq!((&prompts["system"], &prompts["skillsPrompt"]), (&json!("be brief"), &json!("sp")));
    assert_eq!(export.files[&BundleFile::SystemPrompt], "be brief\n");
    assert_eq!(export.json(BundleFile::Tools).unwrap(), json!([{"name":"read"}]));
    let manifest = export.json(BundleFile::Manifest).unwrap();
    assert_eq!(
        manifest["supplementalFiles"],
        json!(["metadata.json", "artifacts.json", "prompts.json"])
    );
    let listed: Vec<_> =
        manifest["contents"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(
        json!(listed),
        json!([
            "metadata.json",
            "artifacts.json",
            "prompts.json",
            "events.jsonl",
            "session-branch.json",
            "system-prompt.txt",
            "tools.json"
        ])
    );
}

#[test]
fn results_are_those_of_the_latest_run() {
    let run = |name: &str, data: &str| format!(r#""runId":"{name}","data":{data}"#);
    let export = exported(
        &[],
        &[
            at("session.started", 1, 1, &run("one", "{}")),
            at("trace.artifacts", 2, 2, &run("one", r#"{"usage":{"input":1}}"#)),
            at("session.started", 3, 1, &run("two", "{}")),
            at("session.ended", 4, 2, &run("two", r#"{"status":"error"}"#)),
            at("session.ended", 5, 3, &run("one", r#"{"status":"late"}"#)),
        ],
    );
    let artifacts = export.json(BundleFile::Artifacts).unwrap();
    assert_eq!(artifacts["finalStatus"], "error");
    assert!(artifacts.get("usage").is_none());
}

#[test]
fn long_prompts_are_whole_and_their_blobs_come_along() {
    let prompt = format!("start {} end", "word ".repeat(20_000));
    let digest = BlobDigest::of(prompt.as_bytes());
    let sources = MemorySources::new();
    sources.put("s1.jsonl", HEADER);
    let marker = format!(
        r#"{{"truncated":true,"reason":"trajectory-field-size-limit","preview":"start","blob":"{digest}"}}"#
    );
    let rows = [
        at("prompt.submitted", 1, 1, &format!(r#""data":{{"prompt":{marker}}}"#)),
        at("context.compiled", 2, 2, &format!(r#""data":{{"systemPrompt":{marker}}}"#)),
    ];
    sources.put("s1.trajectory.jsonl", rows.join("\n"));
    sources.put(format!("s1.trajectory.blobs/{digest}"), prompt.as_str());
    let export = export_from(&sources, &request()).unwrap();
    let prompts = export.json(BundleFile::Prompts).unwrap();
    assert_eq!(prompts["latestSubmittedPrompt"], prompt.as_str());
    assert_eq!(export.files[&BundleFile::SystemPrompt], format!("{prompt}\n"));
    let blob = BundleFile::parse(&format!("blobs/{digest}.txt")).unwrap();
    assert_eq!(export.files[&blob], prompt);
    assert!(export.notices().is_empty());
}

#[test]
fn blobs_of_any_length_come_along() {
    let secret = ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
    let lines = format!("{}{secret} in a line\n", "a line of the giant\n".repeat(60_000));
    let giant = lines.repeat(8);
    // One line without a line end, as the recorder stores a complete value.
    let value = format!("[{}0]", "\"item of a list\", ".repeat(250_000));
    let solid = "x".repeat(4_500_000);
    let sources = MemorySources::new();
    sources.put("s1.jsonl", HEADER);
    let mut rows = Vec::new();
    let mut digests = Vec::new();
    for (number, (kind, text)) in
        [("prompt.submitted", &giant), ("other", &value), ("prompt.submitted", &solid)]
            .iter()
            .enumerate()
    {
        let digest = BlobDigest::of(text.as_bytes());
        let marker = format!(
            r#"{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{digest}"}}"#
        );
        rows.push(at(kind, 1, number as u32, &format!(r#""data":{{"prompt":{marker}}}"#)));
        sources.put(format!("s1.trajectory.blobs/{digest}"), text.as_str());
        digests.push(digest);
    }
    sources.put("s1.trajectory.jsonl", rows.join("\n"));
    let export = export_from(&sources, &request()).unwrap();
    let blob = |number: usize| {
        let file = BundleFile::parse(&format!("blobs/{}.txt", digests[number])).unwrap();
        export.files.get(&file)
    };
    let copied = blob(0).unwrap();
    assert!(!copied.contains("q7Xw2") && copied.matches("<redacted:").count() == 8);
    assert_eq!(copied.lines().count(), giant.lines().count());
    assert!(blob(1).unwrap() == &value);
    // A text without a safe place to split it is left out, and a notice says so.
    assert!(blob(2).is_none());
    assert_eq!(export.notices(), ["blob-too-large [0]"]);
    let prompts = &export.json(BundleFile::Prompts).unwrap()["submittedPrompts"];
    let place = format!("<{} bytes in blobs/{}.txt>", giant.len(), digests[0]);
    assert_eq!(prompts[0], place.as_str());
    assert_eq!(prompts[1], "<4500000 bytes, left out>");
}

#[test]
fn secrets_and_paths_are_hidden_everywhere_and_counted() {
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let text = format!(r#"{{"role":"user","content":"token {secret} in /home/ann/shop/x"}}"#);
    let export = exported(
        &[message("a", None, 1, &text)],
        &[at(
            "prompt.submitted",
            1,
            1,
            &format!(r#""workspaceDir":"/home/ann/shop","data":{{"prompt":"use {secret}"}}"#),
        )],
    );
    for (file, content) in &export.files {
        assert!(!content.contains(&secret), "{file}");
        assert!(!content.contains("/home/ann"), "{file}");
    }
    assert!(export.files[&BundleFile::Events].contains("$WORKSPACE_DIR/x"));
    assert_eq!(export.report.redactions.values().sum::<u64>(), 2);
}
