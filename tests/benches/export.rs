//! Export of large sessions, against a baseline that only parses and reprints the same files.
//!
//! The baseline reads session and sidecar line by line into `serde_json::Value` and writes them
//! back: no ordering, no redaction, no second look. Both are measured as CPU time.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure::{self, Usage};
use crate::{Bench, Outcome};

const MIB: usize = 1024 * 1024;

/// What fills a case.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// Paragraphs and listings, now and then a credential.
    Mixed,
    /// The same with credentials in every entry.
    Secretful,
    /// Very many events of a few words.
    Small,
}

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let bytes = bench.size(48 * MIB, MIB);
    let mut figures = Vec::new();
    for (mix, name) in
        [(Mix::Mixed, "mixed"), (Mix::Secretful, "secret-heavy"), (Mix::Small, "many small events")]
    {
        let folder = tempfile::tempdir()?;
        generate(folder.path(), mix, bytes)?;
        let baseline = baseline(folder.path())?;
        let usage = export(traj, folder.path())?;
        figures.push(
            Figure::ratio(format!("{name}: cpu / baseline"), usage.cpu_seconds, baseline)
                .at_most(4.0),
        );
        figures.push(Figure::new(format!("{name}: cpu"), usage.cpu_seconds, "s"));
        figures.push(Figure::new(format!("{name}: wall"), usage.wall_seconds, "s"));
        figures
            .push(Figure::new(format!("{name}: peak memory"), usage.peak_mib, "MiB").at_most(96.0));
        if matches!(mix, Mix::Small) {
            // Ten times the input: time must follow it, memory must not.
            let large = tempfile::tempdir()?;
            generate(large.path(), mix, bytes * 10)?;
            let tenfold = export(traj, large.path())?;
            let (time, peak) = (tenfold.wall_seconds, tenfold.peak_mib);
            figures.push(
                Figure::ratio("10 times the input: time", time, usage.wall_seconds).at_most(11.0),
            );
            figures.push(Figure::new("10 times the input: peak memory", peak, "MiB").at_most(96.0));
        }
    }
    Ok(figures)
}

fn export(traj: &Path, folder: &Path) -> std::io::Result<Usage> {
    let mut command = Command::new(traj);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .args(["export", "--session", "s.jsonl", "--workspace", ".", "--output", "b", "--quiet"])
        .stdout(Stdio::null());
    measure::child(&mut command)
}

/// CPU seconds for parsing and reprinting both files.
fn baseline(folder: &Path) -> Result<f64, Box<dyn std::error::Error>> {
    let before = measure::cpu_seconds()?;
    for name in ["s.jsonl", "s.trajectory.jsonl"] {
        let reader = BufReader::with_capacity(MIB, std::fs::File::open(folder.join(name))?);
        let copy = std::fs::File::create(folder.join(format!("{name}.copy")))?;
        let mut writer = BufWriter::with_capacity(MIB, copy);
        for line in reader.lines() {
            let value: serde_json::Value = serde_json::from_str(&line?)?;
            serde_json::to_writer(&mut writer, &value)?;
            writer.write_all(b"\n")?;
        }
        writer.flush()?;
    }
    Ok(measure::cpu_seconds()? - before)
}

