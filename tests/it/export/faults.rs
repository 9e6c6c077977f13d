//! Exports that meet full disks, failing or changing sources, and huge values.

mod injected;
mod process;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use traj_core::capture::BlobDigest;
use traj_core::memory::{MemoryBundleSink, MemorySources};
use traj_core::port::{BundleFile, Source, SourceError, Sources};
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor, RuleSet};
use traj_export::{ExportError, ExportPorts, Silent, export};
use traj_tests::export_fixture::{export_from, exported, long_session, request};
use traj_tests::rows::{HEADER, USER, event, message, user};

#[test]
fn a_full_disk_leaves_nothing_whenever_it_is_full() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", long_session(20));
    sources.put("s1.trajectory.jsonl", event("x", "2026-06-01T10:00:00Z", 1).json());
    let mut request = request();
    request.workers = std::num::NonZeroUsize::new(2).unwrap();
    let mut room = 0;
    loop {
        let sink = MemoryBundleSink::with_room(room);
        match export(ExportPorts { sources: &sources, sink: &sink }, &request, &Silent) {
            Ok(_) => break,
            Err(error) => {
                assert!(matches!(&error, ExportError::Sink(error) if error.is_full()), "{error}");
                assert!(sink.names().is_empty(), "room {room}");
            }
        }
        room += 977;
    }
    assert!(room > 50_000, "many places were tried");
}

/// Sources in which one read fails.
#[derive(Debug)]
struct Failing {
    sources: MemorySources,
    reads_left: Arc<AtomicU64>,
}

#[derive(Debug)]
struct FailingSource {
    source: Box<dyn Source>,
    reads_left: Arc<AtomicU64>,
}

impl Sources for Failing {
    fn open(&self, name: &str) -> Result<Box<dyn Source>, SourceError> {
        let source = self.sources.open(name)?;
        Ok(Box::new(FailingSource { source, reads_left: Arc::clone(&self.reads_left) }))
    }
}

impl Source for FailingSource {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        if self.reads_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            let error = io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error());
            return Err(SourceError::Storage { name: "s1".to_owned(), source: error.into() });
        }
        self.source.read_exact_at(offset, buffer)
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        self.source.check_unchanged()
    }
}

