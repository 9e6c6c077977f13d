//! `verify` and a checked `inspect` on bundles that are broken or hostile.

use std::num::NonZeroUsize;

use traj_core::memory::MemoryBundleSource;
use traj_core::port::{BundleContent, BundleSource, BundleSourceError, BundleVisitor};
use traj_core::run::Prices;
use traj_export::{inspect_checked, verify};
use traj_tests::export_fixture::redactor;
use traj_tests::rows;

use super::{bundle, check, problem_after, replace};

/// A made-up secret, put together here so that no scanner takes it for a leak.
fn secret() -> String {
    ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyz"].concat()
}

#[test]
fn a_hostile_bundle_is_reported_in_few_words() {
    // An array instead of a string is one problem, however long it is.
    let mut bundle = bundle();
    let list = format!("\"traceId\": [{}1],", "1,".repeat(100_000));
    replace(&mut bundle, "prompts.json", "\"traceId\": \"s1\",", &list);
    let report = check(&bundle);
    let reported = report.problems.iter().filter(|one| one.problem.contains("a different traceId"));
    assert_eq!(reported.count(), 1);
    // A text full of secrets, and very many files with one secret each.
    let mut bundle = super::bundle();
    bundle.push(format!("blobs/{}.txt", "0".repeat(64)), (secret() + "\n").repeat(5_000));
    for number in 0..3_000 {
        bundle.push(format!("blobs/{number:064x}.txt").replace("/0", "/a"), secret());
    }
    let report = check(&bundle);
    assert_eq!(report.findings.len(), 1_000);
    assert!(report.findings_omitted > 6_000, "{}", report.findings_omitted);
    assert_eq!((report.problems.len(), report.problems_omitted), (1_000, 2_001));
    // Lines that are not events.
    let mut bundle = super::bundle();
    let lines = "\n".repeat(300_000);
    bundle.content_mut("events.jsonl").unwrap().extend(lines.as_bytes());
    let report = check(&bundle);
    assert_eq!(report.problems.len(), 1_000);
    assert!(report.problems_omitted > 299_000);
}

#[test]
fn lines_of_more_values_than_a_bundle_has_are_not_parsed() {
    let mut bundle = bundle();
    let line = format!("[{}\"{}\"]\n", "{},".repeat(2 << 20), secret());
    bundle.content_mut("events.jsonl").unwrap().extend(line.as_bytes());
    let report = check(&bundle);
    let reported =
        |one: &traj_export::BundleProblem| one.problem == "has more values than a bundle holds";
    assert!(report.problems.iter().any(reported), "{:?}", report.problems);
    // They are still scanned, because other programs can read them.
    assert_eq!(report.findings[0].file, "events.jsonl");
}

#[test]
fn a_secret_is_found_in_broken_files() {
    let secret = secret();
    let event = r#"{"type":"x","data":"#;
    for broken in [
        // Truncated, after an empty line, not JSON, not UTF-8.
        format!("{event}\"{secret}\"}}\n{event}").into_bytes(),
        format!("{event}\"{secret}\"}}").into_bytes(),
        format!("\n{event}\"{secret}\"}}\n").into_bytes(),
        format!("{event} {secret}\n").into_bytes(),
        [b"\xff", event.as_bytes(), b" ", secret.as_bytes(), b"\n"].concat(),
    ] {
        for path in ["events.jsonl", "session-branch.json", "tools.json"] {
            let mut bundle = bundle();
            *bundle.content_mut(path).unwrap() = broken.clone();
            let report = check(&bundle);
            assert_eq!(report.findings[0].file, path, "{}", String::from_utf8_lossy(&broken));
            assert!(report.problems.iter().any(|one| one.file == path));
            assert!(!format!("{report:?}").contains(&secret));
        }
    }
    let mut bundle = bundle();
    let long = "a line\n\n".repeat(1_000_000);
    let blob = [b"\xff\n", long.as_bytes(), secret.as_bytes()].concat();
    bundle.push(format!("blobs/{}.txt", "0".repeat(64)), blob);
    assert!(!check(&bundle).findings.is_empty());
}

/// A bundle in which one file cannot be read beyond a position.
#[derive(Debug)]
struct Breaking<'p> {
    bundle: MemoryBundleSource,
    path: &'p str,
    length: usize,
}

struct BreakingContent<'c> {
    content: &'c mut dyn BundleContent,
    left: usize,
}

impl BundleContent for BreakingContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let length = buffer.len().min(self.left);
        if length == 0 {
            return Err(BundleSourceError::Damaged { source: "it ends early".into() });
        }
        self.left -= length;
        self.content.read(&mut buffer[..length])
    }
}

impl BundleSource for Breaking<'_> {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        self.bundle.visit(&mut |path, content| {
            let left = if path == self.path { self.length } else { usize::MAX };
            visit(path, &mut BreakingContent { content, left })
        })
    }
}

