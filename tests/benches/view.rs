//! Pages of large sessions: what it takes to write one, how large it is, and what it takes to
//! verify it. `cargo xtask bench` generates the sessions. With `--peers`, also what others write.

mod peers;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::figure::Figure;
use crate::measure::{self, Usage};
use crate::{Bench, Outcome};

/// Runs of each command; the median counts.
const ROUNDS: usize = 3;

const CASES: [&str; 3] = ["mixed", "many-small", "mixed-tenfold"];

/// The page of a session of any length of text is written in this much memory.
const MOST_MIB: f64 = 64.0;

/// The case with the most events, and what its index takes.
const MANY_EVENTS: (&str, f64) = ("many-small", 160.0);

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
            views.push(run_traj(traj, &folder, &view)?);
            checks.push(run_traj(traj, &folder, &["verify", "page.html", "--quiet"])?);
        }
        let page = std::fs::metadata(folder.join("page.html"))?.len() as f64;
        std::fs::remove_file(folder.join("page.html"))?;
        let session = ["s.jsonl", "s.trajectory.jsonl"].iter().try_fold(0.0, |sum, file| {
            std::fs::metadata(folder.join(file)).map(|file| sum + file.len() as f64)
        })?;
        let (view, check) = (measure::median_usage(&views), measure::median_usage(&checks));
        let most = if name == MANY_EVENTS.0 { MANY_EVENTS.1 } else { MOST_MIB };
        figures.push(figure("cpu", view.cpu_seconds, "s"));
        figures.push(figure("peak memory", view.peak_mib, "MiB").at_most(most));
        let size = figure("page / session", page / session, "x");
        // Of a small session, the script is most of the page.
        figures.push(if bench.smoke { size } else { size.at_most(0.35) });
        figures.push(figure("verify: cpu", check.cpu_seconds, "s"));
        figures.push(figure("verify: peak memory", check.peak_mib, "MiB"));
    }
    if let Some(programs) = &bench.peers {
        figures.extend(peers::run(bench, programs)?);
    }
    Ok(figures)
}

fn run_traj(traj: &Path, folder: &Path, arguments: &[&str]) -> std::io::Result<Usage> {
    let mut command = Command::new(traj);
    command.current_dir(folder).env("HOME", folder).args(arguments).stdout(Stdio::null());
    measure::child(&mut command)
}
