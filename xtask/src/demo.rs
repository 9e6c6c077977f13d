//! `cargo xtask demo`: the main job on the shipped example, with the real binary.
//!
//! The example is copied into the target folder first: recording writes
//! beside the transcript, and a demonstration leaves the checkout and the
//! owner's state folder alone.

mod picture;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use xshell::{Shell, cmd};

use crate::flags;
use crate::workspace::Workspace;

/// The session of `examples/run`, as its transcript names it.
const SESSION_ID: &str = "0197f2c4-5d1e-7a3b-9c68-2f4e8d0b1a57";
/// Where the example's agent worked; redaction replaces this path.
const AGENT_WORKSPACE: &str = "/home/dev/importer";
/// Made-up credentials that the example's tools print.
const SECRETS: [&str; 3] = ["ghp_R7kQ2mVx", "tR0ub4dor-and-3", "sk-proj-Zq8Lw3Xn"];

pub(crate) fn run(workspace: &Workspace, flags: &flags::Demo) -> Result<()> {
    let lines = perform(workspace)?;
    if let Some(file) = &flags.picture {
        workspace
            .sh
            .write_file(file, picture::draw("traj records a run and hides what it must", &lines))?;
    }
    Ok(())
}

/// Runs the demonstration in an empty folder; returns what it printed.
pub(crate) fn perform(workspace: &Workspace) -> Result<Vec<String>> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo build --locked --quiet -p traj-cli").run()?;
    let target = workspace.target()?;
    let demo = target.join("demo");
    sh.remove_path(&demo)?;
    sh.create_dir(&demo)?;
    for file in ["session.jsonl", "events.jsonl"] {
        sh.copy_file(Path::new("examples/run").join(file), &demo)?;
    }
    let _in_demo = sh.push_dir(&demo);
    let _state = sh.push_env("TRAJ_STATE_DIR", demo.join("state"));
    let place = format!("{}/", demo.display());
    let mut stage = Stage { sh, traj: target.join("debug/traj"), place, lines: Vec::new() };

    stage.remark("record the events of a run beside its transcript");
    let about =
        format!("--session session.jsonl --session-id {SESSION_ID} --workspace {AGENT_WORKSPACE}");
    stage.traj(&format!("record {about} < events.jsonl"))?;

    let recorded = sh.read_file("session.trajectory.jsonl")?;
    let given = sh.read_file("events.jsonl")?;
    ensure!(recorded.lines().count() == given.lines().count(), "an event was not recorded");
    ensure_hidden(&recorded)?;

    stage.remark("make a bundle that can be sent");
    stage.traj(&format!(
        "export --session session.jsonl --workspace {AGENT_WORKSPACE} --output-root bundles --output first"
    ))?;
    for file in sh.read_dir("bundles/first")? {
        ensure_hidden(&sh.read_file(file)?)?;
    }
    Ok(stage.lines)
}

/// The point of it all: none of the example's secrets is left.
fn ensure_hidden(text: &str) -> Result<()> {
    for secret in SECRETS {
        ensure!(!text.contains(secret), "a secret of the example survived: {secret}…");
    }
    Ok(())
}

/// Runs commands and keeps what a spectator sees.
struct Stage<'a> {
    sh: &'a Shell,
    traj: PathBuf,
    /// Where all this happens; the same on no two machines, so it is not shown.
    place: String,
    lines: Vec<String>,
}

impl Stage<'_> {
    fn remark(&mut self, text: &str) {
        self.say(&format!("# {text}"));
    }

    /// Runs `traj ARGUMENTS`, where a final `< FILE` is its input.
    fn traj(&mut self, line: &str) -> Result<()> {
        self.say(&format!("$ traj {line}"));
        let (arguments, input) = line.split_once(" < ").unwrap_or((line, ""));
        let arguments = arguments.split(' ');
        let traj = &self.traj;
        let sh = self.sh;
        let input = if input.is_empty() { String::new() } else { sh.read_file(input)? };
        let output = cmd!(sh, "{traj} {arguments...}").quiet().stdin(input).output();
        let output = output.with_context(|| format!("traj {line}"))?;
        for stream in [output.stderr, output.stdout] {
            for printed in String::from_utf8_lossy(&stream).lines() {
                self.say(&printed.replace(&self.place, ""));
            }
        }
        Ok(())
    }

    fn say(&mut self, line: &str) {
        println!("{line}");
        self.lines.push(line.to_owned());
    }
}