#[test]
fn a_disk_that_fails_leaves_nothing_whenever_it_fails() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", long_session(1_000));
    let [system, other] = ["the system prompt", "another text"].map(|text| {
        let digest = BlobDigest::of(text.as_bytes());
        sources.put(format!("s1.trajectory.blobs/{digest}"), text);
        format!(r#"{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{digest}"}}"#)
    });
    let compiled = format!(r#"{{"systemPrompt":{system},"tools":[{other}]}}"#);
    let events = (1..1_000).map(|number| event("x", "2026-06-01T10:00:00Z", number).json());
    let compiled =
        event("context.compiled", "2026-06-01T10:00:00Z", 0).with("data", compiled).json();
    let events = [compiled].into_iter().chain(events);
    sources.put("s1.trajectory.jsonl", events.collect::<Vec<_>>().join("\n"));
    let mut request = request();
    request.workers = std::num::NonZeroUsize::new(2).unwrap();
    let mut failures = 0;
    loop {
        let reads_left = Arc::new(AtomicU64::new(failures));
        let failing = Failing { sources: sources.clone(), reads_left };
        let sink = MemoryBundleSink::new();
        match export(ExportPorts { sources: &failing, sink: &sink }, &request, &Silent) {
            Ok(_) => break,
            Err(error) => {
                let is_typed = matches!(error, ExportError::Source(SourceError::Storage { .. }));
                assert!(is_typed, "read {failures}: {error}");
                assert!(sink.names().is_empty(), "read {failures}");
            }
        }
        failures += 1;
    }
    assert!(failures > 5, "many reads were tried: {failures}");
}

#[test]
fn an_event_that_custom_rules_make_unreadable_ends_the_export() {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", HEADER);
    sources.put("s1.trajectory.jsonl", event("x", "2026-06-01T10:00:00Z", 1).json());
    let file = "[[rules]]\nid = \"own\"\nregex = '''openclaw-trajectory'''\n";
    let rules = RuleSet::builtin().with_file(file).unwrap();
    let policy = RedactionPolicy::standard(MarkerKey::new([7; 32])).with_rules(rules);
    let mut request = request();
    request.redactor = Redactor::new(policy);
    let error = export_from(&sources, &request).unwrap_err();
    let is_told = matches!(error, ExportError::NotReadable { file: BundleFile::Events, line: 1 });
    assert!(is_told, "{error}");
}

#[test]
fn a_giant_row_keeps_its_place_and_its_text_becomes_a_blob() {
    let secret = ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
    let plain = r"nothing but words in a line\n".repeat(999);
    let page = format!(r#"many words of a giant \u00e4 \\ \"{secret}\"\n{plain}"#);
    let giant = page.repeat(17 * 1024 * 1024 / page.len() + 1);
    let sources = MemorySources::new();
    let row = |id: &str, parent: &str, text: &str| {
        let content = format!(r#"{{"role":"user","content":"{text}","note":"kept"}}"#);
        message(id, Some(parent), 2, &content)
    };
    let rows = [
        HEADER.to_owned(),
        message("a", None, 1, user("before")),
        row("b", "a", &giant),
        row("x", "b", "abandoned"),
        row("c", "b", "after"),
    ];
    sources.put("s1.jsonl", rows.join("\n"));
    let prompt = format!(r#"{{"prompt":"{giant}"}}"#);
    sources.put(
        "s1.trajectory.jsonl",
        event("prompt.submitted", "2026-06-01T10:00:00Z", 1).with("data", prompt).json(),
    );
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(
        export.sequence(),
        ["prompt.submitted", "user.message a", "user.message b", "user.message c"]
    );
    assert_eq!(export.notices(), ["session-row-shortened [3]", "runtime-row-shortened [1]"]);
    let message = &export.events()[2]["data"]["message"];
    assert_eq!(message["note"], "kept");
    assert_eq!(message["content"]["originalBytes"], giant.len());
    let name = format!("blobs/{}.txt", message["content"]["blob"].as_str().unwrap());
    let blob = &export.files[&BundleFile::parse(&name).unwrap()];
    assert!(blob.starts_with("many words of a giant ä \\ \"<redacted:github-pat:"));
    assert_eq!(blob.lines().count(), giant.len() / page.len() * 1_000);
    assert!(!export.files.values().any(|text| text.contains("q7Xw2")));
    let blobs = export.files.keys().filter(|file| matches!(file, BundleFile::Blob(_)));
    assert_eq!(blobs.count(), 1, "the same text is stored once");
    let prompts = export.json(BundleFile::Prompts).unwrap();
    assert_eq!(prompts["submittedPrompts"][0], format!("<{} bytes in {name}>", giant.len()));
}

#[test]
fn pictures_in_giant_rows_are_hidden_as_in_ordinary_ones() {
    let picture = |letters: usize| "q83vASNF".repeat(letters / 8);
    let mut blocks = vec![
        json!({"type": "image", "mimeType": "image/png", "data": picture(1_000_000)}),
        json!({"type": "image_url", "image_url": {
            "url": format!("data:image/gif;base64,{}", picture(500_000))
        }}),
    ];
    let content = |blocks: &[Value]| json!({"role": "user", "content": blocks}).to_string();
    let ordinary = content(&blocks);
    // Longer than any text that is written to a blob in one piece.
    blocks.push(json!({"type": "image", "source": {
        "type": "base64", "media_type": "image/jpeg", "data": picture(17 * 1024 * 1024)
    }}));
    let rows = [message("a", None, 1, &ordinary), message("b", Some("a"), 2, content(&blocks))];
    let export = exported(&rows, &[]);
    assert!(!export.files.values().any(|text| text.contains("q83vASNFq83v")));
    assert!(!export.files.keys().any(|file| matches!(file, BundleFile::Blob(_))));
    let events = export.events();
    let blocks = |event: usize| &events[event]["data"]["message"]["content"];
    assert_eq!(blocks(0)[0], blocks(1)[0], "the same marker and figures");
    assert_eq!(blocks(0)[1], blocks(1)[1]);
    assert_eq!(blocks(0)[0]["bytes"], 750_000);
    assert_eq!(blocks(1)[2]["source"]["bytes"], 17 * 1024 * 1024 / 4 * 3);
    assert_eq!(export.notices(), ["session-row-shortened [3]"]);
    let manifest = export.json(BundleFile::Manifest).unwrap();
    assert_eq!(manifest["redaction"]["media"], 5);
}

#[test]
fn a_blob_that_is_a_picture_of_several_blocks_is_left_out() {
    let line = format!("{}\n", "q83vASNF".repeat(9));
    let picture = format!("iVBORw0KGgoA{}", line.repeat(5 * 1024 * 1024 / line.len()));
    let digest = BlobDigest::of(picture.as_bytes());
    let sources = MemorySources::new();
    sources.put("s1.jsonl", HEADER);
    sources.put(format!("s1.trajectory.blobs/{digest}"), picture.as_str());
    let data = format!(
        r#"{{"x":{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{digest}"}}}}"#
    );
    sources.put(
        "s1.trajectory.jsonl",
        event("x", "2026-06-01T10:00:00Z", 1).with("data", data).json(),
    );
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.notices(), ["blob-too-large [0]"]);
    assert!(!export.files.values().any(|text| text.contains("q83vASNFq83v")));
}

#[test]
fn a_heavy_list_becomes_a_blob_and_its_siblings_stay() {
    let secret = ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat();
    let picture = "q83vASNF".repeat(100);
    let mut rows: Vec<Value> = (0..150_000).map(|number| json!([number, number + 1])).collect();
    rows.push(json!({"password": secret, "n": 1}));
    rows.push(json!({"type": "image", "mimeType": "image/png", "data": picture}));
    let content = json!({"role": "assistant", "content": [
        {"type": "text", "text": "I will call"},
        {"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "x", "rows": rows}},
        {"type": "toolCall", "id": "c2", "name": "ls", "arguments": {}},
    ]});
    let data = json!({"finalStatus": "ok", "assistantTexts": ["done"], "toolMetas": rows});
    let event = event("trace.artifacts", "2026-06-01T10:00:00Z", 1).with("data", data).json();
    let export = exported(&[message("a", None, 1, content)], &[event]);
    assert_eq!(
        export.sequence(),
        ["trace.artifacts", "assistant.message a", "tool.call a", "tool.call a"]
    );
    let events = export.events();
    let arguments = &events[2]["data"]["arguments"];
    assert_eq!(arguments["path"], "x");
    assert_eq!(arguments["rows"]["originalBytes"], Value::from(rows.clone()).to_string().len());
    let artifacts = export.json(BundleFile::Artifacts).unwrap();
    assert_eq!(
        (&artifacts["finalStatus"], &artifacts["assistantTexts"][0]),
        (&json!("ok"), &json!("done"))
    );
    let name = format!("blobs/{}.txt", arguments["rows"]["blob"].as_str().unwrap());
    let blob = &export.files[&BundleFile::parse(&name).unwrap()];
    assert_eq!(blob.lines().count(), rows.len());
    assert!(blob.starts_with("[0,1]\n[1,2]\n"));
    assert!(blob.contains(r#""password":"<redacted:"#) && blob.contains("<media:image/png;"));
    assert!(
        !export.files.values().any(|text| text.contains("q7Xw2") || text.contains("q83vASNFq8"))
    );
    assert_eq!(export.notices(), ["session-row-shortened [2]", "runtime-row-shortened [1]"]);
}

#[test]
fn deep_nesting_and_many_values_are_exported() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let some = "[".repeat(5_000) + &"]".repeat(5_000);
    let many = format!("[{}1]", "1,".repeat(600_000));
    let sources = MemorySources::new();
    let row = |id: &str, parent: Option<&str>, content: &str| {
        message(id, parent, 1, format!(r#"{{"role":"user","content":{content}}}"#))
    };
    let rows = [
        HEADER.to_owned(),
        row("a", None, &some),
        row("b", Some("a"), &deep),
        row("c", Some("b"), &many),
        row("d", Some("c"), "\"last\""),
    ];
    sources.put("s1.jsonl", rows.join("\n"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.sequence().len(), 4);
    // A line of a blob cannot be nested that deeply.
    assert_eq!(export.notices(), ["session-row-shortened [3, 4]", "blob-too-large [0]"]);
    let marker = &export.events()[2]["data"]["message"]["content"];
    assert_eq!(marker["truncated"], true);
}

#[test]
fn very_many_spaces_are_skipped_without_a_notice() {
    let blanks = " ".repeat(17 << 20);
    let row = message("a", None, 1, USER);
    let export = exported(&[blanks.clone(), format!("{blanks}{row}")], &[]);
    assert_eq!(export.report.transcript_event_count, 1);
    assert!(export.notices().is_empty(), "{:?}", export.notices());
}

#[test]
fn a_key_in_the_items_of_a_giant_list_does_not_end_the_export() {
    let line = r#""MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj""#;
    // In some of these lists, the key spans a position at which the list is split.
    let words = r#""words that say nothing, again and again","#;
    for before in [100, 5_990, 6_080, 6_100, 6_120] {
        let key = format!(
            r#""-----BEGIN PRIVATE KEY-----",{}"-----END PRIVATE KEY-----","#,
            format!("{line},").repeat(60)
        );
        let list = format!("{}{key}{}\"end\"", words.repeat(before), words.repeat(220_000));
        let text = format!(r#"{{"role":"user","content":[{{"type":"data","rows":[{list}]}}]}}"#);
        let export = exported(&[message("a", None, 1, &text)], &[]);
        let blob = export.files.iter().find(|(file, _)| matches!(file, BundleFile::Blob(_)));
        assert!(!blob.unwrap().1.contains("MIIEvQIBADANBg"), "{before}");
    }
}

#[test]
fn a_deep_list_of_many_values_is_not_made_longer_by_its_indentation() {
    let content = format!("{}{}1{}", "[".repeat(900), "1,".repeat(20_000), "]".repeat(900));
    let rows = [message("a", None, 1, format!(r#"{{"role":"user","content":{content}}}"#))];
    let export = exported(&rows, &[]);
    assert!(export.files[&BundleFile::SessionBranch].len() < 3 * content.len());
}
