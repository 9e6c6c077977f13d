//! `traj lake verify`: checks a dataset.

use serde::Serialize;
use traj_export::Progress as _;
use traj_lake::{DatasetReport, verify_dataset};

use super::explain;
use crate::command::Outcome;
use crate::command::query::dataset_root;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::interruption::{Interruption, Waits};
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::progress::WorkBar;
use crate::quantity::{counted, shown_size};
use crate::resolve::bundle::rules;
use crate::terminal_text::escape_control;

/// How many problems and findings are shown.
const SHOWN: usize = 20;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Checks that every file of a dataset has the right name and the rows that it states, \
                  that no event of a session is missing or duplicated, and that the current rules \
                  find no secret, old revisions included. Reads every file and changes nothing.",
    after_help = concat!(
        "Examples:\n",
        "  traj lake verify --at file:///srv/lake\n",
        "  traj lake verify --at s3://bucket/runs --json\n",
        "\n",
        "Exit codes: 0 complete, unchanged and free of secrets · 1 it cannot be read, or has no \
         files · 2 wrong usage · 3 secrets were found · 4 files are damaged or events are \
         missing · 128+N ended by signal N"
    )
)]
pub(super) struct VerifyArguments {
    /// The dataset: file:///DIRECTORY, s3://BUCKET/PREFIX, gs:// or az://
    #[arg(long, value_name = "URL")]
    at: String,
}

/// The content of a dataset, and its problems.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LakeVerified {
    /// The dataset.
    dataset: String,
    /// How many files it has.
    files: u64,
    /// How many bytes they have.
    bytes: u64,
    /// How many sessions.
    sessions: u64,
    /// How many events that count.
    events: u64,
    /// How many files belong to older revisions.
    replaced: u64,
    /// How many files of events have no totals yet: their host was interrupted.
    unfinished: u64,
    /// How many compacted files there are.
    compacted: u64,
    /// How many long texts it has, in files of their own.
    texts: u64,
    /// How many of them no row names.
    unused_texts: u64,
    /// The first problems, at most 1,000.
    problems: Vec<LakeProblem>,
    /// How many further problems there are.
    problems_omitted: u64,
    /// What the current rules would hide: the first findings, at most 1,000.
    findings: Vec<LakeFinding>,
    /// How many further findings there are.
    findings_omitted: u64,
}

/// Something that is wrong with a dataset.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LakeProblem {
    /// The file; null if one is missing.
    file: Option<String>,
    /// The column `trace_id` of the session; null if it is not known.
    trace_id: Option<String>,
    /// What is wrong.
    problem: String,
}

/// Something that the current rules would hide.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LakeFinding {
    /// The file.
    file: String,
    /// The number of the event; null in a row of totals or a long text.
    seq: Option<u64>,
    /// The column.
    column: String,
    /// The rule.
    rule: String,
}

pub(super) const DOCUMENT: JsonDocument = JsonDocument::of::<LakeVerified>("lake-verify");

pub(super) fn run(arguments: &VerifyArguments, host: &Host, output: &CommandOutput) -> Outcome {
    let root = dataset_root("--at", &arguments.at, host)?;
    let dataset = host.dataset(&root)?;
    let redactor = rules()?;
    let interruption = Interruption::watch(host)?;
    let mut waits = Waits::until(interruption.stop_flag());
    let bar = WorkBar::counting("checking", output);
    let checked = verify_dataset(&*dataset, &redactor, &mut waits, &mut |bytes| bar.advance(bytes));
    drop(bar);
    let report = checked.map_err(|error| interruption.explain_stdout(explain(error)))?;
    if report.files == 0 {
        return Err(CommandError::failure("there is no file of a dataset at this URL")
            .hint("check the URL; `traj ship --to URL` writes the first files"));
    }
    let verified = LakeVerified::of(root.to_string(), report);
    let fault = if !verified.findings.is_empty() {
        Some(ErrorKind::Findings)
    } else if !verified.problems.is_empty() {
        Some(ErrorKind::Damaged)
    } else {
        None
    };
    output.verdict(&verified, fault, describe)
}

impl LakeVerified {
    fn of(dataset: String, report: DatasetReport) -> Self {
        let problems = report.problems.into_iter().map(|problem| LakeProblem {
            file: problem.file,
            trace_id: problem.trace_id,
            problem: problem.problem,
        });
        let findings = report.findings.into_iter().map(|finding| LakeFinding {
            file: finding.file,
            seq: finding.seq,
            column: finding.column,
            rule: finding.rule,
        });
        Self {
            dataset,
            files: report.files,
            bytes: report.bytes,
            sessions: report.sessions,
            events: report.events,
            replaced: report.replaced,
            unfinished: report.unfinished,
            compacted: report.compacted,
            texts: report.texts,
            unused_texts: report.unused_texts,
            problems: problems.collect(),
            problems_omitted: report.problems_omitted,
            findings: findings.collect(),
            findings_omitted: report.findings_omitted,
        }
    }
}

fn describe(verified: &LakeVerified) -> String {
    let mut lines = vec![format!(
        "{} and {} in {}, {}",
        counted(verified.sessions, "session"),
        counted(verified.events, "event"),
        counted(verified.files, "file"),
        shown_size(verified.bytes)
    )];
    let mut add = |count: u64, what: &str| {
        if count > 0 {
            lines.push(format!("  {} {what}", counted(count, "file")));
        }
    };
    add(verified.replaced, "of older revisions");
    add(verified.unfinished, "without totals: a host was interrupted");
    add(verified.compacted, "of compactions");
    if verified.texts > 0 {
        lines.push(format!(
            "  and {}, {} of which no row names",
            counted(verified.texts, "long text"),
            verified.unused_texts
        ));
    }
    for problem in verified.problems.iter().take(SHOWN) {
        let session = problem.trace_id.as_ref().map(|trace_id| format!("session {trace_id}"));
        let place = problem.file.clone().or(session).unwrap_or_default();
        lines.push(format!("damaged: {place}: {}", problem.problem));
    }
    for finding in verified.findings.iter().take(SHOWN) {
        let seq = finding.seq.map(|seq| format!(", event {seq}")).unwrap_or_default();
        lines
            .push(format!("secret: {}{seq}: {} in {}", finding.file, finding.rule, finding.column));
    }
    let all = |listed: usize, omitted: u64| listed as u64 + omitted;
    let problems = all(verified.problems.len(), verified.problems_omitted);
    let findings = all(verified.findings.len(), verified.findings_omitted);
    lines.push(if problems + findings == 0 {
        "complete, unchanged and free of secrets".to_owned()
    } else {
        format!("{}, {}", counted(problems, "problem"), counted(findings, "finding"))
    });
    lines.iter().map(|line| format!("{}\n", escape_control(line))).collect()
}
