//! Values that are hard to export: huge ones, secrets, images, odd strings and
//! numbers, paths, odd times. Entries and members stay; only redacted values
//! change.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use traj_core::memory::MemoryBundleSource;
use traj_core::port::BundleFile;
use traj_export::verify;
use traj_tests::export_fixture::{Exported, exported, redactor};
use traj_tests::rows::{entry, event, message};

fn said(id: &str, parent: Option<&str>, second: u32, content: &Value) -> String {
    message(id, parent, second, json!({"role": "user", "content": content}).to_string())
}

/// One message per content, each the child of the previous one.
fn conversation(contents: &[Value]) -> Exported {
    let rows: Vec<String> = contents
        .iter()
        .enumerate()
        .map(|(number, content)| {
            let parent = number.checked_sub(1).map(|before| format!("m{before}"));
            said(&format!("m{number}"), parent.as_deref(), number as u32, content)
        })
        .collect();
    exported(&rows, &[])
}

/// The exported form of each content, in both files that contain it.
fn contents(export: &Exported) -> Vec<Value> {
    let branch = export.json(BundleFile::SessionBranch).unwrap();
    let entries = branch["entries"].as_array().unwrap();
    let shown: Vec<Value> =
        export.events().iter().map(|event| event["data"]["message"]["content"].clone()).collect();
    let stored: Vec<Value> =
        entries.iter().map(|entry| entry["message"]["content"].clone()).collect();
    assert_eq!(shown, stored, "both files say the same");
    shown
}

#[test]
fn long_texts_are_complete_and_redacted() {
    let filler = "many words of little meaning ".repeat(1_500);
    // Assembled, so that no scanner takes this file for a leak.
    let secret = format!("ghp_{}", "q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K");
    let at_edge = |edge: usize| {
        let blanks = "z ".repeat(edge / 2 - 10);
        Value::from(format!("{blanks}{secret} {filler}"))
    };
    let export = conversation(&[
        Value::from(filler.clone()),
        Value::from(format!("/home/ann/shop/x {filler}")),
        Value::from(format!("/begins with a slash {filler}")),
        at_edge(16_384),
        at_edge(32_768),
        Value::from("😀".repeat(20_000)),
    ]);
    let contents = contents(&export);
    assert_eq!(contents[0], filler);
    assert_eq!(contents[1], format!("$WORKSPACE_DIR/x {filler}"));
    assert_eq!(contents[2], format!("/begins with a slash {filler}"));
    for edge in &contents[3..5] {
        let text = edge.as_str().unwrap();
        assert!(!text.contains("q7Xw2") && text.contains("<redacted:"));
        assert!(text.ends_with(&filler));
    }
    assert_eq!(contents[5].as_str().unwrap().chars().count(), 20_000);
}

#[test]
fn a_long_prompt_is_whole_in_every_file() {
    let prompt = format!("You work in /home/ann/shop/ {}", "and follow rules. ".repeat(400));
    let data = json!({"systemPrompt": prompt, "tools": []});
    let event = event("context.compiled", "2026-06-01T10:00:00Z", 1).with("data", data).json();
    let export = exported(&[], &[event]);
    let whole = prompt.replace("/home/ann/shop", "$WORKSPACE_DIR");
    assert_eq!(export.json(BundleFile::Prompts).unwrap()["system"], whole.as_str());
    assert_eq!(export.files[&BundleFile::SystemPrompt], format!("{whole}\n"));
    assert_eq!(export.json(BundleFile::Tools).unwrap(), json!([]));
}

#[test]
fn secrets_are_hidden_where_they_stand_and_nothing_around_them() {
    let token = format!("ghp_{}", "q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K");
    let export = conversation(&[
        json!(format!("before {token} after")),
        json!([{"type": "text", "text": format!("DB_PASSWORD={token}\"}}]}} stays")}]),
        json!({"apiKey": token, "nextPage": 2, "tokens": 12, "maxTokens": 8}),
        json!({"name": "DB_PASSWORD", "value": token}),
        json!({(token.clone()): 1, "/home/ann/note.txt": "first", "~/note.txt": "second"}),
        json!(format!("{{\"inner\":\"{token}\",\"n\":[1,2]}}")),
    ]);
    assert!(!export.files.values().any(|text| text.contains("q7Xw2")), "nowhere at all");
    let contents = contents(&export);
    let first = contents[0].as_str().unwrap();
    assert!(first.starts_with("before <redacted:") && first.ends_with("> after"), "{first}");
    assert!(contents[1][0]["text"].as_str().unwrap().ends_with(" stays"));
    assert_eq!(
        contents[2].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["apiKey", "maxTokens", "nextPage", "tokens"],
        "members stay, hidden or not"
    );
    assert_eq!((&contents[2]["nextPage"], &contents[2]["tokens"]), (&json!(2), &json!(12)));
    assert!(contents[3]["value"].as_str().unwrap().starts_with("<redacted:"));
    // Names that redaction makes equal stay distinct.
    assert_eq!(
        (&contents[4]["~/note.txt"], &contents[4]["~/note.txt#2"]),
        (&json!("first"), &json!("second"))
    );
    assert_eq!(contents[4].as_object().unwrap().len(), 3);
    let inner: Value = serde_json::from_str(contents[5].as_str().unwrap()).unwrap();
    assert_eq!(inner["n"], json!([1, 2]), "JSON in a text stays JSON");
}

