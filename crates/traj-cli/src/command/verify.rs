//! `traj verify`: is a bundle complete, unchanged, well-formed and free of
//! secrets.

use std::path::PathBuf;

use clap::Args;
use traj_core::port::BundleSourceError;
use traj_core::redaction::{RedactionPolicy, Redactor};
use traj_export::{BundleProblem, VerifyReport, verify};
use traj_fs::FsBundleSource;

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::progress::WatchedBundle;
use crate::quantity::counted;
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Checks a bundle in place, without unpacking it: every file against its size \
                  and digest in the manifest, every line against its schema, and everything \
                  against the redaction rules.",
    after_help = concat!(
        "Examples:\n",
        "  traj verify bug-1234             a directory\n",
        "  traj verify bug-1234.zip --json  an archive, as JSON\n",
        "\n",
        "Exit codes: 0 no problems · 1 not found or not readable · 2 wrong usage · 3 a secret \
         survived · 4 damaged or not a bundle"
    )
)]
pub(crate) struct Arguments {
    /// The bundle: a directory, a zip file or a tar.zst file
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<VerifyReport>("verify");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let report = check(arguments, host, output)?;
    // A secret is said first: who has it may be harmed by it.
    let fault = if report.findings.is_empty() {
        (!report.problems.is_empty()).then_some(ErrorKind::Damaged)
    } else {
        Some(ErrorKind::Findings)
    };
    output.verdict(&report, fault, describe)
}

/// Checks the bundle; its bar is gone before anything is printed.
fn check(
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
) -> Result<VerifyReport, CommandError> {
    let bundle = WatchedBundle::new(open(&arguments.bundle, host)?, output);
    verify(&bundle, &rules()?, Host::workers()).map_err(explain)
}

/// The rules alone: the paths and names of this host say nothing about a
/// bundle from another one.
pub(super) fn rules() -> Result<Redactor, CommandError> {
    Ok(Redactor::new(RedactionPolicy::standard(Host::passing_key()?)))
}

/// Opens a bundle that the user named.
pub(super) fn open(path: &std::path::Path, host: &Host) -> Result<FsBundleSource, CommandError> {
    let (parent, name) = host.parent_and_name(path)?;
    // As the user named it: the name alone would not say where.
    let missing = || BundleSourceError::NotFound { name: path.to_string_lossy().into_owned() };
    let folder = host.folder_if_any(&parent)?.ok_or_else(|| explain(missing()))?;
    FsBundleSource::open(&folder, &name).map_err(|error| match error {
        BundleSourceError::NotFound { .. } => explain(missing()),
        error => explain(error),
    })
}

/// What a bundle that cannot be read means for the user.
pub(crate) fn explain(error: BundleSourceError) -> CommandError {
    let kind = match &error {
        BundleSourceError::NotFound { .. } | BundleSourceError::Storage { .. } => {
            ErrorKind::Failure
        }
        _ => ErrorKind::Damaged,
    };
    let hint = match &error {
        BundleSourceError::NotFound { .. } => {
            Some("check the path; bundles lie in .openclaw/trajectory-exports of a workspace")
        }
        BundleSourceError::NotABundle { .. } => {
            Some("a bundle is a directory, a zip file or a tar.zst file; links are not followed")
        }
        BundleSourceError::NoManifest { .. } => {
            Some("name the directory that `traj export` wrote; it contains manifest.json")
        }
        BundleSourceError::UnsafeFile { .. } => {
            Some("a bundle holds its files and `blobs` only; links are not followed")
        }
        BundleSourceError::UnsafeEntry { .. }
        | BundleSourceError::RepeatedEntry { .. }
        | BundleSourceError::TooManyEntries { .. }
        | BundleSourceError::Bomb => Some("nothing was unpacked; do not trust this archive"),
        BundleSourceError::Damaged { .. } => {
            Some("if another program repacked it, unpack it and name the directory")
        }
        _ => None,
    };
    let explained = CommandError::new(kind, error.to_string()).because_of(&error);
    match hint {
        Some(hint) => explained.hint(hint),
        None => explained,
    }
}

/// How many more places are damaged than are listed.
pub(super) fn describe_omitted(problems: u64) -> Option<String> {
    (problems > 0).then(|| format!("damaged  … {problems} more places"))
}

/// What is damaged, and where.
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
        lines.push(format!("secret   … {} more places", report.findings_omitted));
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
    fn what_is_left_out_is_counted() {
        let mut report = VerifyReport::default();
        assert_eq!(describe(&report), "sound: 0 files, 0 events\n");
        (report.problems_omitted, report.findings_omitted) = (7, 8);
        let text = describe(&report);
        assert!(text.starts_with("damaged  … 7 more places\nsecret   … 8 more places\n"), "{text}");
    }
}
