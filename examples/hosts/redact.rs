//! Redaction alone: JSON values in, JSON values out. No file is written.
//!
//! ```console
//! $ echo '{"user":"ann","password":"Tr0ub4dor&3"}' | cargo run -p traj-examples --bin redact
//! {"user":"ann","password":"<redacted:password:…>"}
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints its result")]

use std::io::BufRead as _;

use anyhow::Context as _;
use serde_json::Value;
use traj_core::json::Json;
use traj_core::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

fn main() -> anyhow::Result<()> {
    // Equal secrets get equal markers while the program runs. A program that
    // compares markers across runs keeps its key in a file: see `record.rs`.
    let key = MarkerKey::from_random(getrandom::fill)?;
    let redactor = Redactor::new(RedactionPolicy::standard(key));

    let mut report = RedactionReport::new();
    for line in std::io::stdin().lock().lines() {
        let value: Value = serde_json::from_str(&line?).context("a line is not JSON")?;
        println!("{}", redact(&redactor, &value, &mut report)?);
    }
    eprintln!("hidden: {}", report.hidden());
    Ok(())
}

/// The value with every secret replaced by a marker.
fn redact(
    redactor: &Redactor,
    value: &Value,
    report: &mut RedactionReport,
) -> anyhow::Result<Value> {
    let redacted = redactor.json(Json::from_serialize(value)?, report);
    Ok(serde_json::from_str(&redacted.to_line().into_inner())?)
}
