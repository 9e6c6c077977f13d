//! Reading a run: decoding and folding, against parsing and printing alone.
//!
//! The baseline reads the same lines into `serde_json::Value` and prints them
//! again. Both work on lines in memory and run in turn. `cargo xtask bench`
//! generates the sessions.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::run::{Fold, Place, Prices, Run};

use crate::figure::Figure;
use crate::measure;
use crate::{Bench, Outcome};

const ROUNDS: usize = 7;

/// A session and a sidecar of each case.
const CASES: [&str; 3] = ["mixed", "secret-heavy", "many-small"];
const FILES: [(&str, Dialect); 2] =
    [("s.jsonl", Dialect::OpenClaw), ("s.trajectory.jsonl", Dialect::Sidecar)];

/// Events of the run whose memory is measured.
const EVENTS: usize = 10_000_000;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let cases = bench.cases.as_ref().ok_or("needs --cases with the generated sessions")?;
    // First, while nothing else is in memory.
    let mut figures = vec![memory(bench.size(EVENTS, 10_000))?];
    for case in CASES {
        for (file, dialect) in FILES {
            let text = std::fs::read_to_string(cases.join(case).join(file))?;
            let [folded, reprinted] = measure::medians(
                bench.size(ROUNDS, 1),
                [&mut || measure::wall(|| drop(black_box(fold(&text, dialect)))), &mut || {
                    measure::wall(|| drop(black_box(reprint(&text))))
                }],
            );
            let name = format!("{case}, {}: decode and fold / parse and print", dialect.as_str());
            figures.push(Figure::ratio(name, folded, reprinted).at_most(2.0));
            let rate = text.len() as f64 / 1e6 / folded;
            figures.push(Figure::new(format!("{case}, {}", dialect.as_str()), rate, "MB/s"));
        }
    }
    Ok(figures)
}

fn fold(text: &str, dialect: Dialect) -> Run {
    let mut fold = Fold::new(Prices::shipped());
    for (number, line) in (1..).zip(text.lines()) {
        if let Ok(row) = Json::parse(line) {
            dialect.decode(&row, Place::line(number), &mut |event| fold.push(&event));
        }
    }
    fold.finish()
}

fn reprint(text: &str) -> Vec<u8> {
    let mut printed = Vec::with_capacity(text.len());
    for line in text.lines() {
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(line) {
            // Writing to memory does not fail.
            serde_json::to_writer(&mut printed, &value).ok();
            printed.push(b'\n');
        }
    }
    printed
}

/// The memory that a fold of this many different events adds.
fn memory(events: usize) -> Result<Figure, Box<dyn std::error::Error>> {
    let before = measure::resident_mib()?;
    let mut most = before;
    let mut fold = Fold::new(Prices::shipped());
    let mut line = String::new();
    for number in 0..events {
        line.clear();
        event(&mut line, number)?;
        let row = Json::parse(&line)?;
        Dialect::Sidecar.decode(&row, Place::line(number as u64), &mut |event| fold.push(&event));
        if number % 100_000 == 0 {
            most = most.max(measure::resident_mib()?);
        }
    }
    most = most.max(measure::resident_mib()?);
    black_box(fold.finish());
    let name = format!("memory for {} thousand events", events / 1000);
    Ok(Figure::new(name, most - before, "MiB").at_most(64.0))
}

/// Calls with and without results, models and errors; no two are the same.
fn event(line: &mut String, number: usize) -> std::fmt::Result {
    let (kind, data) = match number % 4 {
        0 => ("prompt.submitted", format!(r#"{{"prompt":"do {number}"}}"#)),
        1 => (
            "tool.call",
            format!(
                r#"{{"toolCallId":"c{number}","name":"tool{}","arguments":{{"command":"make t{number}"}}}}"#,
                number % 5_000
            ),
        ),
        // Every fifth call has no result.
        2 if number.is_multiple_of(5) => {
            ("model.fallback_step", format!(r#"{{"turnId":"{number}"}}"#))
        }
        2 => (
            "tool.result",
            format!(
                r#"{{"toolCallId":"c{}","success":{},"output":"error {number}"}}"#,
                number - 1,
                number.is_multiple_of(3)
            ),
        ),
        _ => (
            "model.completed",
            format!(
                r#"{{"assistantTexts":["done {number}"],"usage":{{"input":{number},"output":5}}}}"#
            ),
        ),
    };
    let at = Duration::from_millis(number as u64);
    let (second, milli) = (at.as_secs(), at.subsec_millis());
    let (hour, minute, second) = (second / 3_600 % 24, second / 60 % 60, second % 60);
    write!(
        line,
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"{kind}","ts":"2026-06-01T{hour:02}:{minute:02}:{second:02}.{milli:03}Z","seq":{number},"sessionId":"s","runId":"r","provider":"p","modelId":"m{}","data":{data}}}"#,
        number % 3_000
    )
}