#[test]
fn a_secret_before_the_place_where_a_bundle_breaks_is_reported() {
    for path in ["events.jsonl", "session-branch.json", "tools.json"] {
        let mut bundle = bundle();
        let text = format!(r#"{{"a":1,"b":["{}",1],"c":"more"}}"#, secret());
        let length = text.len() - 4;
        *bundle.content_mut(path).unwrap() = text.into_bytes();
        let breaking = Breaking { bundle, path, length };
        let report = verify(&breaking, &redactor(), NonZeroUsize::new(3).unwrap()).unwrap();
        assert_eq!(report.findings[0].file, path);
        let first = &report.problems[0];
        assert_eq!(first.file, path);
        assert_eq!(first.problem, "cannot be read further: the archive is truncated or damaged");
        assert!(!format!("{report:?}").contains(&secret()));
    }
    // The name of a file can contain a secret as well.
    let path = format!("{}.txt", secret());
    let mut stray = bundle();
    stray.push(path.as_str(), "nothing but words");
    let breaking = Breaking { bundle: stray, path: &path, length: 5 };
    let report = verify(&breaking, &redactor(), NonZeroUsize::MIN).unwrap();
    assert!(report.problems[0].problem.starts_with("cannot be read further"), "{report:?}");
    assert!(!format!("{report:?}").contains(&secret()), "{report:?}");
    // Without a finding, the error itself is returned.
    let breaking = Breaking { bundle: bundle(), path: "events.jsonl", length: 100 };
    let error = verify(&breaking, &redactor(), NonZeroUsize::MIN).unwrap_err();
    assert!(matches!(error, BundleSourceError::Damaged { .. }), "{error:?}");
}

#[test]
fn nothing_is_shown_of_a_broken_bundle_with_a_secret() {
    let mut bundle = bundle();
    let secret = secret();
    let escaped: String = secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let event = |text: &str| {
        let data = format!(r#"{{"prompt":"{text}"}}"#);
        rows::event("prompt.submitted", "2026-06-01T10:00:00Z", 1).with("data", data).json()
    };
    let look = |bundle: &MemoryBundleSource| {
        inspect_checked(bundle, &redactor(), NonZeroUsize::MIN, Prices::shipped())
            .map_err(|error| error.to_string())
    };
    for broken in [
        event(&escaped),
        event(&escaped) + "\n{",
        event(&escaped).replace("traceSchema", "\u{fffd}") + "\n",
        "\n".to_owned() + &event(&escaped) + "\n",
        "\nno JSON\n".to_owned() + &event(&escaped) + "\n",
    ] {
        // Invalid UTF-8 is shown with replacement characters, and is scanned in that form.
        let bytes = broken.replace('\u{fffd}', "\u{1}").into_bytes();
        let bytes = bytes.into_iter().map(|byte| if byte == 1 { 0xff } else { byte });
        *bundle.content_mut("events.jsonl").unwrap() = bytes.collect();
        assert!(!format!("{:?}", look(&bundle)).contains(&secret), "{broken}");
    }
    *bundle.content_mut("events.jsonl").unwrap() = (event("hello") + "\n{").into_bytes();
    let summary = look(&bundle).unwrap();
    assert_eq!((summary.events, summary.timeline.len()), (1, 1), "shown as far as it goes");
    // The file was not parsed to its end, so it was scanned as text only.
    *bundle.content_mut("events.jsonl").unwrap() = format!("\n{}\n", event("hello")).into_bytes();
    let summary = look(&bundle).unwrap();
    assert_eq!((summary.events, summary.timeline.len()), (0, 0));
    assert!(summary.problems.iter().any(|one| one.problem == "is not JSON"));
}

#[test]
fn a_secret_in_a_file_that_no_bundle_has_is_reported_without_its_name() {
    let secret = secret();
    let mut strays = bundle();
    strays.push(format!("{secret}.txt"), "nothing");
    strays.push("notes.txt", format!("one\ntwo {secret}\n"));
    let report = check(&strays);
    let places: Vec<_> = report.findings.iter().map(|found| (&*found.file, found.line)).collect();
    assert_eq!(places.len(), 2, "{places:?}");
    assert!(places[0].0.starts_with("<redacted:") && places[1] == ("notes.txt", 2), "{places:?}");
    assert!(!format!("{report:?}").contains(&secret), "{report:?}");
}

#[test]
fn a_secret_in_a_text_is_reported_with_its_line() {
    let secret = secret();
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\n\
               b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB\n\
               -----END OPENSSH PRIVATE KEY-----";
    let mut leaking = bundle();
    let text = format!("a\nb\n{secret}\nc {secret}\n{key}\nend\n");
    *leaking.content_mut("system-prompt.txt").unwrap() = text.into_bytes();
    let report = check(&leaking);
    let mut lines: Vec<_> = report.findings.iter().map(|found| found.line).collect();
    lines.sort_unstable();
    assert_eq!(lines, [1, 3, 4], "what lies in several lines has the first: {:?}", report.findings);
}

#[test]
fn a_bundle_of_another_exporter_is_recognised() {
    let problem = problem_after(|bundle| {
        let content = bundle.content_mut("manifest.json").unwrap();
        let mut manifest: serde_json::Value = serde_json::from_slice(content).unwrap();
        let manifest_object = manifest.as_object_mut().unwrap();
        for member in ["tool", "digest", "redaction", "sources", "notices"] {
            manifest_object.remove(member);
        }
        *content = manifest.to_string().into_bytes();
    });
    assert_eq!(
        problem,
        "manifest.json was not written by traj: it has no digests to check the files by"
    );
}
