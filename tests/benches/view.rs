//! Pages of large sessions: the cost of writing and verifying one, and its size. With `--peers`,
//! also what other programs write. `cargo xtask bench` generates the sessions.

mod peers;

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use crate::figure::Figure;
use crate::measure;
use crate::{Bench, Outcome};

/// Runs of each command; the median counts.
const ROUNDS: usize = 3;

const CASES: [&str; 3] = ["mixed", "many-small", "mixed-tenfold"];

/// A page is written in this much memory, however long its texts are, and this much for each event,
/// because the index of the page is kept until its end.
const MOST_MIB: f64 = 48.0;
const MOST_BYTES_PER_EVENT: f64 = 320.0;

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let cases = bench.cases.as_ref().ok_or("needs --cases with the generated sessions")?;
    let mut figures = Vec::new();
    for name in CASES {
        let folder = cases.join(name);
        let figure =
            |what: &str, value: f64, unit| Figure::new(format!("{name}: {what}"), value, unit);
        let (mut views, mut checks) = (Vec::new(), Vec::new());
        for _ in 0..bench.size(ROUNDS, 1) {
            let view = ["view", "s.jsonl", "--output", "page.html", "--force", "--quiet"];
            views.push(measure::traj(traj, &folder, &view)?);
            checks.push(measure::traj(traj, &folder, &["verify", "page.html", "--quiet"])?);
        }
        let page = std::fs::metadata(folder.join("page.html"))?.len() as f64;
        std::fs::remove_file(folder.join("page.html"))?;
        let session = size_of(&folder)?;
        let (view, check) = (measure::median_usage(&views), measure::median_usage(&checks));
        let most = MOST_MIB + MOST_BYTES_PER_EVENT * session.events / (1024.0 * 1024.0);
        figures.push(figure("events", session.events, ""));
        figures.push(figure("cpu", view.cpu_seconds, "s"));
        figures.push(figure("peak memory", view.peak_mib, "MiB").at_most(most));
        let size = figure("page / session", page / session.bytes, "x");
        // With a small session, most of the page is the script.
        figures.push(if bench.smoke { size } else { size.at_most(0.35) });
        figures.push(figure("verify: cpu", check.cpu_seconds, "s"));
        figures.push(figure("verify: peak memory", check.peak_mib, "MiB"));
    }
    if let Some(programs) = &bench.peers {
        figures.extend(peers::run(bench, programs)?);
    }
    Ok(figures)
}

/// How large a session with its sidecar is.
struct Size {
    bytes: f64,
    events: f64,
}

fn size_of(folder: &Path) -> std::io::Result<Size> {
    let mut size = Size { bytes: 0.0, events: 0.0 };
    for name in ["s.jsonl", "s.trajectory.jsonl"] {
        let mut file = BufReader::with_capacity(1 << 20, File::open(folder.join(name))?);
        loop {
            let block = file.fill_buf()?;
            if block.is_empty() {
                break;
            }
            let length = block.len();
            size.bytes += length as f64;
            size.events += block.iter().filter(|byte| **byte == b'\n').count() as f64;
            file.consume(length);
        }
    }
    Ok(size)
}
