//! Redacting typical event lines and texts of many kinds compared with parsing
//! and printing them; and the cost of hostile texts of ten times the length.

use std::hint::black_box;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use serde_json::{Value, json};
use traj_core::json::Json;
use traj_core::redaction::{MarkerKey, RedactionPolicy, RedactionReport, Redactor};

use crate::figure::Figure;
use crate::measure::{cpu, medians, wall};
use crate::texts::{self, Kind};
use crate::{Bench, Outcome, sample};

/// Texts that make careless patterns backtrack.
const HOSTILE: &[(&str, &str)] = &[
    ("dots", "a.a."),
    ("equals", "===="),
    ("base64", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0"),
    ("quotes", "\"'\"'"),
    ("backslashes", "\\\\\\\""),
    ("labels", "token=key=pass="),
    ("labels with blanks", "password: \" secret = "),
    ("half tokens", "eyJaaaaaaaaaaaaaaaaaaaa-ghp_"),
    ("half keys", "-----BEGIN PRIVATE KEY-----\n"),
    ("urls", "https://a:b"),
    ("commands", "curl -u docker login -p "),
    ("inserts", "insert into t (token) values ('"),
    ("markers", "<redacted:token:"),
    ("braces", "{[{["),
    ("columns", "token,key\n"),
    ("cookies", "cookie=a;cookie:"),
    ("headers", "authorization:bearer "),
    ("elements", "<token><password>"),
    ("lone names", "secret\nkey\n"),
    ("words", "password for the api key is "),
];

pub(crate) fn run(bench: &Bench) -> Outcome {
    let lines: Vec<String> = (0..bench.size(4_000, 50))
        .map(|position| {
            let (kind, data) = sample::event(position);
            json!({
                "traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": "trace-1",
                "source": "runtime", "type": kind, "ts": "2026-11-16T02:30:00.000Z",
                "seq": position, "sessionId": "session-1", "data": data,
            })
            .to_string()
        })
        .collect();
    let rounds = bench.size(9, 1);
    let redactor = redactor();
    let mut report = RedactionReport::new();
    let [redacted, parsed] = medians(
        rounds,
        [
            &mut || {
                wall(|| {
                    for line in &lines {
                        if let Ok(value) = Json::parse(line) {
                            black_box(redactor.json(value, &mut report).to_line());
                        }
                    }
                })
            },
            &mut || {
                wall(|| {
                    for line in &lines {
                        if let Ok(value) = serde_json::from_str::<Value>(line) {
                            black_box(value.to_string());
                        }
                    }
                })
            },
        ],
    );
    let bytes: usize = lines.iter().map(String::len).sum();
    let compile = medians(
        rounds,
        [&mut || {
            wall(|| {
                black_box(self::redactor().compile_all());
            })
        }],
    );
    let mut figures = vec![
        Figure::ratio("redacting / serde_json parse and print", parsed, redacted)
            .at_least(1.0 / 3.0),
        Figure::new("redacting", bytes as f64 / redacted / 1e6, "MB/s"),
        Figure::new("compiling all rules", compile[0] * 1e3, "ms").at_most(200.0),
    ];
    for kind in texts::KINDS {
        let ratio = share_of_printing(bench, &redactor, kind)?;
        let name = format!("{}: redacting / parse and print", kind.name);
        figures.push(Figure::new(name, ratio, "x").at_least(kind.target));
    }
    figures.push(keyword_gain(bench)?);
    // Neither text fits into a core's cache.
    let size = bench.size(4_000_000, 2_000);
    for (name, piece) in HOSTILE {
        let small = piece.repeat(size / piece.len());
        let large = piece.repeat(10 * size / piece.len());
        let [small, large] = best(bench.size(3, 1), &redactor, [&small, &large]);
        let figure = Figure::ratio(format!("ten times the text: {name}"), large, small);
        figures.push(figure.at_most(12.0));
    }
    Ok(figures)
}

/// How fast texts of a kind are redacted, as a share of parsing and printing the
/// same lines.
fn share_of_printing(bench: &Bench, redactor: &Redactor, kind: &Kind) -> Result<f64, String> {
    let texts = texts::texts(kind, bench.size(2_000_000, 10_000))?;
    let line = |(number, text): (usize, &String)| {
        json!({ "type": "tool.result", "seq": number, "data": { "text": text } }).to_string()
    };
    let lines: Vec<String> = texts.iter().enumerate().map(line).collect();
    let mut report = RedactionReport::new();
    let [redacted, parsed] = medians(
        bench.size(9, 1),
        [
            &mut || {
                cpu(|| {
                    for line in &lines {
                        if let Ok(value) = Json::parse(line) {
                            black_box(redactor.json(value, &mut report).to_line());
                        }
                    }
                })
            },
            &mut || {
                cpu(|| {
                    for line in &lines {
                        if let Ok(value) = serde_json::from_str::<Value>(line) {
                            black_box(value.to_string());
                        }
                    }
                })
            },
        ],
    );
    Ok(parsed / redacted)
}

/// How much faster the keywords of the rules are found than by the automaton of the
/// `aho-corasick` crate, in English text.
fn keyword_gain(bench: &Bench) -> Result<Figure, Box<dyn std::error::Error>> {
    let text = texts::texts(&texts::KINDS[0], bench.size(2_000_000, 10_000))?.concat();
    let redactor = redactor();
    let other = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .build(redactor.keywords())?;
    if redactor.count_keywords(&text) != other.find_overlapping_iter(&text).count() {
        return Err("the automata find different keywords".into());
    }
    let [own, other] = medians(
        bench.size(9, 1),
        [&mut || cpu(|| _ = black_box(redactor.count_keywords(&text))), &mut || {
            cpu(|| _ = black_box(other.find_overlapping_iter(&text).count()))
        }],
    );
    Ok(Figure::ratio("finding keywords: aho-corasick / own automaton", other, own).at_least(1.2))
}

/// The shortest time for each text; other work of the machine only adds time.
fn best(rounds: usize, redactor: &Redactor, texts: [&String; 2]) -> [f64; 2] {
    let mut shortest = [f64::MAX; 2];
    for _ in 0..rounds {
        for (shortest, text) in shortest.iter_mut().zip(texts) {
            let mut report = RedactionReport::new();
            let taken = wall(|| drop(black_box(redactor.text(text, &mut report))));
            *shortest = shortest.min(taken.as_secs_f64());
        }
    }
    shortest
}

fn redactor() -> Redactor {
    Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])))
}
