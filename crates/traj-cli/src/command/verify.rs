//! `traj verify`: checks that a bundle is complete, unchanged, well-formed and
//! free of secrets.

use std::path::PathBuf;

use clap::Args;
use traj_export::{BundleProblem, VerifyReport, verify, verify_page};

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind, explain_unreadable};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::progress::WatchedBundle;
use crate::quantity::counted;
use crate::resolve::bundle::{NamedBundle, rules};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Checks a bundle in place, without unpacking it: every file against its size \
                  and digest in the manifest, every line against its schema, and everything \
                  against the redaction rules.\n\nA page that `traj view` wrote is checked the \
                  same way, and everything around its data must be what traj writes, byte for \
                  byte.",
    after_help = concat!(
        "Examples:\n",
        "  traj verify bug-1234             a directory\n",
        "  traj verify bug-1234.zip --json  an archive, as JSON\n",
        "  traj verify bug-1234.html        a page\n",
        "\n",
        "Exit codes: 0 no problems · 1 not found or not readable · 2 wrong usage · 3 a secret \
         survived · 4 damaged or not a bundle"
    )
)]
pub(crate) struct Arguments {
    /// The bundle: a directory, a zip file, a tar.zst file or a page
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<VerifyReport>("verify");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let report = check(arguments, host, output)?;
    // Secrets take precedence over damage: they can do harm.
    let fault = if report.findings.is_empty() {
        (!report.problems.is_empty()).then_some(ErrorKind::Damaged)
    } else {
        Some(ErrorKind::Findings)
    };
    output.verdict(&report, fault, describe)
}

/// Checks the bundle. The progress bar is cleared before anything is printed.
fn check(
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
) -> Result<VerifyReport, CommandError> {
    let bundle =
        WatchedBundle::new(NamedBundle::open(&arguments.bundle, host)?, "checking", output);
    let (rules, workers) = (rules()?, Host::workers());
    match bundle.inner() {
        NamedBundle::Files(_) => verify(&bundle, &rules, workers),
        NamedBundle::Page(page) => verify_page(page, &rules, workers),
    }
    .map_err(explain_unreadable)
}

/// The line for problems that are not listed.
pub(super) fn describe_omitted(problems: u64) -> Option<String> {
    (problems > 0).then(|| format!("damaged  … {}", counted(problems, "more place")))
}

/// The line for one problem.
pub(super) fn describe_problem(problem: &BundleProblem) -> String {
    let line = problem.line.map_or_else(String::new, |line| format!(":{line}"));
    let text = format!("damaged  {}{line} {}", problem.file, problem.problem);
    escape_control(&text).into_owned()
}

fn describe(report: &VerifyReport) -> String {
    let mut lines = Vec::new();
    lines.extend(report.problems.iter().map(describe_problem));
    lines.extend(describe_omitted(report.problems_omitted));
    for finding in &report.findings {
        let text = format!("secret   {}:{} rule {}", finding.file, finding.line, finding.rule);
        lines.push(escape_control(&text).into_owned());
    }
    if report.findings_omitted > 0 {
        lines.push(format!("secret   … {}", counted(report.findings_omitted, "more place")));
    }
    let verdict = if report.is_sound() { "sound" } else { "not sound" };
    let (files, events) = (counted(report.files as u64, "file"), counted(report.events, "event"));
    lines.push(format!("{verdict}: {files}, {events}"));
    if let Some(digest) = &report.digest {
        lines.push(escape_control(digest).into_owned());
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_not_listed_are_counted() {
        let mut report = VerifyReport::default();
        assert_eq!(describe(&report), "sound: 0 files, 0 events\n");
        (report.problems_omitted, report.findings_omitted) = (7, 8);
        let text = describe(&report);
        assert!(text.starts_with("damaged  … 7 more places\nsecret   … 8 more places\n"), "{text}");
    }
}
