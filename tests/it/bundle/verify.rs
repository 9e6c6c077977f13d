//! What `traj verify` finds.

mod hostile;

use std::num::NonZeroUsize;

use traj_core::capture::BlobDigest;
use traj_core::json::Json;
use traj_core::memory::MemoryBundleSource;
use traj_export::{VerifyReport, verify};
use traj_tests::export_fixture::{exported, redactor};
use traj_tests::rows::{event, message, user};

fn bundle() -> MemoryBundleSource {
    let event = event("context.compiled", "2026-06-01T10:00:00Z", 1)
        .with("data", r#"{"systemPrompt":"be brief","tools":[]}"#)
        .json();
    MemoryBundleSource::of(&exported(&[message("a", None, 1, user("hello there"))], &[event]).files)
}

fn check(bundle: &MemoryBundleSource) -> VerifyReport {
    verify(bundle, &redactor(), NonZeroUsize::MIN).unwrap()
}

#[test]
fn an_export_of_rows_that_repeat_their_members_is_sound() {
    let row = event("x", "2026-06-01T10:00:00Z", 1).with("data", r#"{"k":1}"#);
    for again in [
        r#""seq":7"#,
        r#""type":"other""#,
        r#""source":"runtime""#,
        r#""sessionId":"s1""#,
        r#""data":{"q":2}"#,
        r#""ts":"2026-06-01T09:00:00Z""#,
        r#""traceSchema":"openclaw-trajectory""#,
        r#""schemaVersion":1"#,
        r#""runId":"r","runId":"s""#,
        r#""sourceSeq":9,"sourceSeq":10"#,
        r#""unknown":1,"unknown":2"#,
    ] {
        let row = row.clone().verbatim(again).json();
        let export = exported(&[], &[row, event("y", "2026-06-01T11:00:00Z", 2).json()]);
        assert_eq!(export.report.runtime_event_count, 2, "{again}");
        assert!(check(&MemoryBundleSource::of(&export.files)).is_sound(), "{again}");
        let event = &export.events()[0];
        let last: serde_json::Value = serde_json::from_str(&format!("{{{again}}}")).unwrap();
        for (name, value) in last.as_object().unwrap().iter().filter(|(name, _)| *name != "seq") {
            assert_eq!(event[name], *value, "the last one counts");
        }
    }
}

/// The one problem that `change` causes.
fn problem_after(change: impl FnOnce(&mut MemoryBundleSource)) -> String {
    let mut bundle = bundle();
    change(&mut bundle);
    reported(&check(&bundle))
}

/// The problems of a report, one on each line.
fn reported(report: &VerifyReport) -> String {
    let problems = report.problems.iter().map(|problem| {
        let line = problem.line.map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line} {}", problem.file, problem.problem)
    });
    problems.collect::<Vec<_>>().join("\n")
}

fn replace(bundle: &mut MemoryBundleSource, path: &str, from: &str, to: &str) {
    let content = bundle.content_mut(path).unwrap();
    let changed = String::from_utf8(content.clone()).unwrap().replacen(from, to, 1);
    *content = changed.into_bytes();
}

#[test]
fn an_untouched_bundle_is_sound() {
    let report = check(&bundle());
    assert!(report.is_sound(), "{:?}", report.problems);
    assert_eq!((report.files, report.events), (6, 2));
}

#[test]
fn a_picture_in_a_blob_is_found_whatever_its_length() {
    for (length, line_end) in [(1_000, ""), (5_000_000, ""), (5_000_000, "\n")] {
        let line = format!("{}{line_end}", "q83vASNF".repeat(9));
        let picture = format!("iVBORw0KGgoA{}", line.repeat(length / line.len()));
        let mut bundle = bundle();
        bundle.push(format!("blobs/{}.txt", "0".repeat(64)), picture);
        let report = check(&bundle);
        assert!(report.findings.iter().any(|finding| finding.rule == "media"), "{length}");
    }
}

#[test]
fn every_change_is_named() {
    let edited = problem_after(|b| replace(b, "events.jsonl", "hello", "hullo"));
    assert_eq!(edited, "events.jsonl was changed: its digest differs");
    let missing = problem_after(|b| b.remove("tools.json"));
    assert_eq!(missing, "tools.json is missing");
    let extra = problem_after(|b| b.push("notes.txt", "x"));
    assert_eq!(extra, "notes.txt is an unexpected file");
    let unlisted = problem_after(|b| b.push("metadata.json", "{}"));
    assert!(unlisted.contains("metadata.json is not listed in the manifest"), "{unlisted}");
    let cut = problem_after(|b| {
        let content = b.content_mut("events.jsonl").unwrap();
        content.truncate(content.len() - 10);
    });
    assert!(cut.starts_with("events.jsonl:2 is not JSON"), "{cut}");
    let manifest =
        problem_after(|b| replace(b, "manifest.json", "\"eventCount\": 2", "\"eventCount\": 3"));
    assert!(manifest.contains("manifest.json was changed: the bundle digest differs"));
    assert!(manifest.contains("states 3 as the number of events, not 2"), "{manifest}");
    let unsealed = problem_after(|b| replace(b, "manifest.json", "\"digest\":", "\"tsegid\":"));
    assert!(unsealed.contains("manifest.json has no bundle digest"), "{unsealed}");
    assert_eq!(problem_after(|b| b.remove("manifest.json")).lines().count(), 1);
}

#[test]
fn a_manifest_that_says_the_same_in_another_way_was_changed() {
    let changed = "manifest.json was changed: its layout is not the one traj writes";
    for (from, to) in [("{\n", "{ \n"), ("\n}\n", "\n}\n\n"), ("\"traj\"", "\"tr\\u0061j\"")] {
        let problem = problem_after(|bundle| replace(bundle, "manifest.json", from, to));
        assert_eq!(problem, changed, "{from:?}");
    }
}

#[test]
fn files_that_do_not_fit_their_schema_are_reported() {
    let event = problem_after(|b| replace(b, "events.jsonl", "\"seq\":2", "\"seq\":\"2\""));
    assert!(event.contains("events.jsonl:2 does not match the event schema"), "{event}");
    let numbering = problem_after(|b| replace(b, "events.jsonl", "\"seq\":2", "\"seq\":7"));
    assert!(numbering.contains("events.jsonl:2 has the wrong sequence number"), "{numbering}");
    let branch = problem_after(|b| replace(b, "session-branch.json", "\"entries\"", "\"emtries\""));
    assert!(branch.contains("session-branch.json does not match its schema"), "{branch}");
}

/// Adjusts the manifest to the files, as a forger would.
fn reseal(bundle: &mut MemoryBundleSource) {
    let text = String::from_utf8(bundle.content_mut("manifest.json").unwrap().clone()).unwrap();
    let mut manifest = Json::parse(&text).unwrap();
    let object = manifest.as_object_mut().unwrap();
    object.remove("digest");
    let mut contents = object.get("contents").unwrap().as_array().unwrap().to_vec();
    for content in &mut contents {
        let path = content.get("path").unwrap().as_str().unwrap().to_owned();
        let Some(bytes) = bundle.content_mut(&path) else { continue };
        let content = content.as_object_mut().unwrap();
        content.insert("bytes", bytes.len() as u64);
        content.insert("sha256", BlobDigest::of(bytes).to_string());
    }
    object.insert("contents", Json::Array(contents));
    let seal = format!("sha256:{}", BlobDigest::of(manifest.to_line().as_bytes()));
    manifest.as_object_mut().unwrap().push("digest", seal);
    *bundle.content_mut("manifest.json").unwrap() = (manifest.to_pretty() + "\n").into_bytes();
}

/// The problem that is found after text in a file was replaced and all digests were adjusted.
fn problem_of_forging(path: &str, from: &str, to: &str) -> String {
    problem_after(|bundle| {
        let before = bundle.content_mut(path).unwrap().clone();
        replace(bundle, path, from, to);
        assert_ne!(bundle.content_mut(path).unwrap(), &before, "{from} is not in {path}");
        reseal(bundle);
    })
}

#[test]
fn a_resealed_bundle_is_as_sound_as_before() {
    assert_eq!(problem_after(reseal), "");
}

#[test]
fn every_statement_of_the_manifest_is_checked() {
    for (from, to, problem) in [
        ("\"schemaVersion\": 1", "\"schemaVersion\": 9", "manifest.json does not match its schema"),
        (
            "\"sessionId\": \"s1\"",
            "\"sessionId\": \"s2\"",
            "events.jsonl:1 belongs to another session",
        ),
        (
            "\"traceId\": \"s1\"",
            "\"traceId\": \"s2\"",
            "manifest.json:5 names a trace that is not its",
        ),
        ("\"leafId\": \"a\"", "\"leafId\": \"b\"", "manifest.json:9 names a different leaf than"),
        ("\"leafId\": \"a\"", "\"leafId\": null", "manifest.json:9 names a different leaf than"),
        (
            "\"prompts.json\"",
            "\"nothing.json\"",
            "names supplemental files that differ from those it lists",
        ),
        (
            "\"application/x-ndjson\"",
            "\"text/html\"",
            "states a media type for events.jsonl other than",
        ),
        (
            "1970-01-01T00:00:00.000Z",
            "yesterday",
            "manifest.json:4 does not state when it was made",
        ),
        ("\"tool\"", "\"loot\"", "manifest.json does not state the program that wrote it"),
        ("\"redaction\"", "\"noitcader\"", "manifest.json does not state what was redacted"),
        ("\"sources\"", "\"secruos\"", "names no source for its runtime events"),
        ("\"role\": \"runtime\"", "\"role\": \"session\"", "must name a session, a sidecar or"),
        ("\"role\": \"runtime\"", "\"role\": \"other\"", "manifest.json does not match its schema"),
        ("\"runtime\": \"", "\"running\": \"", "names files other than its sources"),
        (
            "\"total\": ",
            "\"total\": 9",
            "states a number of secrets that is not the sum of its rules",
        ),
        ("\"agent\": \"openclaw\"", "\"agent\": \"codex\"", "names an agent that does not write"),
        (
            "\"dialect\"",
            "\"otherBranches\": {\"count\": 1, \"entries\": 99}, \"dialect\"",
            "states branches that the session cannot have",
        ),
        (
            "\"dialect\"",
            "\"otherBranches\": {\"count\": 2, \"entries\": 1}, \"dialect\"",
            "states branches that the session cannot have",
        ),
        (
            "\"dialect\"",
            "\"unknownEntries\": {\"count\": 1, \"types\": []}, \"dialect\"",
            "states unknown entries that differ from session-branch.json",
        ),
        ("\"rows\": ", "\"rows\": 9999", "states rows that a source cannot have"),
        ("\"rows\": ", "\"rows\": 0.0", "manifest.json does not match its schema"),
    ] {
        let found = problem_of_forging("manifest.json", from, to);
        assert!(found.contains(problem), "{from} {to}: {found}");
    }
}

#[test]
fn files_belong_to_one_session_one_time_and_one_branch() {
    let (events, branch) = ("events.jsonl", "session-branch.json");
    for (path, from, to, problem) in [
        (
            events,
            "\"schemaVersion\":1",
            "\"schemaVersion\":2",
            "events.jsonl:1 does not match the event schema",
        ),
        (
            events,
            "\"sessionId\":\"s1\"",
            "\"sessionId\":\"s2\"",
            "events.jsonl:1 belongs to another",
        ),
        (events, "2026-06-01T10:00:00Z", "garbage", "events.jsonl:1 has no valid time"),
        (events, "2026-06-01T10:00:00Z", "2027-06-01T10:00:00Z", "events.jsonl:2 is earlier than"),
        (
            events,
            "\"data\":{\"systemPrompt\"",
            "\"data\":null,\"x\":{\"systemPrompt\"",
            "events.jsonl:1 does not",
        ),
        (
            events,
            "\"entryId\":\"a\"",
            "\"entryId\":\"b\"",
            "events.jsonl:2 refers to an entry that",
        ),
        (
            branch,
            "\"leafId\": \"a\"",
            "\"leafId\": \"b\"",
            "ends with an entry that is not its leaf",
        ),
        (branch, "\"id\": \"a\"", "\"id\": \"b\"", "ends with an entry that is not its leaf"),
        (
            "prompts.json",
            "\"sessionId\": \"s1\"",
            "\"sessionId\": \"s2\"",
            "prompts.json:6 has a different sessionId",
        ),
        (
            "prompts.json",
            "\"schemaVersion\": 1",
            "\"schemaVersion\": 2",
            "prompts.json does not match its",
        ),
    ] {
        let found = problem_of_forging(path, from, to);
        assert!(found.contains(problem), "{path} {from} {to}: {found}");
    }
}

#[test]
fn entries_have_events_and_events_have_entries() {
    let text = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let rows = [
        message("a", None, 1, text("one")),
        message("b", Some("a"), 2, text("two")),
        message("c", Some("b"), 3, text("three")),
    ];
    let forged = |path: &str, from: &str, to: &str| {
        let mut bundle = MemoryBundleSource::of(&exported(&rows, &[]).files);
        replace(&mut bundle, path, from, to);
        reseal(&mut bundle);
        reported(&check(&bundle))
    };
    let (events, branch) = ("events.jsonl", "session-branch.json");
    // The event of the second entry claims to belong to the first.
    let silent = forged(events, "\"entryId\":\"b\"", "\"entryId\":\"a\"");
    assert_eq!(silent, "session-branch.json:21 has no event");
    let both = forged(branch, "\"id\": \"b\"", "\"id\": \"x\"");
    let stray = "events.jsonl:2 refers to an entry that is not on the branch";
    assert_eq!(both, format!("{stray}\nsession-branch.json:21 has no event"));
}

#[test]
fn ids_that_look_like_secrets_stay_the_same_in_all_files() {
    let id = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let row = |id: &str, parent: Option<&str>| {
        message(id, parent, 1, r#"{"role":"user","content":"hello"}"#)
    };
    let rows = [row("root", None), row(&id, Some("root"))];
    let bundle = MemoryBundleSource::of(&exported(&rows, &[]).files);
    let report = check(&bundle);
    assert!(report.is_sound(), "{:?}", report.problems);
}

#[test]
fn a_surviving_secret_is_found_by_rule_and_line_without_its_value() {
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let mut bundle = bundle();
    replace(&mut bundle, "events.jsonl", "hello there", &secret);
    let report = check(&bundle);
    let finding = &report.findings[0];
    assert_eq!((finding.file.as_str(), finding.line), ("events.jsonl", 2));
    assert!(!format!("{report:?}").contains(&secret));
}

/// Removes a file and its row in the manifest, as a forger would.
fn forget(bundle: &mut MemoryBundleSource, path: &str) {
    bundle.remove(path);
    let text = String::from_utf8(bundle.content_mut("manifest.json").unwrap().clone()).unwrap();
    let mut manifest = Json::parse(&text).unwrap();
    let object = manifest.as_object_mut().unwrap();
    let mut contents = object.get("contents").unwrap().as_array().unwrap().to_vec();
    contents.retain(|content| content.get("path").unwrap().as_str() != Some(path));
    object.insert("contents", Json::Array(contents));
    *bundle.content_mut("manifest.json").unwrap() = (manifest.to_pretty() + "\n").into_bytes();
    reseal(bundle);
}

#[test]
fn missing_required_files_are_reported_even_if_the_manifest_omits_them() {
    let branch = problem_after(|bundle| forget(bundle, "session-branch.json"));
    assert_eq!(branch, "session-branch.json is missing");
    let events = problem_after(|bundle| forget(bundle, "events.jsonl"));
    assert!(events.starts_with("events.jsonl is missing\n"), "{events}");
    // Listed or not, it is reported once.
    let listed = problem_after(|bundle| bundle.remove("session-branch.json"));
    assert_eq!(listed, "session-branch.json is missing");
    let mut empty = MemoryBundleSource::of(&exported(&[], &[]).files);
    assert!(check(&empty).is_sound());
    forget(&mut empty, "events.jsonl");
    assert_eq!(check(&empty).problems[0].problem, "is missing");
}

#[test]
fn only_the_paths_of_the_sources_are_judged_without_their_names() {
    for (from, to) in [
        ("\"session\": \"", "\"password\": \"hunter2-and-more\", \"session\": \""),
        ("\"session\": \"", "\"session\": {\"password\": \"hunter2-and-more\"}, \"session\": \""),
    ] {
        let mut bundle = bundle();
        replace(&mut bundle, "manifest.json", from, to);
        reseal(&mut bundle);
        let report = check(&bundle);
        assert_eq!(report.findings.len(), 1, "{to} {:?}", report.findings);
    }
    let mut bundle = bundle();
    let to = "{\n  \"sourceFiles\": {\"password\": \"hunter2-and-more\"},";
    replace(&mut bundle, "prompts.json", "{", to);
    assert_eq!(check(&bundle).findings[0].file, "prompts.json");
}
