//! `cargo xtask ci`: everything that must hold before a change is merged.
//!
//! The steps are a list of named functions. This file runs them, times them
//! and prints the summary; the steps themselves are in `ci/steps.rs`. The verb
//! `sweep` runs its own list in the same way.

mod deny;
pub(crate) mod fleet;
mod formats;
mod page;
mod python;
mod steps;

pub(crate) use formats::receiver;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::flags;
use crate::workspace::Workspace;

/// One named part of the run.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Workspace) -> Result<Outcome>,
}

/// How a step ended, unless it failed.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// Passed, with a note for the summary.
    Noted(String),
    /// Could not run here. With `CI=true` that is a failure, because a check
    /// that does not run proves nothing.
    Skipped(String),
}

enum Verdict {
    Passed,
    Noted(String),
    Skipped(String),
    Failed(String),
}

/// Which steps to run, and whether to stop at the first failure.
pub(crate) struct Choice<'a> {
    pub(crate) only: Option<&'a str>,
    pub(crate) list: bool,
    pub(crate) keep_going: bool,
    /// Whether a skipped step is a failure.
    pub(crate) strict: bool,
}

pub(crate) fn run(workspace: &Workspace, flags: &flags::Ci) -> Result<()> {
    let choice = Choice {
        only: flags.only.as_deref(),
        list: flags.list,
        keep_going: flags.keep_going,
        strict: workspace.sh.var("CI").is_ok_and(|value| value == "true"),
    };
    run_steps(workspace, steps::all(), &choice)
}

/// Runs the chosen steps in order and prints a summary.
pub(crate) fn run_steps(workspace: &Workspace, all: Vec<Step>, choice: &Choice<'_>) -> Result<()> {
    let wanted = |step: &Step| choice.only.is_none_or(|part| step.name.contains(part));
    let steps: Vec<Step> = all.into_iter().filter(wanted).collect();
    if steps.is_empty() {
        bail!("no step has that name; --list prints them");
    }
    if choice.list {
        for step in &steps {
            println!("{}", step.name);
        }
        return Ok(());
    }

    // A changed snapshot fails the run; none is written or accepted here.
    workspace.sh.set_var("INSTA_UPDATE", "no");
    let started = Instant::now();
    let mut summary = Vec::new();
    for step in &steps {
        println!("\n=== {}", step.name);
        let step_started = Instant::now();
        let verdict = judge((step.run)(workspace), choice.strict);
        let failed = matches!(verdict, Verdict::Failed(_));
        summary.push((step.name, step_started.elapsed(), verdict));
        if failed && !choice.keep_going {
            break;
        }
    }
    print_summary(&summary, steps.len(), started.elapsed());
    let failures = summary.iter().filter(|(_, _, verdict)| matches!(verdict, Verdict::Failed(_)));
    match failures.count() {
        0 => Ok(()),
        count => bail!("{count} of {} steps failed", steps.len()),
    }
}

fn judge(result: Result<Outcome>, strict: bool) -> Verdict {
    match result {
        Ok(Outcome::Passed) => Verdict::Passed,
        Ok(Outcome::Noted(note)) => Verdict::Noted(note),
        Ok(Outcome::Skipped(reason)) if strict => {
            Verdict::Failed(format!("skipped, which is a failure here: {reason}"))
        }
        Ok(Outcome::Skipped(reason)) => Verdict::Skipped(reason),
        Err(error) => Verdict::Failed(format!("{error:#}")),
    }
}

fn print_summary(summary: &[(&str, Duration, Verdict)], planned: usize, total: Duration) {
    println!("\n=== summary");
    for (name, took, verdict) in summary {
        let (word, detail) = match verdict {
            Verdict::Passed => ("ok", ""),
            Verdict::Noted(note) => ("ok", note.as_str()),
            Verdict::Skipped(reason) => ("SKIPPED", reason.as_str()),
            Verdict::Failed(reason) => ("FAILED", reason.as_str()),
        };
        println!("{word:>8}  {:>7.1} s  {name}", took.as_secs_f64());
        for line in detail.lines() {
            println!("                       {line}");
        }
    }
    if summary.len() < planned {
        println!("{:>8}  {} steps not run", "", planned - summary.len());
    }
    println!("{:>8}  {:>7.1} s  total", "", total.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_step_fails_only_where_skipping_is_not_allowed() {
        let skipped = || Ok(Outcome::Skipped("no browser".to_owned()));
        assert!(matches!(judge(skipped(), false), Verdict::Skipped(_)));
        assert!(matches!(judge(skipped(), true), Verdict::Failed(_)));
    }

    #[test]
    fn step_names_are_distinct() {
        let mut names: Vec<&str> = steps::all().iter().map(|step| step.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
