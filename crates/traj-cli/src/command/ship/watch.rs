//! Rounds until somebody asks to stop.

use std::process::ExitCode;
use std::time::Duration;

use traj_export::{Pace as _, pause_after};

use super::round::Round;
use super::{Job, subjects};
use crate::command::Outcome;
use crate::compose::Host;
use crate::interruption::Waits;

/// After this time without a change, a session is shipped up to its last event.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// The longest time between two rounds if the dataset cannot be used.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

pub(super) fn run(job: &Job<'_>) -> Outcome {
    let mut waits = Waits::until(job.interruption.stop_flag());
    let mut round = None;
    let mut failures = 0;
    loop {
        let outcome = one_round(job, &mut round);
        if waits.is_stopped() {
            return Ok(ExitCode::SUCCESS);
        }
        let mut pause = job.arguments.every;
        let away = round.as_ref().and_then(Round::away);
        failures = if outcome.is_ok() && away.is_none() { 0 } else { failures + 1 };
        if failures > 0 {
            let random = waits.random();
            let asked = away.flatten().unwrap_or_default();
            pause = pause.max(pause_after(failures, LONGEST_PAUSE, random)).max(asked);
        }
        if let Err(error) = outcome {
            job.output.note(&format!("{}: {}", error.message, error.causes().join(": ")));
            // What it remembers may be wrong.
            round = None;
        }
        if !waits.wait(pause) {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn one_round<'j, 'a>(
    job: &'j Job<'a>,
    round: &mut Option<Round<'j, 'a>>,
) -> Result<(), crate::command_error::CommandError> {
    let idle_before =
        Host::now().as_millis().saturating_sub(i64::try_from(IDLE.as_millis()).unwrap_or(i64::MAX));
    let round = match round {
        Some(round) => {
            round.begin_again()?;
            round
        }
        None => round.insert(Round::begin(job, Waits::until(job.interruption.stop_flag()))?),
    };
    let outcome = subjects::find(job).and_then(|found| round.ship_all(found, Some(idle_before)));
    let report = round.report();
    job.note_status(&report, outcome.as_ref().err());
    if report.has_news() {
        report.print(job.output)?;
    }
    outcome
}
