//! Synthetic sessions for the export bench: of any size, the same every time.
//!
//! A case is a directory with a session `s.jsonl` and its sidecar
//! `s.trajectory.jsonl`, of one size each.
#![expect(clippy::disallowed_methods, reason = "streams gigabytes into the target directory")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

mod text_heavy;

const MIB: usize = 1024 * 1024;

/// The content of a case.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// Paragraphs and listings, with occasional credentials.
    Mixed,
    /// The same with credentials in every entry.
    Secretful,
    /// Very many short events.
    Small,
    /// A few entries and events of several megabytes.
    Long,
    /// Long prompts, messages and code in several scripts, as agents that record
    /// their whole context produce them.
    Texts,
}

/// The cases: name, content, and size as a multiple of the default.
const CASES: [(&str, Mix, usize); 7] = [
    ("mixed", Mix::Mixed, 1),
    ("mixed-tenfold", Mix::Mixed, 10),
    ("secret-heavy", Mix::Secretful, 1),
    ("many-small", Mix::Small, 1),
    ("many-small-tenfold", Mix::Small, 10),
    ("long-rows", Mix::Long, 1),
    ("text-heavy", Mix::Texts, 1),
];

/// Writes every case below `folder`. The default size is `mib` each for session
/// and sidecar.
pub(super) fn generate(folder: &Path, mib: usize) -> io::Result<()> {
    for (name, mix, times) in CASES {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        generate_case(&folder, mix, mib * times * MIB)?;
    }
    Ok(())
}

fn generate_case(folder: &Path, mix: Mix, bytes: usize) -> io::Result<()> {
    let header =
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/home/dev/project\"}\n";
    fill(&folder.join("s.jsonl"), header, bytes, |number| entry(number, mix))?;
    fill(&folder.join("s.trajectory.jsonl"), "", bytes, |number| event(number, mix))
}

/// Writes lines until the file is `bytes` long.
fn fill(path: &Path, header: &str, bytes: usize, line: impl Fn(usize) -> String) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(MIB, File::create(path)?);
    file.write_all(header.as_bytes())?;
    let (mut written, mut number) = (0, 0);
    while written < bytes {
        let line = line(number);
        file.write_all(line.as_bytes())?;
        written += line.len();
        number += 1;
    }
    // The measured programs must not wait for these bytes to reach the disk.
    file.into_inner()?.sync_all()
}

fn entry(number: usize, mix: Mix) -> String {
    if matches!(mix, Mix::Texts) {
        return text_heavy::entry(number);
    }
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
    if matches!(mix, Mix::Texts) {
        return text_heavy::event(number);
    }
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

/// The content of a JSON string, with escapes.
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
    // Just short enough to be exported in full.
    let words = if matches!(mix, Mix::Long) { 680_000 } else { 120 };
    for at in 0..words {
        text.push_str(word(at));
        text.push(' ');
    }
    for line in 0..36 {
        let module = number.wrapping_mul(37).wrapping_add(line * 11) % 997;
        // Writing to a string cannot fail.
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

/// A fake credential, assembled here so that no scanner reports this file.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_json_and_the_same_every_time() {
        for (_, mix, _) in CASES {
            for number in [0, 1, 2, 3, 16, 4_000_000] {
                for line in [entry(number, mix), event(number, mix)] {
                    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
                    assert!(value["type"].is_string());
                }
                assert_eq!(entry(number, mix), entry(number, mix));
            }
        }
        assert!(event(3, Mix::Secretful).len() > 10 * event(3, Mix::Small).len());
    }
}
