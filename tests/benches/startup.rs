//! The startup cost of a command. Small commands must not pay for rules, runtimes
//! or adapters that they do not use.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::figure::Figure;
use crate::measure::{self, percentile};
use crate::{Bench, Outcome};

pub(crate) fn run(bench: &Bench) -> Outcome {
    let traj = bench.traj.as_ref().ok_or("needs --traj with the built binary")?;
    let rounds = bench.size(40, 2);
    let mut ours = Vec::with_capacity(rounds);
    let mut bare = Vec::with_capacity(rounds);
    let (mut peak, mut cpu) = (0.0_f64, 0.0_f64);
    for _ in 0..rounds {
        let usage = measure::child(Command::new(traj).arg("--version").stdout(Stdio::null()))?;
        peak = peak.max(usage.peak_mib);
        cpu += usage.cpu_seconds;
        ours.push(Duration::from_secs_f64(usage.wall_seconds));
        let usage = measure::child(Command::new("true").stdout(Stdio::null()))?;
        bare.push(Duration::from_secs_f64(usage.wall_seconds));
    }
    let ours = percentile(&mut ours, 50.0).as_secs_f64();
    let bare = percentile(&mut bare, 50.0).as_secs_f64();
    Ok(vec![
        Figure::ratio("traj --version / true", ours, bare).at_most(10.0),
        Figure::new("cpu of traj --version", cpu / rounds as f64 * 1000.0, "ms").at_most(50.0),
        Figure::new("peak memory of traj --version", peak, "MiB").at_most(32.0),
    ])
}
