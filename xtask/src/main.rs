//! Automation of the workspace: `cargo xtask VERB --help`.
//!
//! One verb per file. Nothing here links the product's crates: the verbs start
//! cargo, git and the built binary, and read their output.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod bench;
mod ci;
mod demo;
mod dist;
mod flags;
mod fuzz;
mod peers;
mod programs;
mod release;
mod sweep;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use flags::XtaskCmd;
use programs::{agents, codex, openclaw};
use workspace::Workspace;

fn main() -> ExitCode {
    let flags = flags::Xtask::from_env_or_exit();
    match run(flags.subcommand) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: XtaskCmd) -> anyhow::Result<()> {
    let workspace = Workspace::locate()?;
    match verb {
        XtaskCmd::Ci(flags) => ci::run(&workspace, &flags),
        XtaskCmd::Sweep(flags) => sweep::run(&workspace, &flags),
        XtaskCmd::Agents(_) => agents::run(&workspace),
        XtaskCmd::Codex(_) => codex::PINS.run(&workspace),
        XtaskCmd::Openclaw(_) => openclaw::PINS.run(&workspace),
        XtaskCmd::Peers(_) => peers::run(&workspace),
        XtaskCmd::Tidy(_) => tidy::run(&workspace),
        XtaskCmd::Bench(flags) => bench::run(&workspace, &flags),
        XtaskCmd::Fuzz(flags) => fuzz::run(&workspace, &flags),
        XtaskCmd::Demo(flags) => demo::run(&workspace, &flags),
        XtaskCmd::Dist(flags) => dist::run(&workspace, &flags),
        XtaskCmd::Release(flags) => release::run(&workspace, &flags),
    }
}
