//! Bundles that version 0.1.0 wrote stay sound and readable.

use serde_json::{Value, json};
use traj_tests::export_home::{ExportHome as Home, result};

/// The bundles of `tests/fixtures/bundles-0.1.0`.
const BUNDLES: [&str; 3] = ["nightly-import", "two-tries.zip", "long-text.tar.zst"];

fn run(home: &Home, verb: &str, bundle: &str) -> Value {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/bundles-0.1.0/");
    let output = home.traj(&[verb, &format!("{place}{bundle}"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{verb} {bundle}");
    result(&output)["result"].clone()
}

#[test]
fn they_are_sound() {
    let home = Home::new();
    let counts = BUNDLES.map(|bundle| {
        let report = run(&home, "verify", bundle);
        assert_eq!(report["problems"], json!([]), "{bundle}");
        assert_eq!(report["findings"], json!([]), "{bundle}");
        (report["files"].as_u64().unwrap(), report["events"].as_u64().unwrap())
    });
    assert_eq!(counts, [(8, 30), (3, 8), (6, 7)]);
}

#[test]
fn what_happened_is_read() {
    let home = Home::new();
    let read = BUNDLES.map(|bundle| {
        let summary = run(&home, "inspect", bundle);
        assert_eq!(summary["problems"], json!([]), "{bundle}");
        assert_eq!(summary["unknown"], json!({}), "{bundle}");
        let calls = &summary["calls"];
        format!(
            "{} {}, {} turns, {} calls, {} errors, {} tokens in, {} ms, first failure: {}",
            summary["sessionId"],
            summary["status"],
            summary["turns"],
            calls["calls"],
            calls["errors"],
            summary["usage"]["inputTokens"],
            summary["durationMillis"],
            summary["firstFailure"]["call"]["command"],
        )
    });
    insta::assert_snapshot!(read.join("\n"), @r#"
    "nightly-import" "success", 1 turns, 4 calls, 1 errors, 30761 tokens in, 45600 ms, first failure: "cargo test --lib client"
    "two-tries" null, 2 turns, 1 calls, 1 errors, 240 tokens in, 25000 ms, first failure: "make test"
    "long-text" "success", 1 turns, 1 calls, 1 errors, 4 tokens in, 6000 ms, first failure: "cat report"
    "#);
}
