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
fn their_runs_can_be_read() {
    let home = Home::new();
    let read = BUNDLES.map(|bundle| {
        let summary = run(&home, "inspect", bundle);
        assert_eq!(summary["problems"], json!([]), "{bundle}");
        assert_eq!(summary["unknown"], json!({}), "{bundle}");
        let calls = &summary["calls"];
        format!(
            "{} {}, turns {}, calls {}, errors {}, tokens in {}, ms {}, first failure: {}",
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
    "nightly-import" "success", turns 1, calls 4, errors 1, tokens in 30761, ms 45600, first failure: "cargo test --lib client"
    "two-tries" null, turns 2, calls 1, errors 1, tokens in 240, ms 25000, first failure: "make test"
    "long-text" "success", turns 1, calls 1, errors 1, tokens in 4, ms 6000, first failure: "cat report"
    "#);
}
