//! Large sessions of other agents: `traj import`, and reading alone, against
//! `serde_json` parsing and printing the same rows.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure;
use crate::{Bench, Outcome};

/// The size of a session.
const MIB: usize = 1_024;

/// At most this many times as long as `serde_json`.
const SLOWEST: f64 = 3.0;

/// At most this much memory.
const MEMORY: f64 = 64.0;

type Writer = fn(&mut dyn io::Write, usize) -> io::Result<usize>;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let bytes = bench.size(MIB << 20, 1 << 20);
    let agents: [(&str, Writer); 2] = [("Claude Code", claude_code), ("Codex", codex)];
    let mut figures = Vec::new();
    for (agent, write_turn) in agents {
        let home = tempfile::tempdir()?;
        let session = home.path().join("session.jsonl");
        generate(&session, bytes, write_turn)?;
        let mut printed = Ok(0);
        let baseline = measure::cpu(|| printed = reprint(&session)).as_secs_f64();
        printed?;
        let command = |verb: &[&str]| {
            let mut command = Command::new(traj);
            command.env_clear().env("HOME", home.path()).env("TMPDIR", home.path());
            command.current_dir(home.path()).args(verb);
            measure::child(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
        };
        let listed = command(&["sessions", ".", "--no-cache", "--json"])?;
        let imported = command(&["import", "session.jsonl", "--output", "imported"])?;
        for (what, used) in [("read", listed), ("import", imported)] {
            let name = format!("{agent}: {what} / parse and print, CPU");
            let ratio = Figure::ratio(name, used.cpu_seconds, baseline);
            // An import also redacts, and reads back what it wrote.
            figures.push(if what == "read" { ratio.at_most(SLOWEST) } else { ratio });
            let name = format!("{agent}: peak memory of {what}");
            figures.push(Figure::new(name, used.peak_mib, "MiB").at_most(MEMORY));
        }
        let rate = bytes as f64 / 1e6 / baseline;
        figures.push(Figure::new(format!("{agent}: parse and print"), rate, "MB/s"));
    }
    Ok(figures)
}

fn generate(path: &Path, bytes: usize, write_turn: Writer) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let (mut turn, mut written) = (0, 0);
    while written < bytes {
        written += write_turn(&mut out, turn)?;
        turn += 1;
    }
    out.flush()
}

/// Parses and prints every row.
fn reprint(path: &Path) -> io::Result<u64> {
    let mut lines = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (mut line, mut total) = (String::new(), 0);
    while lines.read_line(&mut line)? > 0 {
        let value: serde_json::Value = serde_json::from_str(&line)?;
        total += value.to_string().len() as u64;
        line.clear();
    }
    Ok(total)
}

/// Output of a command: long, and different in every turn.
fn output(turn: usize) -> String {
    let lines = (0..60).map(|line| {
        let number = (turn * 61 + line) * 7_919 % 100_003;
        format!("src/module_{number}.rs:{line}: warning: unused variable `value_{number}`\\n")
    });
    lines.collect()
}

fn time(turn: usize) -> String {
    let (day, rest) = (1 + turn / 86_400 % 28, turn % 86_400);
    format!("2026-05-{day:02}T{:02}:{:02}:{:02}.000Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

fn claude_code(out: &mut dyn io::Write, turn: usize) -> io::Result<usize> {
    let parent = turn.checked_sub(1).map_or("null".to_owned(), |turn| format!("\"r{turn}\""));
    let common = format!(
        r#""isSidechain":false,"userType":"external","cwd":"/srv/shop","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.197","timestamp":"{}""#,
        time(turn)
    );
    let text = [
        format!(
            r#"{{"parentUuid":{parent},{common},"type":"user","uuid":"u{turn}","message":{{"role":"user","content":"what about module {turn}?"}}}}"#
        ),
        format!(
            r#"{{"parentUuid":"u{turn}",{common},"type":"assistant","uuid":"a{turn}","message":{{"role":"assistant","id":"msg_{turn}","model":"claude-sonnet-4-5","content":[{{"type":"tool_use","id":"toolu_{turn}","name":"Bash","input":{{"command":"cargo check -p module_{turn}"}}}}],"usage":{{"input_tokens":{},"output_tokens":40}}}}}}"#,
            1_000 + turn
        ),
        format!(
            r#"{{"parentUuid":"a{turn}",{common},"type":"user","uuid":"r{turn}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{turn}","content":"{}"}}]}}}}"#,
            output(turn)
        ),
    ]
    .join("\n");
    writeln!(out, "{text}")?;
    Ok(text.len() + 1)
}

fn codex(out: &mut dyn io::Write, turn: usize) -> io::Result<usize> {
    let at = time(turn);
    let row = |kind: &str, payload: String| {
        format!(r#"{{"timestamp":"{at}","type":"{kind}","payload":{{{payload}}}}}"#)
    };
    let mut rows = Vec::new();
    if turn == 0 {
        rows.push(row("session_meta", format!(r#""id":"s1","timestamp":"{at}","cwd":"/srv/shop","originator":"cli","cli_version":"0.135.0","source":"cli""#)));
    }
    rows.push(row(
        "event_msg",
        format!(r#""type":"user_message","message":"what about module {turn}?""#),
    ));
    rows.push(row("response_item", format!(r#""type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"cargo check -p module_{turn}\"}}","call_id":"call_{turn}""#)));
    rows.push(row("response_item", format!(r#""type":"function_call_output","call_id":"call_{turn}","output":"Process exited with code 0\nOutput:\n{}""#, output(turn))));
    rows.push(row("event_msg", format!(r#""type":"token_count","info":{{"total_token_usage":{{"input_tokens":{},"cached_input_tokens":0,"output_tokens":{},"reasoning_output_tokens":0,"total_tokens":{}}},"last_token_usage":{{"input_tokens":1000,"cached_input_tokens":0,"output_tokens":40,"reasoning_output_tokens":0,"total_tokens":1040}}}}"#, 1_000 * (turn + 1), 40 * (turn + 1), 1_040 * (turn + 1))));
    let text = rows.join("\n");
    writeln!(out, "{text}")?;
    Ok(text.len() + 1)
}
