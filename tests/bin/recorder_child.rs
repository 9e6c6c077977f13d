//! A process that records, for tests that kill it, run several at once, or take
//! away its resources.
//!
//! `recorder-child FOLDER [NAME=VALUE…]` records the session `chat` in a directory.
//! It reads commands from standard input, one per line. Every command answers with
//! one line; `run` prints one more line for each flush.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};
use traj_core::settings::{Durability, Settings, WhenFull};
use traj_fs::Recorder;
use traj_tests::sidecar::{Place, event};

/// A file that fills the disk.
const FILLER: &str = "filler";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder is missing")?;
    let (mut settings, mut run) = (Settings::standard(), "run".to_owned());
    let mut text_bytes = 1;
    for argument in arguments {
        let (name, value) = argument.split_once('=').ok_or("NAME=VALUE is expected")?;
        match name {
            "run" => value.clone_into(&mut run),
            "text" => text_bytes = value.parse()?,
            "limit" => settings.limits.sidecar_bytes = value.parse()?,
            "queue" => settings.queue_events = value.parse()?,
            "rolling" => settings.when_full = WhenFull::Roll,
            "disabled" => settings.enabled = false,
            "relaxed" => settings.durability = Durability::Relaxed,
            "umask" => drop(umask(Mode::from_raw_mode(u32::from_str_radix(value, 8)?))),
            _ => return Err("an unknown setting".into()),
        }
    }
    let place = Place::at(Path::new(&folder));
    let recorder = place.recorder_of_run(&run, &settings);
    let mut child = Child { place, recorder, run, text: "x".repeat(text_bytes), recorded: 0 };
    let mut out = io::stdout().lock();
    for line in io::stdin().lines() {
        let line = line?;
        let (command, value) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = child.obey(command, value, &mut out)?;
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

struct Child {
    place: Place,
    recorder: Recorder,
    run: String,
    text: String,
    recorded: u64,
}

type Outcome = Result<String, Box<dyn std::error::Error>>;

impl Child {
    fn obey(&mut self, command: &str, value: &str, out: &mut impl Write) -> Outcome {
        match command {
            "hello" => Ok("ready".to_owned()),
            "record" => self.record(value.parse()?),
            "run" => self.run(value.parse()?, out),
            "flush" => {
                let report = self.recorder.flush();
                let error = report.error.as_deref().unwrap_or("none");
                Ok(format!("{} {} {error}", report.is_complete(), report.pending_events))
            }
            "stats" => {
                let stats = self.recorder.stats();
                let dropped = stats.dropped.total();
                Ok(format!("{} {} {dropped}", stats.written_events, stats.queued_events))
            }
            "error" => Ok(self.recorder.stats().last_error.unwrap_or_else(|| "none".to_owned())),
            "files" => Ok(limit(Resource::Nofile, value.parse()?)?),
            "bytes" => Ok(limit(Resource::Fsize, value.parse()?)?),
            "threads" => {
                let tasks = Place::at(Path::new("/proc/self/task"));
                Ok(tasks.names().len().to_string())
            }
            "fill" => self.fill(),
            "free" => {
                self.place.folder.remove_file(FILLER)?;
                Ok("freed".to_owned())
            }
            "remount" => self.remount(value),
            "copy" => {
                // Into a directory outside of the mount, which the parent can read.
                let bytes = self.place.sidecar_bytes();
                Place::at(Path::new(value)).folder.write(Place::SIDECAR, bytes)?;
                Ok("copied".to_owned())
            }
            _ => Err("an unknown command".into()),
        }
    }

    fn record(&mut self, events: u64) -> Outcome {
        for _ in 0..events {
            self.recorded += 1;
            self.recorder.record(event(&format!("{}:{}:{}", self.run, self.recorded, self.text)));
        }
        Ok("recorded".to_owned())
    }

    /// Records events and flushes after one, two, three … nine events, over and
    /// over, so that batches of several sizes occur.
    fn run(&mut self, events: u64, out: &mut impl Write) -> Outcome {
        let mut step = 0;
        let end = self.recorded + events;
        while self.recorded < end {
            step = step % 9 + 1;
            self.record(step.min(end - self.recorded))?;
            if self.recorder.flush().is_complete() {
                writeln!(out, "acknowledged {}", self.recorded)?;
                out.flush()?;
            }
        }
        Ok("done".to_owned())
    }

    fn fill(&self) -> Outcome {
        let mut file = self.place.folder.create(FILLER)?;
        for size in [4_096, 64, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
        Ok("filled".to_owned())
    }

    fn remount(&self, options: &str) -> Outcome {
        let mut mount = Command::new("mount");
        // Remounts the mount point, not the filesystem, which a user namespace does not allow.
        mount.args(["-o", &format!("remount,bind,{options}")]).arg(self.place.path());
        Ok(mount.status()?.success().to_string())
    }
}

/// Sets the soft limit, which can be raised later.
fn limit(resource: Resource, value: u64) -> io::Result<String> {
    let maximum = getrlimit(resource).maximum;
    setrlimit(resource, Rlimit { current: Some(value), maximum })?;
    Ok("limited".to_owned())
}
