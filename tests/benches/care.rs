//! Trim, tail and repair of a large session, compared with copying the file.
//!
//! A trim syncs its result, so it is compared with a copy that does the same (`cp`,
//! then `sync` of the copy). The copy without a sync is shown as well.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure::{self, Usage};
use crate::{Bench, Outcome};

const MIB: usize = 1024 * 1024;

/// Rounds per contender. The best one counts, because other work only adds time.
const ROUNDS: usize = 3;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let folder = tempfile::tempdir()?;
    let session = folder.path().join("session.jsonl");
    generate(&session, bench.size(1024 * MIB, 4 * MIB))?;
    let shell = |script: &str| {
        measure::child(Command::new("sh").args(["-c", script]).current_dir(folder.path()))
    };
    let rounds = bench.size(ROUNDS, 1);
    let bare = best(rounds, || shell("cp session.jsonl copy && rm copy"))?;
    let durable = best(rounds, || shell("cp session.jsonl copy && sync copy && rm copy"))?;
    let mut round = 0;
    let trim = best(rounds, || {
        round += 1;
        let text = format!("round {round}");
        let mut command = traj_command(traj, folder.path(), "trim");
        measure::child(command.args(["--tool-call", "call_1000", "--replacement", &text]))
    })?;
    let tail = best(rounds, || {
        let mut command = traj_command(traj, folder.path(), "tail");
        measure::child(command.args(["--transcript", "--tail", "1000"]))
    })?;
    let all = best(rounds, || {
        let mut command = traj_command(traj, folder.path(), "tail");
        measure::child(command.args(["--transcript", "--tail", "100000000", "--type", "none"]))
    })?;
    let small = folder.path().join("small.jsonl");
    generate_small(&small, bench.size(1024 * MIB, 4 * MIB))?;
    let repair = best(1, || {
        let mut command = Command::new(traj);
        command.args(["repair", "small.jsonl", "--write"]);
        command.env("HOME", folder.path()).current_dir(folder.path()).stdout(Stdio::null());
        measure::child(&mut command)
    })?;
    Ok(vec![
        Figure::ratio("trim: speed / durable copy", durable.wall_seconds, trim.wall_seconds)
            .at_least(1.0 / 3.0),
        Figure::ratio("trim: speed / bare copy", bare.wall_seconds, trim.wall_seconds),
        Figure::new("trim: peak memory", trim.peak_mib, "MiB").at_most(64.0),
        Figure::ratio("tail: speed / bare copy", bare.wall_seconds, tail.wall_seconds)
            .at_least(1.0 / 3.0),
        Figure::new("tail: peak memory", tail.peak_mib, "MiB").at_most(64.0),
        Figure::ratio("tail of everything: speed / bare copy", bare.wall_seconds, all.wall_seconds)
            .at_least(1.0 / 3.0),
        Figure::new("tail of everything: peak memory", all.peak_mib, "MiB").at_most(64.0),
        Figure::new("repair of small rows: peak memory", repair.peak_mib, "MiB").at_most(64.0),
        Figure::new("repair of small rows: wall", repair.wall_seconds, "s"),
        Figure::new("bare copy: wall", bare.wall_seconds, "s"),
        Figure::new("durable copy: wall", durable.wall_seconds, "s"),
        Figure::new("trim: wall", trim.wall_seconds, "s"),
    ])
}

fn traj_command(traj: &Path, folder: &Path, verb: &str) -> Command {
    let mut command = Command::new(traj);
    command.args([verb, "--session", "session.jsonl"]);
    command.env("HOME", folder).current_dir(folder).stdout(Stdio::null());
    command
}

fn best(
    rounds: usize,
    mut run: impl FnMut() -> std::io::Result<Usage>,
) -> Result<Usage, Box<dyn std::error::Error>> {
    let mut best: Option<Usage> = None;
    for _ in 0..rounds.max(1) {
        let usage = run()?;
        if best.is_none_or(|known| usage.wall_seconds < known.wall_seconds) {
            best = Some(usage);
        }
    }
    best.ok_or_else(|| "nothing was measured".into())
}

/// A session of as many rows as its size allows, every thousandth damaged.
fn generate_small(path: &Path, bytes: usize) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(MIB, File::create(path)?);
    let mut written = 0;
    let mut number = 0_u64;
    while written < bytes {
        let parent = match number % 1_000 {
            998 => number + 500_000_000,
            999 => number + 1,
            _ => number.wrapping_sub(1),
        };
        let line = format!(
            r#"{{"type":"message","id":"{number:08x}","parentId":"{parent:08x}","timestamp":"2026-06-01T10:00:00.000Z","message":{{"role":"user","content":""}}}}"#
        );
        writeln!(file, "{line}")?;
        written += line.len() + 1;
        number += 1;
    }
    file.flush()
}

/// A session of mostly tool traffic: many results of some kilobytes.
fn generate(path: &Path, bytes: usize) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(MIB, File::create(path)?);
    let listing = "src/module_42.rs:17:    let value = compute(&input, options)?;\\n".repeat(60);
    let mut written = 0;
    let mut number = 0_u64;
    writeln!(
        file,
        r#"{{"type":"session","version":3,"id":"session","timestamp":"2026-06-01T10:00:00.000Z","cwd":"/w"}}"#
    )?;
    while written < bytes {
        let line = format!(
            r#"{{"type":"message","id":"{number:08x}","parentId":null,"timestamp":"2026-06-01T10:00:00.000Z","message":{{"role":"toolResult","toolCallId":"call_{number}","toolName":"read","content":[{{"type":"text","text":"{listing}"}}],"isError":false}}}}"#
        );
        writeln!(file, "{line}")?;
        written += line.len() + 1;
        number += 1;
    }
    file.flush()
}
