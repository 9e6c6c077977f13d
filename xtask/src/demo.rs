//! `cargo xtask demo`: records, exports and verifies the shipped example with the
//! real binary.
//!
//! The example is copied into the target directory first: recording writes
//! next to the transcript, and a demonstration must not change the checkout or
//! the user's state directory.

mod picture;
mod readme;

use std::path::Path;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::flags;
use crate::workspace::Workspace;

/// Where the example's agent worked; redaction replaces this path.
const AGENT_WORKSPACE: &str = "/home/dev/importer";
/// How many lines of the timeline the picture shows.
const PICTURED_MOMENTS: usize = 8;
/// Made-up credentials that the example's tools print.
const SECRETS: [&str; 3] = ["ghp_R7kQ2mVx", "tR0ub4dor-and-3", "sk-proj-Zq8Lw3Xn"];

pub(crate) fn run(workspace: &Workspace, flags: &flags::Demo) -> Result<()> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo build --locked --quiet -p traj-cli").run()?;
    let traj = workspace.target()?.join("debug/traj");
    let lines = perform(workspace, &traj)?;
    if let Some(file) = &flags.picture {
        let title = "traj records a run, exports it and verifies the bundle";
        sh.write_file(file, picture::draw(title, &shortened(&lines)))?;
    }
    Ok(())
}

/// Runs the demonstration and compares it with the tour in the README.
pub(crate) fn check(workspace: &Workspace, traj: &Path) -> Result<()> {
    let lines = perform(workspace, traj)?;
    let unknown = readme::lines_not_printed(&workspace.read("README.md")?, &lines);
    ensure!(unknown.is_empty(), "the README shows what is not printed:\n{}", unknown.join("\n"));
    Ok(())
}

/// Runs the demonstration in an empty directory and returns its output.
fn perform(workspace: &Workspace, traj: &Path) -> Result<Vec<String>> {
    let sh = &workspace.sh;
    let demo = workspace.target()?.join("demo");
    sh.remove_path(&demo)?;
    sh.create_dir(&demo)?;
    // Commands print the real path of their directory, also below a link.
    let demo = demo.canonicalize()?;
    for file in ["session.jsonl", "events.jsonl"] {
        sh.copy_file(Path::new("examples/run").join(file), &demo)?;
    }
    let _in_demo = sh.push_dir(&demo);
    let _state = sh.push_env("TRAJ_STATE_DIR", demo.join("state"));
    let _zone = sh.push_env("TZ", "UTC");
    let place = format!("{}/", demo.display());
    let mut stage = Stage { sh, traj, place, lines: Vec::new() };

    stage.remark("a transcript as agents write it, with credentials in the tool output");
    stage.traj("scan session.jsonl", 3)?;

    stage.remark("record the events of the run next to it");
    let about = format!("session.jsonl --workspace {AGENT_WORKSPACE}");
    stage.traj(&format!("record {about} < events.jsonl"), 0)?;
    let recorded = sh.read_file("session.trajectory.jsonl")?;
    let given = sh.read_file("events.jsonl")?;
    ensure!(recorded.lines().count() == given.lines().count(), "an event was not recorded");
    ensure_hidden(&recorded)?;

    stage.remark("export both as a bundle that can be shared");
    let into = "--output-root bundles --output first";
    stage.traj(&format!("export {about} {into}"), 0)?;
    for file in sh.read_dir("bundles/first")? {
        ensure_hidden(&sh.read_file(file)?)?;
    }

    stage.remark("check it, as the recipient would");
    stage.traj("verify bundles/first", 0)?;
    stage.remark("how the run went, and what led to its first failure");
    stage.traj("inspect bundles/first", 0)?;
    stage.traj("show bundles/first --failed", 0)?;
    stage.remark("the same as one page, for the browser");
    stage.traj("view bundles/first --output first.html", 0)?;
    stage.traj("verify first.html", 0)?;
    ensure_hidden(&sh.read_file("first.html")?)?;
    Ok(stage.lines)
}

/// Fails if one of the example's secrets is left.
fn ensure_hidden(text: &str) -> Result<()> {
    for secret in SECRETS {
        ensure!(!text.contains(secret), "a secret of the example survived: {secret}…");
    }
    Ok(())
}

/// The lines without most of the timeline.
fn shortened(lines: &[String]) -> Vec<String> {
    let start = lines.iter().position(|line| line == "timeline").unwrap_or(lines.len());
    let is_cut =
        |index: usize, line: &str| index > start + PICTURED_MOMENTS && line.starts_with(' ');
    let end =
        lines.iter().enumerate().rposition(|(index, line)| index > start && !line.starts_with(' '));
    let mut short = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if end.is_some_and(|end| index < end) && is_cut(index, line) {
            if short.last().is_none_or(|last: &String| last.trim() != "…") {
                short.push("       …".to_owned());
            }
        } else {
            short.push(line.clone());
        }
    }
    short
}

/// Runs commands and keeps their visible output.
struct Stage<'a> {
    sh: &'a Shell,
    traj: &'a Path,
    /// The working directory; it differs between machines, so it is not shown.
    place: String,
    lines: Vec<String>,
}

impl Stage<'_> {
    fn remark(&mut self, text: &str) {
        self.say(&format!("# {text}"));
    }

    /// Runs `traj ARGUMENTS`, where a final `< FILE` is its input, and expects this exit code.
    fn traj(&mut self, line: &str, expected: i32) -> Result<()> {
        self.say(&format!("$ traj {line}"));
        let (arguments, input) = line.split_once(" < ").unwrap_or((line, ""));
        let arguments = arguments.split(' ');
        let traj = self.traj;
        let sh = self.sh;
        let input = if input.is_empty() { String::new() } else { sh.read_file(input)? };
        let command = cmd!(sh, "{traj} {arguments...}").quiet().ignore_status().stdin(input);
        let output = command.output()?;
        for stream in [output.stderr, output.stdout] {
            for printed in String::from_utf8_lossy(&stream).lines() {
                self.say(printed.replace(&self.place, "").trim_end());
            }
        }
        let code = output.status.code();
        ensure!(code == Some(expected), "`traj {line}` ended with {code:?}, not {expected}");
        Ok(())
    }

    fn say(&mut self, line: &str) {
        println!("{line}");
        self.lines.push(line.to_owned());
    }
}
