//! Export of large sessions, against a baseline that only parses and reprints the same files.
//!
//! The baseline reads session and sidecar line by line into `serde_json::Value` and writes them
//! back: no ordering, no redaction, no second look. Both are measured as CPU time. The sessions
//! are those that `cargo xtask bench` generates.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure::{self, Usage};
use crate::{Bench, Outcome};

const BUFFER: usize = 1024 * 1024;

/// Runs of every contender; the median counts.
const ROUNDS: usize = 3;

/// What the allocator and the kernel may add to the peak at ten times the
/// input: the peak itself differs by this much from run to run.
const PEAK_TOLERANCE: f64 = 1.1;

/// The cases, and whether there is one of ten times the size.
const CASES: [(&str, bool); 3] = [("mixed", true), ("secret-heavy", false), ("many-small", true)];

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let cases = bench.cases.as_ref().ok_or("needs --cases with the generated sessions")?;
    let rounds = bench.size(ROUNDS, 1);
    let mut figures = Vec::new();
    for (name, has_tenfold) in CASES {
        let folder = cases.join(name);
        let (usage, baseline) = compare(traj, &folder, rounds)?;
        figures.push(
            Figure::ratio(format!("{name}: cpu / baseline"), usage.cpu_seconds, baseline)
                .at_most(4.0),
        );
        figures.push(Figure::new(format!("{name}: cpu"), usage.cpu_seconds, "s"));
        figures.push(Figure::new(format!("{name}: wall"), usage.wall_seconds, "s"));
        figures
            .push(Figure::new(format!("{name}: peak memory"), usage.peak_mib, "MiB").at_most(96.0));
        if has_tenfold {
            // Time must follow the input, memory must not.
            let large = cases.join(format!("{name}-tenfold"));
            // The baseline has just read the small one: both are in memory.
            export(traj, &large)?;
            let tenfold = measure::median_child(rounds, || export(traj, &large))?;
            let times = Figure::ratio(
                format!("{name}, 10 times the input: time"),
                tenfold.wall_seconds,
                usage.wall_seconds,
            );
            let peak = Figure::ratio(
                format!("{name}, 10 times the input: peak memory"),
                tenfold.peak_mib,
                usage.peak_mib,
            );
            figures.push(times.at_most(11.0));
            figures.push(peak.at_most(PEAK_TOLERANCE));
            let name = format!("{name}, 10 times the input: peak memory in MiB");
            figures.push(Figure::new(name, tenfold.peak_mib, "MiB").at_most(96.0));
        }
    }
    Ok(figures)
}

/// An export and the CPU seconds of the baseline, taken in turns.
fn compare(
    traj: &Path,
    folder: &Path,
    rounds: usize,
) -> Result<(Usage, f64), Box<dyn std::error::Error>> {
    let mut baselines = Vec::with_capacity(rounds);
    let usage = measure::median_child(rounds, || {
        baselines.push(baseline(folder)?);
        export(traj, folder)
    })?;
    baselines.sort_by(f64::total_cmp);
    let middle = baselines.get(baselines.len() / 2).copied();
    Ok((usage, middle.ok_or("nothing was measured")?))
}

fn export(traj: &Path, folder: &Path) -> std::io::Result<Usage> {
    // An export syncs its files, and would wait for whatever was written before it.
    rustix::fs::sync();
    let mut command = Command::new(traj);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .args(["export", "--session", "s.jsonl", "--workspace", "."])
        .args(["--output-root", ".", "--output", "bundle", "--quiet"])
        .stdout(Stdio::null());
    let usage = measure::child(&mut command)?;
    std::fs::remove_dir_all(folder.join("bundle"))?;
    Ok(usage)
}

/// CPU seconds for parsing and reprinting both files.
fn baseline(folder: &Path) -> std::io::Result<f64> {
    let before = measure::cpu_seconds()?;
    for name in ["s.jsonl", "s.trajectory.jsonl"] {
        let reader = BufReader::with_capacity(BUFFER, File::open(folder.join(name))?);
        let copy = File::create(folder.join("copy"))?;
        let mut writer = BufWriter::with_capacity(BUFFER, copy);
        for line in reader.lines() {
            let value: serde_json::Value = serde_json::from_str(&line?)?;
            serde_json::to_writer(&mut writer, &value)?;
            writer.write_all(b"\n")?;
        }
        writer.flush()?;
    }
    Ok(measure::cpu_seconds()? - before)
}
