//! A large session, shipped and exported by the program: CPU time, memory, and the size of
//! the dataset compared with the same events as JSON Lines.

use std::error::Error;
use std::io::{BufReader, Read as _, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Bench;
use crate::figure::Figure;
use crate::measure::{self, Usage};

/// Runs of each command; the median counts.
const ROUNDS: usize = 3;

const CASES: [&str; 2] = ["mixed", "many-small"];

/// Shipping takes at most this many times the CPU time of an export.
const MOST_CPU: f64 = 1.5;
/// And at most this much memory, in MiB.
const MOST_MEMORY: f64 = 96.0;
/// A segment of a mebibyte or more takes at most this share of its JSON Lines.
const LARGEST_SHARE: f64 = 0.2;

pub(super) fn figures(bench: &Bench) -> Result<Vec<Figure>, Box<dyn Error>> {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let cases = bench.cases.as_ref().ok_or("needs --cases with the generated sessions")?;
    let mut figures = Vec::new();
    for name in CASES {
        let folder = cases.join(name);
        let (bundle, dataset) = (folder.join("exported"), folder.join("dataset"));
        let mut usages = (Vec::new(), Vec::new());
        for _ in 0..bench.size(ROUNDS, 1) {
            for place in [&bundle, &dataset] {
                std::fs::remove_dir_all(place).ok();
            }
            let export = ["export", "--session", "s.jsonl", "--workspace", ".", "--quiet"];
            let export = [&export[..], &["--output-root", ".", "--output", "exported"]].concat();
            usages.0.push(run_traj(traj, &folder, &export)?);
            let to = dataset.to_string_lossy();
            let ship = ["ship", "s.jsonl", "--to", &to, "--quiet"];
            usages.1.push(run_traj(traj, &folder, &ship)?);
        }
        let export = measure::median_usage(&usages.0);
        let ship = measure::median_usage(&usages.1);
        let (jsonl, gzip) = sizes(&bundle.join("events.jsonl"))?;
        let parquet = measure::bytes_below(&dataset.join("traj"))?;
        let figure =
            |what: &str, value: f64, unit| Figure::new(format!("{name}: {what}"), value, unit);
        let cpu = figure("cpu / export", ship.cpu_seconds / export.cpu_seconds, "x");
        figures.push(cpu.at_most(MOST_CPU));
        figures.push(figure("peak memory", ship.peak_mib, "MiB").at_most(MOST_MEMORY));
        figures.push(figure("Parquet / JSON Lines", parquet / jsonl, "x").at_most(LARGEST_SHARE));
        figures.push(figure("Parquet / JSON Lines with gzip", parquet / gzip, "x"));
        for place in [&bundle, &dataset] {
            std::fs::remove_dir_all(place)?;
        }
    }
    Ok(figures)
}

fn run_traj(traj: &Path, folder: &Path, arguments: &[&str]) -> std::io::Result<Usage> {
    // With the state that the host keeps, a second run would be shorter.
    let state = tempfile::tempdir()?;
    let mut command = Command::new(traj);
    command.current_dir(folder).env_clear().env("HOME", state.path()).args(arguments);
    measure::child(command.stdin(Stdio::null()).stdout(Stdio::null()))
}

/// The bytes of a file, and those it has with gzip.
fn sizes(file: &Path) -> std::io::Result<(f64, f64)> {
    let mut reader = BufReader::new(std::fs::File::open(file)?);
    let mut gzip = GzEncoder::new(Count(0), Compression::default());
    let (mut block, mut plain) = (vec![0; 1 << 20], 0);
    loop {
        let count = reader.read(&mut block)?;
        let Some(read) = block.get(..count).filter(|read| !read.is_empty()) else { break };
        gzip.write_all(read)?;
        plain += count;
    }
    Ok((plain as f64, gzip.finish()?.0 as f64))
}

/// Counts bytes and forgets them.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
