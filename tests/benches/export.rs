//! Export of large sessions, compared with a baseline that only parses and reprints the files.
//!
//! The baseline reads session and sidecar line by line into `serde_json::Value` and writes them
//! back: no ordering, no redaction, no read-back. Both run as separate processes, in turn, and
//! are compared by CPU time. `cargo xtask bench` generates the sessions.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure::{self, Usage};
use crate::{Bench, Outcome};

const BUFFER: usize = 1024 * 1024;

/// Runs per contender; the median counts.
const ROUNDS: usize = 7;
/// The same for the cases of ten times the size.
const LARGE_ROUNDS: usize = 3;

/// By how much the peak may grow at ten times the input. The peak of the same
/// input varies by this much between runs, because of allocator and kernel.
const PEAK_TOLERANCE: f64 = 1.1;

/// A directory in memory, if there is one. Disks of virtual machines write a burst
/// faster than the data after it: on one of them, the same ratio varied between 8
/// and 13 within minutes.
const MEMORY: &str = "/dev/shm";

const CASES: [&str; 4] = ["mixed", "secret-heavy", "many-small", "text-heavy"];

/// The case whose rows need the most memory.
const LONG_ROWS: &str = "long-rows";

/// The cases that also exist at ten times the size.
const TENFOLD: [&str; 2] = ["mixed", "many-small"];

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let cases = bench.cases.as_ref().ok_or("needs --cases with the generated sessions")?;
    let mut figures = Vec::new();
    for name in CASES {
        let (usage, ratio) = compare(traj, &cases.join(name), bench.size(ROUNDS, 1))?;
        figures.push(Figure::new(format!("{name}: cpu / baseline"), ratio, "x").at_most(4.0));
        figures.push(Figure::new(format!("{name}: cpu"), usage.cpu_seconds, "s"));
        figures.push(Figure::new(format!("{name}: wall"), usage.wall_seconds, "s"));
        figures
            .push(Figure::new(format!("{name}: peak memory"), usage.peak_mib, "MiB").at_most(96.0));
    }
    let long = export(traj, &cases.join(LONG_ROWS), &cases.join(LONG_ROWS))?;
    figures
        .push(Figure::new(format!("{LONG_ROWS}: peak memory"), long.peak_mib, "MiB").at_most(96.0));
    // Last, because the disk is busy for a while afterwards.
    let memory = Path::new(MEMORY).is_dir().then(|| tempfile::tempdir_in(MEMORY)).transpose()?;
    for name in TENFOLD {
        let figure = |what: &str, value: f64, unit| {
            Figure::new(format!("{name}, 10 times the input: {what}"), value, unit)
        };
        let rounds = bench.size(LARGE_ROUNDS, 1);
        let growth = match &memory {
            Some(folder) => {
                let on_disk = grow(traj, cases, name, 1, None)?;
                figures.push(figure("time, with this disk", on_disk.time, "x"));
                grow(traj, cases, name, rounds, Some(folder.path()))?
            }
            None => grow(traj, cases, name, rounds, None)?,
        };
        figures.push(figure("time", growth.time, "x").at_most(11.0));
        figures.push(figure("peak memory", growth.peak, "x").at_most(PEAK_TOLERANCE));
        figures.push(figure("peak memory in MiB", growth.peak_mib, "MiB").at_most(96.0));
    }
    Ok(figures)
}

/// The cost of ten times the input: time and peak memory as multiples, and the
/// peak itself.
struct Growth {
    time: f64,
    peak: f64,
    peak_mib: f64,
}

/// Exports ten times the input: time may grow in proportion, memory must not grow.
///
/// Machines run short tasks faster than long ones. Therefore five exports of the
/// usual size run before the large one, and five after it.
fn grow(
    traj: &Path,
    cases: &Path,
    name: &str,
    rounds: usize,
    root: Option<&Path>,
) -> Result<Growth, Box<dyn std::error::Error>> {
    const HALF: usize = 5;
    let (small, large) = (cases.join(name), cases.join(format!("{name}-tenfold")));
    let export = |folder| export(traj, folder, root.unwrap_or(folder));
    // Run once, so that the files are in the page cache.
    export(&large)?;
    let (mut times, mut peaks, mut peaks_mib) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let half = || (0..HALF).map(|_| export(&small)).collect::<std::io::Result<Vec<_>>>();
        let mut around = half()?;
        let large = export(&large)?;
        around.extend(half()?);
        let seconds: f64 = around.iter().map(|usage| usage.wall_seconds).sum();
        times.push(large.wall_seconds / (seconds / around.len() as f64));
        peaks.push(large.peak_mib / measure::median_usage(&around).peak_mib);
        peaks_mib.push(large.peak_mib);
    }
    let median = |figures: Vec<f64>| measure::median(figures.into_iter());
    Ok(Growth { time: median(times), peak: median(peaks), peak_mib: median(peaks_mib) })
}

/// An export, and its CPU time as a multiple of the baseline's; both run in turn.
fn compare(
    traj: &Path,
    folder: &Path,
    rounds: usize,
) -> Result<(Usage, f64), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?;
    let mut usages = Vec::with_capacity(rounds);
    let mut ratios = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let baseline =
            measure::child(Command::new(&program).arg("--reprint").arg(folder))?.cpu_seconds;
        let usage = export(traj, folder, folder)?;
        usages.push(usage);
        ratios.push(usage.cpu_seconds / baseline);
    }
    Ok((measure::median_usage(&usages), measure::median(ratios.into_iter())))
}

fn export(traj: &Path, folder: &Path, root: &Path) -> std::io::Result<Usage> {
    // An export syncs its files, and would also wait for earlier writes.
    rustix::fs::sync();
    let mut command = Command::new(traj);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .args(["export", "--session", "s.jsonl", "--workspace", "."])
        .args(["--output", "bundle", "--quiet", "--output-root"])
        .arg(root)
        .stdout(Stdio::null());
    let usage = measure::child(&mut command)?;
    std::fs::remove_dir_all(root.join("bundle"))?;
    Ok(usage)
}

/// The baseline: parses and reprints both files of a case.
pub(crate) fn reprint(folder: &Path) -> std::io::Result<()> {
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
    Ok(())
}
