//! Runs cargo-deny with the rules of `deny.toml`: licences, sources, banned
//! crates and known vulnerabilities.
//!
//! The first three need only the lock file. Vulnerabilities are looked up in
//! the RustSec database, which has to be fetched; that is a separate step.

use anyhow::Result;
use xshell::cmd;

use super::Outcome;
use crate::tools::CARGO_DENY;
use crate::workspace::Workspace;

/// Licences, sources and banned crates.
pub(super) fn deny(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let program = match CARGO_DENY.install(workspace) {
        Ok(program) => program,
        Err(error) => return Ok(not_installed(&error)),
    };
    cmd!(sh, "{program} --locked --all-features check licenses bans sources").run()?;
    Ok(Outcome::Passed)
}

/// Known vulnerabilities of the crates in the lock file.
pub(super) fn advisories(workspace: &Workspace) -> Result<Outcome> {
    let sh = &workspace.sh;
    let program = match CARGO_DENY.install(workspace) {
        Ok(program) => program,
        Err(error) => return Ok(not_installed(&error)),
    };
    if let Err(error) = cmd!(sh, "{program} fetch db").run() {
        let on_github = sh.var("GITHUB_ACTIONS").is_ok_and(|value| value == "true");
        return Ok(without_database(&error.to_string(), on_github));
    }
    cmd!(sh, "{program} --locked --all-features check --disable-fetch advisories").run()?;
    Ok(Outcome::Passed)
}

fn not_installed(error: &anyhow::Error) -> Outcome {
    Outcome::Skipped(format!("cargo-deny is NOT INSTALLED, so this was NOT CHECKED: {error:#}"))
}

/// A machine that cannot reach the database must still be able to pass. GitHub's
/// machines can reach it, so there the check must run.
fn without_database(error: &str, on_github: bool) -> Outcome {
    let note = format!("ADVISORIES WERE NOT CHECKED: cannot fetch the database: {error}");
    if on_github { Outcome::Skipped(note) } else { Outcome::Noted(note) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_database_is_reported_and_required_on_github() {
        let Outcome::Noted(note) = without_database("no route", false) else {
            panic!("offline, the step passes with a note")
        };
        assert!(note.contains("NOT CHECKED") && note.contains("no route"));
        assert!(matches!(without_database("no route", true), Outcome::Skipped(_)));
    }

    #[test]
    fn a_missing_cargo_deny_is_a_skipped_step() {
        assert!(matches!(not_installed(&anyhow::anyhow!("offline")), Outcome::Skipped(_)));
    }
}
