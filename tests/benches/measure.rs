//! Time and memory of this process, of a closure, and of a child process.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use rustix::process::{WaitId, WaitIdOptions};

/// How often the peak memory of a child is read. The kernel tracks the peak; only
/// growth just before the exit can be missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What a child process used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_mib: f64,
}

/// Runs a command to its end; fails if it fails. Only one may run at a time, because
/// the kernel reports the CPU time of all children together.
pub(crate) fn child(command: &mut Command) -> io::Result<Usage> {
    let cpu_before = cpu_seconds_of_children()?;
    let started = Instant::now();
    let mut child = command.spawn()?;
    let id = child.id();
    let (wall_seconds, peak_mib) = thread::scope(|scope| {
        let peak = scope.spawn(move || watch_peak(id));
        let wall = wait_unreaped(&child).map(|()| started.elapsed().as_secs_f64());
        (wall, peak.join().unwrap_or_default())
    });
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("the measured command ended with {status}")));
    }
    let cpu_seconds = cpu_seconds_of_children()? - cpu_before;
    Ok(Usage { wall_seconds: wall_seconds?, cpu_seconds, peak_mib })
}

/// Runs traj in a directory, which is also its home.
pub(crate) fn traj(traj: &Path, folder: &Path, arguments: &[&str]) -> io::Result<Usage> {
    let mut command = Command::new(traj);
    child(command.current_dir(folder).env("HOME", folder).args(arguments).stdout(Stdio::null()))
}

/// The bytes of all files below a directory.
pub(crate) fn bytes_below(folder: &Path) -> io::Result<f64> {
    let mut bytes = 0.0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let is_folder = metadata.is_dir();
        bytes += if is_folder { bytes_below(&entry.path())? } else { metadata.len() as f64 };
    }
    Ok(bytes)
}

/// The median of each figure.
pub(crate) fn median_usage(usages: &[Usage]) -> Usage {
    Usage {
        wall_seconds: median(usages.iter().map(|usage| usage.wall_seconds)),
        cpu_seconds: median(usages.iter().map(|usage| usage.cpu_seconds)),
        peak_mib: median(usages.iter().map(|usage| usage.peak_mib)),
    }
}

/// The median of the figures; zero if there are none.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// Waits for the end of a child and leaves its entry in the process table.
fn wait_unreaped(child: &Child) -> io::Result<()> {
    let id = rustix::process::Pid::from_child(child);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::Pid(id), options)?;
    Ok(())
}

/// The highest peak seen. A zombie has no memory and no such line.
fn watch_peak(id: u32) -> f64 {
    let path = format!("/proc/{id}/status");
    let mut peak = 0.0_f64;
    while let Ok(text) = fs::read_to_string(&path) {
        let Some(mib) = status_mib(&text, "VmHWM:") else { break };
        peak = peak.max(mib);
        thread::sleep(LOOK_EVERY);
    }
    peak
}

/// CPU time of all children that have ended so far.
fn cpu_seconds_of_children() -> io::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(micros as f64 / 1e6)
}

/// The current resident memory of this process.
pub(crate) fn resident_mib() -> io::Result<f64> {
    let text = fs::read_to_string("/proc/self/status")?;
    status_mib(&text, "VmRSS:").ok_or_else(|| io::Error::other("/proc/self/status has no VmRSS"))
}

fn status_mib(status: &str, key: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Wall time of one call.
pub(crate) fn wall(mut run: impl FnMut()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

/// CPU time of one call in this thread: what another process takes does not count.
pub(crate) fn cpu(mut run: impl FnMut()) -> Duration {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
        seconds + Duration::from_nanos(time.tv_nsec.unsigned_abs())
    };
    let started = now();
    run();
    now().saturating_sub(started)
}

/// Medians of several rounds. Every contender runs once per round, so that noise
/// affects all of them equally.
pub(crate) fn medians<const N: usize>(
    rounds: usize,
    contenders: [&mut dyn FnMut() -> Duration; N],
) -> [f64; N] {
    in_turns(rounds, contenders).map(|mut taken| percentile(&mut taken, 50.0).as_secs_f64())
}

/// The shortest times of such rounds, for contenders that use different resources:
/// another process can make one of them slower, and none faster.
pub(crate) fn shortest<const N: usize>(
    rounds: usize,
    contenders: [&mut dyn FnMut() -> Duration; N],
) -> [f64; N] {
    in_turns(rounds, contenders).map(|mut taken| percentile(&mut taken, 0.0).as_secs_f64())
}

fn in_turns<const N: usize>(
    rounds: usize,
    mut contenders: [&mut dyn FnMut() -> Duration; N],
) -> [Vec<Duration>; N] {
    let mut samples: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(rounds));
    for _ in 0..rounds.max(1) {
        for (contender, taken) in contenders.iter_mut().zip(&mut samples) {
            taken.push(contender());
        }
    }
    samples
}

/// The value below which `percent` of the samples are; sorts them.
pub(crate) fn percentile(samples: &mut [Duration], percent: f64) -> Duration {
    samples.sort_unstable();
    let last = samples.len().saturating_sub(1);
    let index = (percent / 100.0 * last as f64).round() as usize;
    samples.get(index).copied().unwrap_or_default()
}