#[test]
fn pictures_become_size_and_digest_of_their_bytes() {
    let bytes = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4v".repeat(4);
    let digest = "33bcbfd79a2ebf40cdf5d65472d36bb432339ebfa149e5b2d3398f07f63469b9";
    let export = conversation(&[json!([
        {"type": "text", "text": "see"},
        {"type": "image", "data": bytes, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": bytes}},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{bytes}")}},
        {"type": " IMAGE ", "data": " aGVs\nbG8= "},
        {"type": "image", "data": ""},
        {"type": "image", "data": "aGVsbG8=", "bytes": "mine", "sha256": "mine", "z": 1},
        {"type": "image", "data": 123},
        {"type": "audio", "mimeType": "audio/wav", "data": bytes},
    ])]);
    assert!(!export.files.values().any(|text| text.contains("AAECAwQF") || text.contains("aGVs")));
    let blocks = &contents(&export)[0];
    for place in [1, 6, 8] {
        let block = &blocks[place];
        assert!(block["data"].as_str().unwrap().starts_with("<media:"), "{block}");
    }
    assert_eq!((&blocks[1]["bytes"], &blocks[2]["source"]["bytes"]), (&json!(192), &json!(192)));
    assert_eq!(blocks[1]["sha256"], blocks[2]["source"]["sha256"]);
    assert_eq!(blocks[1]["sha256"], digest);
    assert_eq!(blocks[4]["bytes"], 5);
    assert_eq!(
        blocks[4]["sha256"],
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    );
    assert_eq!((&blocks[5]["bytes"], &blocks[6]["bytes"]), (&json!(0), &json!(5)));
    assert_eq!((&blocks[6]["z"], &blocks[7]["data"]), (&json!(1), &json!(123)));
}

