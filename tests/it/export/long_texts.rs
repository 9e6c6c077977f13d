//! Texts that are too long for memory, in the files that are made from a few
//! events.

use traj_core::capture::BlobDigest;
use traj_core::memory::MemorySources;
use traj_core::port::BundleFile;
use traj_tests::export_fixture::{Exported, export_from, request};
use traj_tests::rows::{HEADER, event};

/// Stores a text as a blob; returns its marker and digest.
fn stored(sources: &MemorySources, text: &str) -> (String, BlobDigest) {
    let digest = BlobDigest::of(text.as_bytes());
    sources.put(format!("s1.trajectory.blobs/{digest}"), text);
    (marker(&digest), digest)
}

fn marker(digest: &BlobDigest) -> String {
    format!(r#"{{"truncated":true,"reason":"trajectory-field-size-limit","blob":"{digest}"}}"#)
}

fn export(sources: &MemorySources, events: &[(&str, String)]) -> Exported {
    let rows = (1..).zip(events).map(|(number, (kind, data))| {
        event(kind, "2026-06-01T10:00:02Z", number).with("data", data).json()
    });
    sources.put("s1.jsonl", HEADER);
    sources.put("s1.trajectory.jsonl", rows.collect::<Vec<_>>().join("\n"));
    export_from(sources, &request()).unwrap()
}

fn secret() -> String {
    ["ghp", "_q7Xw2ZkP9sLmD4vTr8Yb1NcJ5fGh6Ae3Ru0K"].concat()
}

#[test]
fn a_system_prompt_of_any_length_is_whole_in_its_file() {
    let sources = MemorySources::new();
    let words = "word ".repeat(430_000);
    let prompt = format!("{words}{} {words}", secret());
    let (marker, digest) = stored(&sources, &prompt);
    let described = format!(r#"{{"prompting":{{"skillsPrompt":{marker}}}}}"#);
    let export = export(
        &sources,
        &[
            ("context.compiled", format!(r#"{{"systemPrompt":{marker},"tools":[]}}"#)),
            ("trace.metadata", described),
        ],
    );
    let text = &export.files[&BundleFile::SystemPrompt];
    let hidden =
        text.strip_prefix(&words).and_then(|rest| rest.strip_suffix(&format!("{words}\n")));
    assert!(hidden.is_some_and(|hidden| hidden.starts_with("<redacted:") && hidden.len() < 50));
    let prompts = export.json(BundleFile::Prompts).unwrap();
    let place = format!("<{} bytes in blobs/{digest}.txt>", prompt.len());
    assert_eq!(prompts["system"], place.as_str());
    assert_eq!(prompts["skillsPrompt"], place.as_str());
    assert!(export.notices().is_empty());
}

#[test]
fn a_system_prompt_that_is_too_long_for_its_row_is_whole_in_its_file() {
    let sources = MemorySources::new();
    let lines = "a line of the \\\"prompt\\\"\\n".repeat(50_000);
    // More values than a row may have that is kept in memory.
    let numbers = "1,".repeat(250_000);
    let data =
        format!(r#"{{"numbers":[{numbers}1],"systemPrompt":"{}\n{lines}","tools":[]}}"#, secret());
    let export = export(&sources, &[("context.compiled", data)]);
    let text = &export.files[&BundleFile::SystemPrompt];
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.starts_with("<redacted:"));
    assert!(rest == "a line of the \"prompt\"\n".repeat(50_000));
    let prompts = export.json(BundleFile::Prompts).unwrap();
    let place = prompts["system"].as_str().unwrap();
    let length = lines.len() + secret().len() + 2;
    assert!(place.starts_with(&format!("<{length} bytes in blobs/")), "{place}");
    assert_eq!(export.notices(), ["runtime-row-shortened [1]"]);
}

#[test]
fn a_system_prompt_that_cannot_be_redacted_is_reported_as_left_out() {
    let sources = MemorySources::new();
    let (system, _) = stored(&sources, &"x".repeat(4_500_000));
    let data = format!(r#"{{"systemPrompt":{system}}}"#);
    let export = export(&sources, &[("context.compiled", data)]);
    assert_eq!(export.files[&BundleFile::SystemPrompt], "<4500000 bytes, left out>\n");
    let prompts = export.json(BundleFile::Prompts).unwrap();
    assert_eq!(prompts["system"], "<4500000 bytes, left out>");
    assert_eq!(export.notices(), ["blob-too-large [0]"]);
}

#[test]
fn a_skill_is_found_in_arguments_that_were_cut() {
    let cut = |text: &str| {
        let sources = MemorySources::new();
        let (marker, _) = stored(&sources, text);
        (sources, marker.replace("field-size", "depth"))
    };
    let skills = r#"{"skills":{"entries":[{"name":"bake","filePath":"/w/bake/SKILL.md"}]}}"#;
    let is_invoked = |sources: &MemorySources, call: String| {
        let export = export(sources, &[("trace.metadata", skills.to_owned()), ("tool.call", call)]);
        export.json(BundleFile::Metadata).unwrap()["skills"]["entries"][0]["invoked"] == true
    };
    let (sources, marker) = cut(r#"{"deep":{"path":"/w/bake/SKILL.md"}}"#);
    assert!(is_invoked(&sources, format!(r#"{{"arguments":{{"a":{{"b":{marker}}}}}}}"#)));
    let (sources, marker) = cut(r#"{"name":"read","args":{"path":"/w/bake/SKILL.md"}}"#);
    assert!(is_invoked(&sources, marker));
    let (sources, marker) = cut(r#"{"path":"/w/fry/SKILL.md"}"#);
    assert!(!is_invoked(&sources, format!(r#"{{"arguments":{marker}}}"#)));
}

#[test]
fn a_blob_that_does_not_match_its_name_counts_as_missing() {
    let lost = BlobDigest::of(b"good");
    let data = |name: &str| format!(r#"{{"{name}":{}}}"#, marker(&lost));
    let events = [("prompt.submitted", data("prompt")), ("context.compiled", data("systemPrompt"))];
    let gone = export(&MemorySources::new(), &events);
    for content in ["bad".to_owned(), "bad ".repeat(1_200_000), "b".repeat(4_500_000)] {
        let sources = MemorySources::new();
        sources.put(format!("s1.trajectory.blobs/{lost}"), content);
        let export = export(&sources, &events);
        assert_eq!(export.notices(), ["blob-missing [0]"]);
        assert!(export.files == gone.files);
    }
    assert!(!gone.files.contains_key(&BundleFile::Prompts));
    assert!(!gone.files.contains_key(&BundleFile::SystemPrompt));
}
