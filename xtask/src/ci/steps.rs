//! The steps of `cargo xtask ci`, the quickest to fail first.
//!
//! The steps share builds: clippy, the checks of single crates and the
//! documentation use the same check artefacts; tests, doctests and the binary
//! that they start use the same compiled ones. No step changes `RUSTFLAGS`,
//! because that would build every dependency again.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xshell::cmd;

use super::{Outcome, Step, deny, fleet, formats, page};
use crate::programs::{agents, codex, openclaw};
use crate::workspace::Workspace;
use crate::{bench, demo, fuzz, tidy};

/// Every step, in order.
pub(super) fn all() -> Vec<Step> {
    vec![
        Step { name: "fmt", run: fmt },
        Step { name: "tidy", run: house_rules },
        Step { name: "deny", run: deny::deny },
        Step { name: "advisories", run: deny::advisories },
        Step { name: "page script", run: page::script },
        Step { name: "clippy", run: clippy },
        Step { name: "crates alone", run: crates_alone },
        Step { name: "docs", run: docs },
        Step { name: "codex", run: |workspace| codex::PINS.install_newest(workspace) },
        Step { name: "openclaw", run: |workspace| openclaw::PINS.install_all(workspace) },
        Step { name: "fleet programs", run: fleet::install },
        Step { name: "tests", run: tests },
        Step { name: "agents", run: real_agents },
        Step { name: "doctests", run: doctests },
        Step { name: "page in a browser", run: page::browser },
        Step { name: "formats", run: formats::readers },
        Step { name: "fleet", run: fleet::engines },
        Step { name: "demo", run: demonstration },
        Step { name: "fuzz", run: short_fuzz },
        Step { name: "benches", run: benches },
    ]
}

fn fmt(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo fmt --all -- --check").run()?;
    Ok(Outcome::Passed)
}

fn house_rules(workspace: &Workspace) -> Result<Outcome> {
    tidy::run(workspace)?;
    Ok(Outcome::Passed)
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo clippy --locked --workspace --all-targets --all-features -- -D warnings")
        .run()?;
    Ok(Outcome::Passed)
}

/// Checks each crate alone. Built together, members share the features of their
/// dependencies, which can hide a missing feature.
fn crates_alone(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    for member in workspace.members()?.iter().filter(|member| member.published) {
        let name = &member.name;
        cmd!(sh, "cargo check --locked --quiet -p {name} --no-default-features").run()?;
        cmd!(sh, "cargo check --locked --quiet -p {name} --all-features").run()?;
    }
    Ok(Outcome::Passed)
}

fn docs(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo doc --locked --workspace --all-features --no-deps")
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(Outcome::Passed)
}

fn tests(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    workspace.build_tests()?;
    // Otherwise each of a thousand test processes would ask cargo for the binaries.
    let binaries = workspace.binaries()?;
    let _set = sh.push_env("TRAJ_TEST_BINARIES", binaries);
    let nextest = cmd!(sh, "cargo nextest --version").quiet().ignore_stdout().ignore_stderr().run();
    if nextest.is_ok() {
        let others = format!("not test(/^{}/)", agents::TESTS);
        cmd!(sh, "cargo nextest run --locked --workspace --all-features --profile ci -E {others}")
            .run()?;
        return Ok(Outcome::Passed);
    }
    let agents = agents::TESTS;
    cmd!(
        sh,
        "cargo test --locked --workspace --all-features --lib --bins --tests -- --skip {agents}"
    )
    .run()?;
    Ok(Outcome::Noted("with `cargo test`: cargo-nextest is not installed".to_owned()))
}

/// Runs real agents and reads what they wrote.
fn real_agents(workspace: &Workspace) -> Result<Outcome> {
    match agents::install_newest(workspace)? {
        Outcome::Passed => agents::newest(workspace),
        skipped => Ok(skipped),
    }
}

fn doctests(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    cmd!(sh, "cargo test --locked --workspace --all-features --doc").run()?;
    Ok(Outcome::Passed)
}

/// Checks that the demonstration works and prints what the README shows.
fn demonstration(workspace: &Workspace) -> Result<Outcome> {
    let Some(traj) = built_binary(workspace)? else { return Ok(no_binary()) };
    demo::check(workspace, &traj)?;
    Ok(Outcome::Passed)
}

/// Runs each bench once on a small input, without optimisations. The figures do not matter.
fn benches(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let Some(traj) = built_binary(workspace)? else { return Ok(no_binary()) };
    let cases = workspace.target()?.join("bench/smoke-cases");
    bench::smoke_cases(&cases)?;
    let engines = fleet::python(workspace)?;
    let engines = engines.iter().flat_map(|python| [OsStr::new("--engines"), python.as_os_str()]);
    cmd!(sh, "cargo bench --locked --profile dev --workspace --all-features --bench figures -- --smoke --traj {traj} --cases {cases} {engines...}")
        .run()
        .context("a bench no longer runs")?;
    Ok(Outcome::Passed)
}

/// A short run of what `cargo xtask fuzz` does for an hour, without optimisations.
fn short_fuzz(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let fuzz = workspace.target()?.join("debug/fuzz-redaction");
    if !fuzz.exists() {
        return Ok(no_binary());
    }
    let (seconds, texts, seed) = fuzz::SHORT;
    cmd!(sh, "{fuzz} {seconds} {texts}").env("TRAJ_TEST_SEED", seed).run()?;
    Ok(Outcome::Passed)
}

fn built_binary(workspace: &Workspace) -> Result<Option<PathBuf>> {
    let traj = workspace.target()?.join("debug/traj");
    Ok(traj.exists().then_some(traj))
}

fn no_binary() -> Outcome {
    Outcome::Skipped("the step `tests` builds the binary that this step starts".to_owned())
}
