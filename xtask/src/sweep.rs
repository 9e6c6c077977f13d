//! `cargo xtask sweep`: the long checks, for the night before a release.
//!
//! Nothing may be skipped here: a missing tool or agent is a failure.

use anyhow::Result;
use xshell::cmd;

use crate::ci::{self, Choice, Outcome, Step, fleet};
use crate::programs::{agents, codex, openclaw};
use crate::workspace::Workspace;
use crate::{bench, flags, peers};

/// The number of cases for every property that does not set its own.
const PROPERTY_CASES: &str = "20000";

/// The number of cases that selects the longest texts.
const LONGEST_CASES: &str = "1000001";

pub(crate) fn run(workspace: &Workspace, flags: &flags::Sweep) -> Result<()> {
    let choice = Choice {
        only: flags.only.as_deref(),
        list: flags.list,
        keep_going: flags.keep_going,
        strict: true,
    };
    ci::run_steps(workspace, all(), &choice)
}

fn all() -> Vec<Step> {
    vec![
        Step { name: "codex", run: |workspace| codex::PINS.install_all(workspace) },
        Step { name: "openclaw", run: |workspace| openclaw::PINS.install_all(workspace) },
        Step { name: "peers", run: peers::install },
        Step { name: "properties", run: properties },
        Step { name: "linear", run: linear },
        Step { name: "agents", run: every_agent },
        Step { name: "fleet", run: fleet::every_engine },
        Step { name: "receiver", run: ci::receiver },
        Step { name: "benches", run: benches },
    ]
}

/// Every test, with many more cases for each property. The end-to-end tests run
/// all pinned versions of the agents, and fail if one is missing.
fn properties(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    workspace.build_tests()?;
    let skipped = agents::TESTS;
    cmd!(sh, "cargo test --locked --workspace --all-features --no-fail-fast --lib --bins --tests -- --skip {skipped}")
        .env("CI", "true")
        .env("PROPTEST_CASES", PROPERTY_CASES)
        .env("TRAJ_TEST_SWEEP", "true")
        .env("TRAJ_TEST_BINARIES", workspace.binaries()?)
        .run()?;
    Ok(Outcome::Passed)
}

/// The work of redaction on megabytes of every keyword, prefix and frame of the rules,
/// repeated, alternated and nested.
fn linear(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo test --locked --release -p traj-core --all-features --lib -- linear_tests")
        .env("CI", "true")
        .env("PROPTEST_CASES", LONGEST_CASES)
        .run()?;
    Ok(Outcome::Passed)
}

/// All subjects at full size; a figure that misses its target is a failure.
fn benches(workspace: &Workspace) -> Result<Outcome> {
    bench::run(workspace, &flags::Bench { subject: Vec::new(), smoke: false, check: true })?;
    Ok(Outcome::Passed)
}

/// All pinned versions of all agents.
fn every_agent(workspace: &Workspace) -> Result<Outcome> {
    agents::run(workspace)?;
    Ok(Outcome::Passed)
}
