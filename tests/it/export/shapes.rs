//! Sessions and sidecars that other exporters can read: traj writes the same
//! files, members, counts, warnings and events, in the same order.
//!
//! Each outline contains everything that an older reader relies on.

use traj_core::memory::MemorySources;
use traj_core::port::BundleFile;
use traj_tests::export_fixture::{export_from, exported, request};
use traj_tests::rows::{self, HEADER, USER, assistant, event, message, pointer};

fn entry(kind: &str, id: &str, parent: &str, second: u32, members: &str) -> String {
    let parent = Some(parent).filter(|parent| !parent.is_empty());
    rows::entry(kind, id, parent, second).verbatim(members).json()
}

/// An event of a recorder: numbered in its source, with the run and the model.
fn recorded(kind: &str, second: u32, number: u32, data: &str) -> String {
    event(kind, &format!("2026-06-01T10:00:{second:02}.500Z"), number)
        .with("sourceSeq", number)
        .text("sessionKey", "agent:main:main")
        .text("runId", "r1")
        .text("workspaceDir", "/home/ann/shop")
        .text("provider", "acme")
        .text("modelId", "m1")
        .text("modelApi", "chat")
        .with("data", data)
        .json()
}

#[test]
fn a_plain_run_with_everything_a_recorder_writes() {
    let read = assistant(
        r#"{"type":"text","text":"let me see"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"/home/ann/shop/skills/bake/SKILL.md"}}"#,
    );
    let result = r##"{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"# bake"}],"isError":false}"##;
    let export = exported(
        &[
            message("a", None, 2, USER),
            message("b", Some("a"), 4, &read),
            message("c", Some("b"), 5, result),
            message("d", Some("c"), 8, assistant(r#"{"type":"text","text":"baked"}"#)),
        ],
        &[
            recorded("session.started", 1, 1, r#"{"trigger":"user","toolCount":1}"#),
            recorded(
                "trace.metadata",
                1,
                2,
                r#"{"capturedAt":"x","harness":{"name":"h"},"model":{"name":"m1"},"config":{},"plugins":{},"skills":{"entries":[{"name":"bake","filePath":"/home/ann/shop/skills/bake/SKILL.md"},{"name":"fry","filePath":"/x/fry/SKILL.md"}]},"prompting":{"skillsPrompt":"skills"},"redaction":{},"metadata":{},"unknown":1}"#,
            ),
            recorded(
                "context.compiled",
                2,
                3,
                r#"{"systemPrompt":"be kind","prompt":"hi","tools":[{"name":"read"}]}"#,
            ),
            recorded("prompt.submitted", 2, 4, r#"{"prompt":"hi","imagesCount":0}"#),
            recorded(
                "model.completed",
                9,
                5,
                r#"{"usage":{"input":3},"assistantTexts":["baked"]}"#,
            ),
            recorded("trace.artifacts", 9, 6, r#"{"finalStatus":"success","toolMetas":[]}"#),
            recorded("session.ended", 9, 7, r#"{"status":"success","aborted":false}"#),
        ],
    );
    insta::assert_snapshot!(export.outline());
    let metadata = export.json(BundleFile::Metadata).unwrap();
    assert_eq!(metadata["skills"]["entries"][0]["invocationDetectedBy"], "tool-call-file-path");
    assert_eq!(metadata["skills"]["entries"][1]["invoked"], false);
    assert_eq!(export.files[&BundleFile::SystemPrompt], "be kind\n");
}

#[test]
fn a_session_with_abandoned_branches_and_every_kind_of_entry() {
    let export = exported(
        &[
            entry("session_info", "i1", "", 1, r#""name":"menu""#),
            entry("model_change", "i2", "i1", 2, r#""provider":"acme","modelId":"m1""#),
            entry("thinking_level_change", "i3", "i2", 2, r#""thinkingLevel":"low""#),
            message("u", Some("i3"), 3, USER),
            message("x1", Some("u"), 4, assistant("")),
            message("x2", Some("x1"), 5, USER),
            entry(
                "branch_summary",
                "b",
                "u",
                6,
                r#""fromId":"u","summary":"s","details":{"n":1},"fromHook":true"#,
            ),
            entry("label", "l1", "b", 7, r#""targetId":"u","label":"keep""#),
            entry("label", "l2", "l1", 7, r#""targetId":"u""#),
            entry("custom", "c1", "l2", 8, r#""customType":"list","data":{"apiKey":"plain"}"#),
            entry(
                "custom_message",
                "c2",
                "c1",
                9,
                r#""customType":"n","content":[],"display":true,"details":{}"#,
            ),
            entry(
                "compaction",
                "k1",
                "c2",
                10,
                r#""summary":"s","firstKeptEntryId":"u","tokensBefore":9,"details":{}"#,
            ),
            entry(
                "compaction",
                "k2",
                "k1",
                10,
                r#""summary":"s","firstKeptEntryId":"u","tokensBefore":1,"fromHook":true"#,
            ),
            entry("unheard_of", "z", "k2", 11, r#""payload":{}"#),
            message("m1", Some("z"), 12, r#"{"role":"custom","customType":"e","content":"c"}"#),
            message("m2", Some("m1"), 13, r#"{"role":"bashExecution","command":"ls"}"#),
            message("m3", Some("m2"), 14, r#"{"role":"compactionSummary","summary":"s"}"#),
        ],
        &[recorded("session.started", 3, 1, "{}")],
    );
    insta::assert_snapshot!(export.outline());
}

#[test]
fn a_plain_list_of_the_first_version() {
    let rows = [
        r#"{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00.000Z","provider":"acme"}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"old"}}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"hookMessage","content":"h"}}"#,
        r#"{"type":"message","id":"own","parentId":"elsewhere","timestamp":1767225603000,"message":{"role":"assistant","content":[]}}"#,
        r#"{"type":"compaction","timestamp":"2026-01-01T00:00:04.000Z","summary":"a","firstKeptEntryIndex":2,"tokensBefore":1}"#,
        r#"{"type":"compaction","timestamp":"2026-01-01T00:00:04.500Z","summary":"b","firstKeptEntryIndex":0,"tokensBefore":2}"#,
        r#"{"type":"compaction","timestamp":"2026-01-01T00:00:04.600Z","summary":"c","firstKeptEntryIndex":77,"tokensBefore":3}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"user","content":"end"}}"#,
    ];
    let sources = MemorySources::new();
    sources.put("s1.jsonl", rows.join("\n"));
    insta::assert_snapshot!(export_from(&sources, &request()).unwrap().outline());
}

#[test]
fn rows_of_every_broken_kind() {
    let timed = |id: &str, parent: &str, timestamp: &str| {
        rows::entry("message", id, Some(parent), 0)
            .with("timestamp", timestamp)
            .with("message", USER)
            .json()
    };
    let mut rows = vec![
        format!("\u{feff}{HEADER}"),
        message("a", None, 1, USER),
        "{torn".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "7".to_owned(),
        "\"text\"".to_owned(),
        r#"{"type":1,"id":"t"}"#.to_owned(),
        r#"{"id":"untyped"}"#.to_owned(),
        entry("message", "silent", "a", 1, ""),
        message("nobody", Some("a"), 1, r#"{"content":"no role"}"#),
        r#"{"type":"message","id":"list","message":[]}"#.to_owned(),
        "   ".to_owned(),
        String::new(),
        r#"{"type":"label","parentId":"a","timestamp":1,"targetId":"a"}"#.to_owned(),
        r#"{"type":"label","id":3,"parentId":"a","timestamp":1,"targetId":"a"}"#.to_owned(),
        r#"{"type":"label","id":"untimed","parentId":"a","targetId":"a"}"#.to_owned(),
    ];
    // More rows than a warning lists.
    rows.extend((0..24).map(|number| format!("{{torn {number}")));
    rows.push(format!("\u{a0}\u{3000}{}\u{2003}", message("b", Some("a"), 2, USER)));
    rows.push(timed("c", "b", "\"someday\""));
    rows.push(timed("d", "c", "9e15"));
    rows.push(timed("e", "d", "1780308005123.7"));
    rows.push(timed("f", "e", "\"\""));
    let mut bytes = rows.join("\r\n").into_bytes();
    let spoilt = message("g", Some("f"), 9, r#"{"role":"user","content":"~"}"#);
    bytes.extend_from_slice(b"\r\n");
    bytes.extend(spoilt.bytes().map(|byte| if byte == b'~' { 0xff } else { byte }));
    let sources = MemorySources::new();
    sources.put("s1.jsonl", bytes);
    let good = recorded("session.started", 1, 1, r#"{"n":1}"#);
    let sidecar = [
        good.clone(),
        good.replace("openclaw-trajectory\"", "other\""),
        good.replace("\"schemaVersion\":1", "\"schemaVersion\":\"1\""),
        good.replace("\"schemaVersion\":1", "\"schemaVersion\":2"),
        good.replace("\"source\":\"runtime\"", "\"source\":\"transcript\""),
        good.replace("\"session.started\"", "4"),
        good.replace("\"2026-06-01T10:00:01.500Z\"", "5"),
        good.replace("2026-06-01T10:00:01.500Z", "rubbish"),
        good.replace("\"seq\":1", "\"seq\":\"1\""),
        good.replace("\"sessionId\":\"s1\",", ""),
        good.replace("\"data\":{\"n\":1}", "\"data\":null"),
        good.replace("\"data\":{\"n\":1}", "\"data\":[1]"),
        "{oops".to_owned(),
        "[]".to_owned(),
        good.replace("\"sessionId\":\"s1\"", "\"sessionId\":\"other\""),
        event("no.data", "2026-06-01T10:00:01.000Z", 2).json(),
        event("text.number", "2026-06-01T10:00:01.000Z", 3).with("sourceSeq", r#""7""#).json(),
        event("float.version", "2026-06-01T10:00:03Z", 100).with("schemaVersion", "1.0").json(),
        event("endless.seq", "2026-06-01T10:00:03Z", 1).with("seq", "1e999").json(),
    ];
    sources.put("s1.trajectory.jsonl", sidecar.join("\r\n"));
    insta::assert_snapshot!(export_from(&sources, &request()).unwrap().outline());
}

#[test]
fn a_branch_that_bites_its_tail() {
    let export = exported(
        &[
            message("a", Some("c"), 1, USER),
            message("b", Some("a"), 2, assistant("")),
            message("c", Some("b"), 3, USER),
        ],
        &[],
    );
    insta::assert_snapshot!(export.outline());
}

#[test]
fn a_branch_whose_root_is_lost() {
    let numbered =
        rows::entry("message", "e", None, 5).with("parentId", 5).with("message", USER).json();
    let export = exported(
        &[
            message("a", None, 1, USER),
            message("c", Some("b"), 3, USER),
            message("d", Some("c"), 4, assistant("")),
            numbered.clone(),
            message("f", Some("d"), 6, USER),
        ],
        &[],
    );
    insta::assert_snapshot!(export.outline());
    let ends_there = exported(&[message("a", None, 1, USER), numbered], &[]);
    assert_eq!(ends_there.sequence(), ["user.message e"]);
    assert!(ends_there.warnings().is_empty());
}

#[test]
fn tool_calls_in_every_spelling() {
    let calls = assistant(
        r#"{"type":"toolCall","id":"c1","name":"a","arguments":{"x":1}},{"type":"toolUse","id":"c2","name":"b","input":{"y":2}},{"type":"functionCall","id":"c3","name":"c","parameters":{"z":3}},{"type":"TOOLCALL ","id":"c4","name":"d","arguments":null,"input":{"from":"input"}},{"type":"toolCall","id":5,"name":[],"arguments":"text"},{"type":"toolCall"},{"type":"tool_use","id":"c6","name":"e","input":{}},{"type":"text","text":"no call"},null,"toolCall""#,
    );
    let export = exported(
        &[
            message("a", None, 1, &calls),
            message("b", Some("a"), 2, r#"{"role":"assistant","content":"text"}"#),
            message(
                "c",
                Some("b"),
                3,
                r#"{"role":"user","content":[{"type":"toolCall","id":"u"}]}"#,
            ),
            message(
                "d",
                Some("c"),
                4,
                r#"{"role":"toolResult","toolCallId":"c1","content":[],"isError":true,"details":{"diff":"-"}}"#,
            ),
        ],
        &[],
    );
    insta::assert_snapshot!(export.outline());
    let events = export.events();
    let places: Vec<_> = events[1..8].iter().map(|event| &event["data"]["blockIndex"]).collect();
    assert_eq!(serde_json::json!(places), serde_json::json!([0, 1, 2, 3, 4, 5, 6]));
    assert_eq!(events[4]["data"]["arguments"]["from"], "input");
}

#[test]
fn metadata_and_artifacts_of_several_runs() {
    let export = exported(
        &[message(
            "a",
            None,
            1,
            assistant(
                r#"{"type":"toolCall","id":"r1","name":"read","arguments":{"path":"C:\\Users\\ann\\skills\\Bake\\SKILL.md"}},{"type":"toolCall","id":"r2","name":"read","arguments":{"nested":[{"filePath":"x/grill/skill.md"}]}}"#,
            ),
        )],
        &[
            recorded("trace.metadata", 1, 1, r#"{"harness":{"old":true}}"#),
            recorded("trace.artifacts", 1, 2, r#"{"finalStatus":"old","usage":{"input":1}}"#),
            recorded(
                "model.completed",
                2,
                3,
                r#"{"promptError":"of the model","promptErrorSource":"model","usage":{"input":2}}"#,
            ),
            recorded(
                "session.ended",
                3,
                4,
                r#"{"status":"of the end","aborted":true,"timedOut":true}"#,
            ),
            recorded(
                "trace.artifacts",
                4,
                5,
                r#"{"aborted":null,"timedOut":false,"lastToolError":null,"toolMetas":[]}"#,
            ),
            recorded(
                "trace.metadata",
                5,
                6,
                r#"{"model":null,"skills":{"snapshotVersion":2,"entries":[{"name":"bake","filePath":"/w/bake/SKILL.md"},{"name":"grill","filePath":"/w/grill/SKILL.md"},{"name":"fry","filePath":"/w/fry/SKILL.md"},null]},"prompting":{"skillsPrompt":"","userPromptPrefixText":"prefix","systemPromptReport":null}}"#,
            ),
            recorded(
                "tool.call",
                5,
                7,
                r#"{"name":"read","arguments":{"path":"/w/fry/SKILL.md"}}"#,
            ),
        ],
    );
    insta::assert_snapshot!(export.outline());
    let artifacts = export.json(BundleFile::Artifacts).unwrap();
    assert_eq!(artifacts["finalStatus"], "of the end");
    assert_eq!((&artifacts["aborted"], &artifacts["timedOut"]), (&true.into(), &false.into()));
    assert_eq!(artifacts["usage"]["input"], 2);
    let metadata = export.json(BundleFile::Metadata).unwrap();
    assert_eq!(metadata["model"]["name"], "m1", "the last event that names one");
    let skills = metadata["skills"]["entries"].as_array().unwrap();
    let invoked: Vec<_> = skills.iter().map(|skill| skill["invoked"] == true).collect();
    assert_eq!(invoked, [true, true, true, false]);
}

#[test]
fn a_sidecar_that_a_pointer_leads_to() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", format!("{HEADER}\n{}", message("a", None, 1, USER)));
    sources.put("s1.trajectory.jsonl", recorded("default", 2, 1, "{}"));
    sources.put("moved/s1.jsonl", recorded("moved", 2, 1, "{}"));
    sources.put("s1.trajectory-path.json", pointer("s1", "moved/s1.jsonl").json());
    let export = export_from(&sources, &request()).unwrap();
    insta::assert_snapshot!(export.outline());
    let files = &export.json(BundleFile::Manifest).unwrap()["sourceFiles"];
    assert_eq!(
        (files["session"].as_str(), files["runtime"].as_str()),
        (Some("s1.jsonl"), Some("moved/s1.jsonl"))
    );
}

#[test]
fn a_sidecar_that_is_a_link() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", format!("{HEADER}\n{}", message("a", None, 1, USER)));
    sources.put_link("s1.trajectory.jsonl");
    let export = export_from(&sources, &request()).unwrap();
    insta::assert_snapshot!(export.outline());
    let manifest = export.json(BundleFile::Manifest).unwrap();
    assert!(manifest["sourceFiles"].get("runtime").is_none());
}

#[test]
fn an_empty_session_and_one_with_a_header_only() {
    let export = |content: &str| {
        let sources = MemorySources::new();
        sources.put("s1.jsonl", content);
        export_from(&sources, &request()).unwrap()
    };
    let (empty, header_only) = (export(""), export(HEADER));
    insta::assert_snapshot!(empty.outline());
    // With a header, the manifest names agent and dialect.
    let outline = header_only.outline().replace(" agent dialect", "");
    assert_eq!(outline, empty.outline());
    for (export, has_header) in [(empty, false), (header_only, true)] {
        assert_eq!(export.files[&BundleFile::Events], "\n");
        let branch = export.json(BundleFile::SessionBranch).unwrap();
        assert_eq!(branch["header"].is_object(), has_header);
    }
}