#[test]
fn odd_text_names_and_numbers_come_through() {
    let odd = r#"{"role":"user","content":{"pair":"\ud83d\ude00","lone":"\ud83d x \ude00","nul":"\u0000\t\b\u007f\u2028","names":{"10":1,"2":2,"__proto__":{"x":1},"":0,"dup":1,"dup":2},"numbers":[1.0,-0,1e21,123456789012345678901,5e-324]}}"#;
    let export = exported(
        &[
            message("a", None, 1, odd),
            message("b", Some("a"), 2, r#"{"role":"роль","content":"a role of its own"}"#),
        ],
        &[],
    );
    assert_eq!(export.sequence(), ["user.message a", "message.роль b"]);
    let line = &export.files[&BundleFile::Events];
    for kept in [
        r#""10":1,"2":2,"__proto__":{"x":1},"":0,"dup":1,"dup":2"#,
        r"[1.0,-0,1e21,123456789012345678901,5e-324]",
        "\"pair\":\"😀\"",
    ] {
        assert!(line.contains(kept), "{kept} in {line}");
    }
}

#[test]
fn paths_are_replaced_as_paths_and_nothing_else_is() {
    let cases = [
        ("/home/ann/shop", "$WORKSPACE_DIR"),
        ("/home/ann/shop/a/b.ts:10:5", "$WORKSPACE_DIR/a/b.ts:10:5"),
        ("cd /home/ann/shop && ls", "cd $WORKSPACE_DIR && ls"),
        ("\"/home/ann/shop\", done", "\"$WORKSPACE_DIR\", done"),
        ("/home/ann/shopping/x", "~/shopping/x"),
        ("/home/ann/.openclaw/logs", "$OPENCLAW_STATE_DIR/logs"),
        ("/home/ann/a and /home/ann/b", "~/a and ~/b"),
        ("/home/annex/other", "/home/annex/other"),
        ("https://example.com/home/ann/x", "https://example.com/home/ann/x"),
        ("// a comment // of two", "// a comment // of two"),
        ("/etc//double//../up/", "/etc//double//../up/"),
        ("/help me", "/help me"),
        ("$WORKSPACE_DIR/already", "$WORKSPACE_DIR/already"),
        ("/", "/"),
    ];
    let export = conversation(&cases.map(|(text, _)| Value::from(text)));
    let shown = contents(&export);
    for ((text, expected), content) in cases.iter().zip(shown) {
        assert_eq!(content, *expected, "{text}");
    }
}

#[test]
fn entries_with_odd_times_are_ordered_by_instant() {
    let label = |id: &str, parent: &str, timestamp: &str| {
        entry("label", id, Some(parent), 0)
            .with("timestamp", timestamp)
            .text("targetId", "a")
            .json()
    };
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"k","name":"t","arguments":{}}]}"#;
    let export = exported(
        &[
            message("a", None, 5, call),
            label("b", "a", "\"2026-06-01T12:00:05.000+02:00\""),
            label("c", "b", "1780308005000"),
            label("d", "c", "\"June 1, 2026 10:00:05 UTC\""),
            label("e", "d", "\"2026-06-01\""),
            label("f", "e", "\"2026\""),
            label("g", "f", "\"1780308005000\""),
            label("h", "g", "\"+010000-01-01T00:00:00.000Z\""),
            label("i", "h", "-62198755200000"),
        ],
        &[
            event("second", "2026-06-01T10:00:05.000Z", 2).with("sourceSeq", r#"2"#).json(),
            event("first", "2026-06-01t10:00:05.000z", 9).with("sourceSeq", r#"1"#).json(),
            event("unnumbered", "2026-06-01 10:00:05Z", 3).with("sourceSeq", r#""x""#).json(),
            event("negative", "2026-06-01T12:00:05.0000+02:00", 5)
                .with("sourceSeq", r#"-1"#)
                .json(),
            event("by.seq", "2026-06-01T10:00:05Z", 6).with("sourceSeq", r#"null"#).json(),
            event("blank", " 2026-06-01T10:00:04.000Z ", 1).json(),
        ],
    );
    insta::assert_snapshot!(export.outline());
    assert_eq!(export.warnings(), ["invalid-runtime-event [6]"]);
}

#[test]
fn ids_and_times_of_events_are_not_redacted_with_equal_secrets() {
    // The id of the session, the id of an entry and a time appear as secrets elsewhere.
    let user = r#"{"role":"user","content":"the password is e-1234-abcd and that is all"}"#;
    let rows = [message("e-1234-abcd", None, 1, user)];
    let data = r#"{"arguments":{"token":"2026-06-01T10:00:02.000Z"}}"#;
    let event = event("tool.call", "2026-06-01T10:00:02.000Z", 1).with("data", data).json();
    let export = exported(&rows, &[event]);
    let events = export.events();
    assert_eq!(events[0]["entryId"], "e-1234-abcd");
    assert!(!events[0]["data"].to_string().contains("e-1234-abcd"));
    assert_eq!(events[1]["ts"], "2026-06-01T10:00:02.000Z");
    assert!(!events[1]["data"].to_string().contains("10:00:02"));
    let branch = export.json(BundleFile::SessionBranch).unwrap();
    assert_eq!(
        (&branch["leafId"], &branch["entries"][0]["id"]),
        (&events[0]["entryId"], &branch["leafId"])
    );
    let bundle = MemoryBundleSource::of(&export.files);
    let report = verify(&bundle, &redactor(), NonZeroUsize::MIN).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn a_value_that_a_later_message_names_as_a_secret_is_hidden_in_the_earlier_ones() {
    let export = conversation(&[
        Value::from("I logged in with tango77Kestrel and it worked."),
        Value::from("nothing of note"),
        json!([{"type": "text", "text": "export DB_PASSWORD=tango77Kestrel"}]),
        Value::from("again: tango77Kestrel"),
    ]);
    let contents = contents(&export);
    for file in export.files.values() {
        assert!(!file.contains("tango77"), "{file}");
    }
    assert!(contents[0].as_str().unwrap().starts_with("I logged in with <redacted:password:"));
    assert_eq!(contents[1], "nothing of note");
    assert!(contents[3].as_str().unwrap().starts_with("again: <redacted:password:"));
}
