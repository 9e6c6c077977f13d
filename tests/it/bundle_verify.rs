//! What `verify` notices, and archives that must not be read.

use std::io::{Cursor, Write as _};
use std::num::NonZeroUsize;

use cap_std::fs::Dir;
use traj_core::memory::MemoryBundleSource;
use traj_core::port::{BundleFile, BundleSource as _, BundleSourceError};
use traj_export::{VerifyReport, verify};
use traj_fs::FsBundleSource;
use traj_tests::export_fixture::{exported, message, redactor, runtime};

fn bundle() -> MemoryBundleSource {
    let text = r#"{"role":"user","content":"hello there"}"#;
    let event = runtime(
        "context.compiled",
        "2026-06-01T10:00:00Z",
        1,
        r#","data":{"systemPrompt":"be brief","tools":[]}"#,
    );
    MemoryBundleSource::of(&exported(&[message("a", None, 1, text)], &[event]).files)
}

fn check(bundle: &MemoryBundleSource) -> VerifyReport {
    verify(bundle, &redactor(), NonZeroUsize::MIN).unwrap()
}

#[test]
fn an_export_of_rows_that_repeat_their_members_is_sound() {
    let row = runtime("x", "2026-06-01T10:00:00Z", 1, r#","data":{"k":1}"#);
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
        let row = row.replace(r#"{"k":1}}"#, &format!(r#"{{"k":1}},{again}}}"#));
        let export = exported(&[], &[row, runtime("y", "2026-06-01T11:00:00Z", 2, "")]);
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
    let report = check(&bundle);
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
    assert_eq!(extra, "notes.txt is no file of a bundle");
    let unlisted = problem_after(|b| b.push("metadata.json", "{}"));
    assert!(unlisted.contains("metadata.json is not listed in the manifest"), "{unlisted}");
    let cut = problem_after(|b| {
        let content = b.content_mut("events.jsonl").unwrap();
        content.truncate(content.len() - 10);
    });
    assert!(cut.starts_with("events.jsonl:2 is not JSON"), "{cut}");
    let manifest =
        problem_after(|b| replace(b, "manifest.json", "\"eventCount\": 2", "\"eventCount\": 3"));
    assert!(manifest.contains("manifest.json was changed: the digest of the whole differs"));
    assert!(manifest.contains("states 3 events, there are 2"), "{manifest}");
    let unsealed = problem_after(|b| replace(b, "manifest.json", "\"digest\":", "\"tsegid\":"));
    assert!(unsealed.contains("manifest.json has no digest of the whole"), "{unsealed}");
    assert_eq!(problem_after(|b| b.remove("manifest.json")).lines().count(), 1);
}

#[test]
fn what_does_not_fit_its_schema_is_named() {
    let event = problem_after(|b| replace(b, "events.jsonl", "\"seq\":2", "\"seq\":\"2\""));
    assert!(event.contains("events.jsonl:2 does not fit the schema of events"), "{event}");
    let numbering = problem_after(|b| replace(b, "events.jsonl", "\"seq\":2", "\"seq\":7"));
    assert!(numbering.contains("events.jsonl:2 is not numbered by its place"), "{numbering}");
    let branch = problem_after(|b| replace(b, "session-branch.json", "\"entries\"", "\"emtries\""));
    assert!(branch.contains("session-branch.json does not fit its schema"), "{branch}");
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

#[expect(clippy::disallowed_methods, reason = "a test opens its own folder")]
#[expect(clippy::unwrap_in_result, reason = "the result is the subject, the rest is the test's")]
fn visit(bytes: &[u8]) -> Result<(), BundleSourceError> {
    let temporary = tempfile::tempdir().unwrap();
    let folder = Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority()).unwrap();
    folder.write("archive", bytes).unwrap();
    let visited = FsBundleSource::open(&folder, "archive")?.visit(&mut |_, content| {
        let mut buffer = vec![0; 64 * 1024];
        while content.read(&mut buffer)? > 0 {}
        Ok(())
    });
    assert_eq!(folder.entries().unwrap().count(), 1, "nothing is ever unpacked");
    visited
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_zst_of(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        // Set by hand: the builder refuses what attackers do not.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    zstd::encode_all(Cursor::new(builder.into_inner().unwrap()), 3).unwrap()
}

#[test]
fn archives_that_could_leave_their_folder_are_refused() {
    let regular = tar::EntryType::Regular;
    for name in ["../x", "/etc/x", "a/../../x", "a\\..\\x"] {
        let refused = |result| matches!(result, Err(BundleSourceError::UnsafeEntry { number: 1 }));
        assert!(refused(visit(&zip_of(&[(name, b"x")]))), "{name}");
        assert!(refused(visit(&tar_zst_of(&[(name, regular, b"x")]))), "{name}");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory] {
        let result = visit(&tar_zst_of(&[("events.jsonl", kind, b"")]));
        assert!(matches!(result, Err(BundleSourceError::UnsafeEntry { .. })), "{kind:?}");
    }
}

#[test]
fn names_count_once_and_there_may_only_be_so_many() {
    let regular = tar::EntryType::Regular;
    let twice = tar_zst_of(&[("a", regular, b"1"), ("A", regular, b"2")]);
    assert!(matches!(visit(&twice), Err(BundleSourceError::RepeatedEntry { number: 2 })));
    // A zip writer refuses repeated names, so one is renamed behind its back.
    let mut zip = zip_of(&[("first", b"1"), ("other", b"2")]);
    let places: Vec<usize> =
        (0..zip.len() - 5).filter(|at| &zip[*at..at + 5] == b"other").collect();
    for place in places {
        zip[place..place + 5].copy_from_slice(b"first");
    }
    assert!(matches!(visit(&zip), Err(BundleSourceError::RepeatedEntry { .. })));
    let names: Vec<String> =
        (0..=BundleFile::MOST_BLOBS + 100).map(|number| format!("f{number}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert!(matches!(visit(&zip_of(&many)), Err(BundleSourceError::TooManyEntries { .. })));
}

#[test]
fn an_archive_may_shrink_as_much_as_it_likes_if_its_manifest_says_so() {
    let zeros = vec![b'0'; 70 * 1024 * 1024];
    let stating = |bytes: usize| {
        format!(r#"{{"contents":[{{"path":"events.jsonl","bytes":{bytes}}}]}}"#).into_bytes()
    };
    let regular = tar::EntryType::Regular;
    for (stated, is_read) in [(zeros.len(), true), (5_000_000, false)] {
        let manifest = stating(stated);
        let (manifest, events) = (("manifest.json", &*manifest), ("events.jsonl", &*zeros));
        // A zip file is read by its table, so the order does not matter there.
        let zip = visit(&zip_of(&[events, manifest]));
        let tar =
            visit(&tar_zst_of(&[(manifest.0, regular, manifest.1), (events.0, regular, events.1)]));
        for result in [zip, tar] {
            let is_bomb = matches!(result, Err(BundleSourceError::Bomb));
            assert!(result.is_ok() == is_read && is_bomb != is_read, "{result:?}");
        }
    }
}

#[test]
fn bombs_and_damaged_archives_are_refused() {
    let zeros = vec![0; 70 * 1024 * 1024];
    assert!(matches!(visit(&zip_of(&[("events.jsonl", &zeros)])), Err(BundleSourceError::Bomb)));
    let tar = tar_zst_of(&[("events.jsonl", tar::EntryType::Regular, &zeros)]);
    assert!(matches!(visit(&tar), Err(BundleSourceError::Bomb)));
    let whole = zip_of(&[("events.jsonl", b"x")]);
    assert!(matches!(visit(&whole[..whole.len() - 8]), Err(BundleSourceError::Damaged { .. })));
    assert!(matches!(
        visit(&tar[..tar.len() / 2]),
        Err(BundleSourceError::Damaged { .. } | BundleSourceError::Bomb)
    ));
    assert!(matches!(visit(b"{}"), Err(BundleSourceError::NotABundle { .. })));
}