/// Writes a session and its sidecar of `bytes` each.
fn generate(folder: &Path, mix: Mix, bytes: usize) -> std::io::Result<()> {
    let create = |name: &str| {
        std::fs::File::create(folder.join(name)).map(|file| BufWriter::with_capacity(MIB, file))
    };
    let mut session = create("s.jsonl")?;
    writeln!(session, r#"{{"type":"session","version":3,"id":"s","cwd":"/home/dev/project"}}"#)?;
    let (mut written, mut number) = (0, 0);
    while written < bytes {
        let line = entry(number, mix);
        session.write_all(line.as_bytes())?;
        written += line.len();
        number += 1;
    }
    session.flush()?;
    let mut sidecar = create("s.trajectory.jsonl")?;
    (written, number) = (0, 0);
    while written < bytes {
        let line = event(number, mix);
        sidecar.write_all(line.as_bytes())?;
        written += line.len();
        number += 1;
    }
    sidecar.flush()
}

fn entry(number: usize, mix: Mix) -> String {
    let parent =
        number.checked_sub(1).map_or("null".to_owned(), |before| format!("\"{before:08x}\""));
    let message = match number % 4 {
        0 => format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{}"}}]}}"#,
            body(number, mix)
        ),
        1 => format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{}"}},{{"type":"toolCall","id":"c{number}","name":"read","arguments":{{"path":"src/file_{number}.rs"}}}}],"usage":{{"input":{number},"output":5}}}}"#,
            body(number, mix)
        ),
        2 => format!(
            r#"{{"role":"toolResult","toolCallId":"c{}","toolName":"read","content":[{{"type":"text","text":"{}"}}],"isError":false}}"#,
            number - 1,
            body(number, mix)
        ),
        _ => format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{}"}}]}}"#,
            body(number, mix)
        ),
    };
    let ts = instant(number);
    format!(
        r#"{{"type":"message","id":"{number:08x}","parentId":{parent},"timestamp":"{ts}","message":{message}}}"#
    ) + "\n"
}

fn event(number: usize, mix: Mix) -> String {
    let kind = ["tool.call", "tool.result", "prompt.submitted", "model.completed"][number % 4];
    let member = if kind == "prompt.submitted" { "prompt" } else { "text" };
    let (ts, body) = (instant(number), body(number, mix));
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"traceId":"s","source":"runtime","type":"{kind}","ts":"{ts}","seq":{number},"sourceSeq":{number},"sessionId":"s","runId":"r","workspaceDir":"/home/dev/project","provider":"openai","modelId":"m","data":{{"turnId":"u","toolCallId":"c{number}","name":"shell","{member}":"{body}"}}}}"#
    ) + "\n"
}

fn instant(number: usize) -> String {
    let (second, milli) = (number / 40 % 60, number % 40 * 25);
    let (minute, hour) = (number / 2_400 % 60, number / 144_000 % 24);
    let day = 1 + number / 3_456_000 % 28;
    format!("2026-06-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// JSON text, escapes included.
fn body(number: usize, mix: Mix) -> String {
    const WORDS: [&str; 12] = [
        "build", "fails", "because", "the", "lock", "file", "is", "stale", "review", "branch",
        "module", "result",
    ];
    let word = |at: usize| WORDS[number.wrapping_mul(31).wrapping_add(at * 7) % WORDS.len()];
    if matches!(mix, Mix::Small) {
        return word(number).to_owned();
    }
    let mut text = String::with_capacity(3_600);
    for at in 0..120 {
        text.push_str(word(at));
        text.push(' ');
    }
    for line in 0..36 {
        let module = number.wrapping_mul(37).wrapping_add(line * 11) % 997;
        // Writing to a string does not fail.
        write!(
            text,
            r"\nsrc/module_{module}.rs:{line}:    let value = compute(&input, options)?; // {}",
            word(line)
        )
        .ok();
    }
    let secrets = match mix {
        Mix::Secretful => 3,
        _ => usize::from(number.is_multiple_of(16)),
    };
    for secret in 0..secrets {
        text.push_str(&credential(number + secret));
    }
    text
}

/// Assembled here so that no scanner takes this file for a leak.
fn credential(number: usize) -> String {
    let digits: String = (0..36)
        .map(|at| {
            let alphabet = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
            let at =
                number.wrapping_mul(1_103_515_245).wrapping_add(at * 12_345 + at * at * 97) >> 3;
            char::from(alphabet[at % alphabet.len()])
        })
        .collect();
    match number % 4 {
        0 => format!(r"\nexport GITHUB_TOKEN={}{digits}", "ghp_"),
        1 => format!(r"\nAuthorization: Bearer {digits}"),
        2 => format!(r"\nOPENAI_API_KEY={}{digits}", "sk-proj-"),
        _ => format!(r"\nDB_PASSWORD={}", digits.get(..14).unwrap_or_default()),
    }
}
