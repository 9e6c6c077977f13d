//! Formats of other tools: the cost of writing each, and its size, compared with an
//! export of the same session and its bundle.

use crate::figure::Figure;
use crate::measure;
use crate::{Bench, Outcome};

/// Runs of each command; the median counts.
const ROUNDS: usize = 3;

const CASES: [&str; 2] = ["mixed", "many-small"];

/// Every format with its arguments.
const FORMATS: [(&str, &[&str]); 9] = [
    ("csv", &[]),
    ("jsonl", &[]),
    ("atif", &[]),
    ("perfetto", &[]),
    ("otlp", &["--content"]),
    ("otlp-json", &["--content"]),
    ("inspect", &[]),
    ("parquet", &[]),
    ("parquet", &["--table", "calls"]),
];

/// No format takes more than this many times the CPU time of an export.
const MOST_CPU: f64 = 2.0;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let cases = bench.cases.as_ref().ok_or("needs --cases with the generated sessions")?;
    let mut figures = Vec::new();
    for name in CASES {
        let folder = cases.join(name);
        let rounds = bench.size(ROUNDS, 1);
        let export = ["export", "--session", "s.jsonl", "--workspace", ".", "--quiet"];
        let export = [&export[..], &["--output-root", ".", "--output", "converted"]].concat();
        let mut exports = Vec::new();
        for _ in 0..rounds {
            std::fs::remove_dir_all(folder.join("converted")).ok();
            exports.push(measure::traj(traj, &folder, &export)?);
        }
        let export = measure::median_usage(&exports);
        let bundle = measure::bytes_below(&folder.join("converted"))?;
        for (format, more) in FORMATS {
            let base = ["convert", "s.jsonl", "--to", format, "--output", "out", "--force"];
            let arguments = [&base[..], &["--quiet"], more].concat();
            let mut runs = Vec::new();
            for _ in 0..rounds {
                runs.push(measure::traj(traj, &folder, &arguments)?);
            }
            let spent = measure::median_usage(&runs);
            let size = std::fs::metadata(folder.join("out"))?.len() as f64;
            let shown = [&[format], more].concat().join(" ");
            let figure = |what: &str, value: f64, unit| {
                Figure::new(format!("{name}: {shown}: {what}"), value, unit)
            };
            let cpu = figure("cpu / export", spent.cpu_seconds / export.cpu_seconds, "x");
            // With a small session, most of the time is startup.
            figures.push(if bench.smoke { cpu } else { cpu.at_most(MOST_CPU) });
            figures.push(figure("size / bundle", size / bundle, "x"));
            figures.push(figure("peak memory", spent.peak_mib, "MiB"));
            std::fs::remove_file(folder.join("out"))?;
        }
        std::fs::remove_dir_all(folder.join("converted"))?;
    }
    Ok(figures)
}
