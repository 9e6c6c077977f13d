//! `cargo xtask agents`: real agents run offline, and `traj` reads what they wrote.
//!
//! The agents are installed into a cache outside `target` (see `npm`). Where the host
//! permits it, they run in a network namespace that has only a loopback interface.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use xshell::{Shell, cmd};

use crate::ci::Outcome;
use crate::programs::codex;
use crate::programs::npm::{Pins, Place};
use crate::workspace::Workspace;

/// The agents, and the Node.js that some of them need.
const PROGRAMS: [Pins; 10] = [
    Pins {
        name: "node",
        title: "Node.js for the agents",
        place: Place::Cache,
        entry: |workspace, folder| {
            first_of(&workspace.sh, folder, &["node_modules/node-*/bin/node"])
        },
    },
    Pins {
        name: "claude-code",
        title: "the real Claude Code",
        place: Place::Cache,
        entry: |workspace, folder| {
            let packaged = "node_modules/@anthropic-ai/claude-code-*/claude";
            first_of(&workspace.sh, folder, &[packaged, "node_modules/.bin/claude"])
        },
    },
    Pins {
        name: "copilot",
        title: "the real Copilot CLI",
        place: Place::Cache,
        entry: |workspace, folder| first_of(&workspace.sh, folder, &["node_modules/.bin/copilot"]),
    },
    Pins {
        name: "gemini-cli",
        title: "the real Gemini CLI",
        place: Place::Cache,
        entry: |workspace, folder| first_of(&workspace.sh, folder, &["node_modules/.bin/gemini"]),
    },
    Pins {
        name: "opencode",
        title: "the real opencode",
        place: Place::Cache,
        entry: |workspace, folder| {
            first_of(&workspace.sh, folder, &["node_modules/opencode-*/bin/opencode"])
        },
    },
    Pins {
        name: "pi",
        title: "the real pi",
        place: Place::Cache,
        entry: |workspace, folder| first_of(&workspace.sh, folder, &["node_modules/.bin/pi"]),
    },
    Pins {
        name: "qwen-code",
        title: "the real Qwen Code",
        place: Place::Cache,
        entry: |workspace, folder| first_of(&workspace.sh, folder, &["node_modules/.bin/qwen"]),
    },
    codex::PINS,
    Pins {
        name: "openclaw",
        title: "the real OpenClaw with its agent",
        place: Place::Cache,
        entry: |workspace, folder| first_of(&workspace.sh, folder, &["node_modules/.bin/openclaw"]),
    },
    Pins {
        name: "continue",
        title: "the real Continue",
        place: Place::Cache,
        entry: |workspace, folder| first_of(&workspace.sh, folder, &["node_modules/.bin/cn"]),
    },
];

/// The tests that run agents.
pub(crate) const TESTS: &str = "real_agents::";

/// Installs every pinned version and runs the tests with all of them.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let installed = install(workspace, Pins::install_all)?;
    if let Outcome::Skipped(reason) = installed {
        bail!(reason);
    }
    workspace.build_tests()?;
    test(workspace, true)
}

/// Installs the newest pinned version of each agent.
pub(crate) fn install_newest(workspace: &Workspace) -> Result<Outcome> {
    install(workspace, Pins::install_newest)
}

fn install(
    workspace: &Workspace,
    versions: fn(&Pins, &Workspace) -> Result<Outcome>,
) -> Result<Outcome> {
    for program in &PROGRAMS {
        let outcome = versions(program, workspace)?;
        if !matches!(outcome, Outcome::Passed) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed)
}

/// Runs the tests with the newest version of each agent.
pub(crate) fn newest(workspace: &Workspace) -> Result<Outcome> {
    test(workspace, false)?;
    if is_isolated(workspace) {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Noted("the agents ran without a network namespace of their own".to_owned()))
}

fn test(workspace: &Workspace, is_sweep: bool) -> Result<()> {
    let sh = &workspace.sh;
    // All members, so that the features are those of the build before.
    let tests = "cargo test --locked --offline --workspace --all-features --test it";
    let tests = format!("{tests} -- {TESTS} --test-threads 2");
    let mut command = if is_isolated(workspace) {
        let script = format!("ip link set lo up && exec {tests}");
        cmd!(sh, "unshare --net sh -c {script}")
    } else {
        cmd!(sh, "sh -c {tests}")
    };
    // In the namespace, cargo cannot look for its registry. The binary was built before.
    command =
        command.env("CARGO_NET_OFFLINE", "true").env("TRAJ_TEST_BINARIES", workspace.binaries()?);
    if is_sweep {
        command = command.env("TRAJ_TEST_SWEEP", "true");
    }
    command.run().context("an agent's files are not read as they should")
}

/// Whether this host permits a network namespace that has only a loopback interface.
fn is_isolated(workspace: &Workspace) -> bool {
    let script = "ip link set lo up";
    let tried = cmd!(workspace.sh, "unshare --net sh -c {script}").quiet();
    tried.ignore_stdout().ignore_stderr().run().is_ok()
}

/// The first file that exists. A `*` stands for the rest of a directory's name.
fn first_of(sh: &Shell, folder: &Path, candidates: &[&str]) -> Result<PathBuf> {
    for candidate in candidates {
        let files = match candidate.split_once('*') {
            None => vec![folder.join(candidate)],
            Some((front, back)) => {
                let (parent, prefix) = front.rsplit_once('/').unwrap_or((".", front));
                let entries = sh.read_dir(folder.join(parent)).unwrap_or_default().into_iter();
                let starts = |entry: &PathBuf| {
                    entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
                };
                entries
                    .filter(starts)
                    .map(|entry| entry.join(back.trim_start_matches('/')))
                    .collect()
            }
        };
        if let Some(file) = files.into_iter().find(|file| file.exists()) {
            return Ok(file);
        }
    }
    bail!("the package has no executable for this machine")
}
