//! `traj repair`: finds problems in a JSON Lines file and writes a repaired copy.

use std::error::Error;
use std::io::{self, BufReader, BufWriter, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use cap_std::fs::{Dir, File};
use clap::Args;
use serde::Serialize;
use traj_core::care::repair::{Diagnosis, Rebuild, RepairError, RepairSurvey};
use traj_core::dialect::{Head, sniff};
use traj_core::json::lines::Line;
use traj_fs::{FsScratch, open_file, write_private_file};

use super::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::gathered::check_editable;
use crate::resolve::{self, SubjectArguments, Unnamed};

/// How many findings are listed one by one.
const SHOWN: usize = 50;

#[derive(Debug, Args)]
#[command(
    long_about = "Examines a session, a sidecar or a Codex rollout and reports problems by \
                  line: torn lines, zero bytes, invalid UTF-8, repeated and interleaved rows, \
                  missing parents, cycles, and wrong headers and ordinals.\n\n--write writes a \
                  repaired copy next to the file and leaves the original unchanged. The copy \
                  contains every valid row. Files of any size are examined in 64 MiB of memory \
                  plus three times the longest line. With neither --write nor SESSION, examines \
                  the newest session.",
    after_help = concat!(
        "Examples:\n",
        "  traj repair chat.jsonl        a file\n",
        "  traj repair 0197f2c4 --write  by the beginning of an id\n",
        "\n",
        "Exit codes: 0 no problems, or the copy was written · 1 failed · 2 wrong usage · 4 the \
         file is damaged"
    )
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Write a repaired copy next to the file
    #[arg(long)]
    write: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct RepairReport {
    /// The file.
    file: String,
    /// What it is.
    kind: &'static str,
    /// The number of its lines.
    lines: u64,
    /// Rows that can be read.
    rows: u64,
    /// The problems, by line.
    findings: Vec<FindingReport>,
    /// The number of findings that are not listed.
    more_findings: u64,
    /// How often each problem occurs.
    counts: Vec<Count>,
    /// The repaired copy, if one was written.
    copy: Option<String>,
    /// Its rows.
    copy_rows: Option<u64>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct FindingReport {
    /// The line.
    line: u64,
    /// What is wrong, as a code.
    code: &'static str,
    /// The same for people.
    meaning: &'static str,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Count {
    /// What is wrong.
    code: &'static str,
    /// How often.
    count: u64,
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<RepairReport>("repair");

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let unnamed = if arguments.write { Unnamed::Refused } else { Unnamed::Newest };
    let path = resolve::file(&arguments.subject, unnamed, host, output)?;
    let (folder, name) = host.folder_of(&path)?;
    check_editable("repair", &folder, &path, &name, host)?;
    let file = open_file(&folder, &name).map_err(|error| unreadable(&path, error))?;
    let stem = name.strip_suffix(".jsonl").unwrap_or(&name);
    let unnoted = |error: RepairError| {
        CommandError::failure(format!("cannot examine {}", path.display()))
            .because(error)
            .hint("a file with many rows needs free space next to it, or in TMPDIR")
    };
    let mut survey = RepairSurvey::new(Box::new(notes(&folder, host)?));
    let mut noted = Ok(());
    let mut is_known = false;
    let longest = host.reading().scanned_line_bytes;
    let read = each_line(&file, longest, &mut |line| {
        is_known = is_known || sniff(Head::of(without_zeros(line))).is_some();
        noted = survey.line(line);
        if noted.is_ok() { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    });
    noted.map_err(unnoted)?;
    read.map_err(|error| unreadable(&path, error))?;
    let diagnosis = survey.finish(stem).map_err(unnoted)?;
    if !is_known && (diagnosis.rows() > 0 || !diagnosis.is_sound()) {
        let message = format!("{} has an unknown format", path.display());
        return Err(CommandError::new(ErrorKind::Damaged, message)
            .hint("name a session, a trajectory sidecar or a Codex rollout"));
    }
    let mut copy = None;
    let mut copy_rows = None;
    if arguments.write && !diagnosis.is_sound() {
        let copy_name = free_name(&folder, stem)?;
        let rows = write_copy(&folder, &copy_name, (&file, longest), &diagnosis)
            .map_err(|error| uncopied(&path.with_file_name(&copy_name), error))?;
        copy = Some(path.with_file_name(&copy_name).to_string_lossy().into_owned());
        copy_rows = Some(rows);
    }
    let report = report(&path.to_string_lossy(), &diagnosis, copy, copy_rows);
    let is_fine = diagnosis.is_sound() || report.copy.is_some();
    output.verdict(&report, (!is_fine).then_some(ErrorKind::Damaged), human)
}

/// A line without the leading zero bytes that a crash left.
fn without_zeros(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| *byte != 0).unwrap_or(line.len());
    line.get(start..).unwrap_or_default()
}

fn unreadable(path: &Path, error: impl Into<Box<dyn Error + Send + Sync>>) -> CommandError {
    CommandError::failure(format!("cannot read {}", path.display())).because(error)
}

fn uncopied(path: &Path, error: traj_fs::FsError) -> CommandError {
    CommandError::failure(format!("cannot write the copy {}", path.display())).because(error)
}

fn report(
    file: &str,
    diagnosis: &Diagnosis,
    copy: Option<String>,
    copy_rows: Option<u64>,
) -> RepairReport {
    let findings = diagnosis.findings();
    let shown = findings.iter().take(SHOWN).map(|finding| FindingReport {
        line: finding.line,
        code: finding.problem.code(),
        meaning: finding.problem.meaning(),
    });
    let total: u64 = diagnosis.counts().values().sum();
    let counts = diagnosis
        .counts()
        .iter()
        .map(|(problem, count)| Count { code: problem.code(), count: *count });
    RepairReport {
        file: file.to_owned(),
        kind: diagnosis.kind().name(),
        lines: diagnosis.lines(),
        rows: diagnosis.rows(),
        findings: shown.collect(),
        more_findings: total.saturating_sub(findings.len().min(SHOWN) as u64),
        counts: counts.collect(),
        copy,
        copy_rows,
    }
}

fn human(report: &RepairReport) -> String {
    let mut lines =
        vec![format!("{}: {} lines, {} rows\n", report.kind, report.lines, report.rows)];
    for finding in &report.findings {
        lines.push(format!("line {} {}\n", finding.line, finding.meaning));
    }
    if report.more_findings > 0 {
        lines.push(format!("and {} more\n", report.more_findings));
    }
    match &report.copy {
        _ if report.counts.is_empty() => lines.push("no problems found\n".to_owned()),
        Some(copy) => lines.push(format!("repaired copy: {copy}\n")),
        None => lines.push("run again with --write to write a repaired copy\n".to_owned()),
    }
    lines.concat()
}

/// The scratch space for notes about many rows: next to the file, or in the
/// directory for temporary files.
fn notes(folder: &Dir, host: &Host) -> Result<FsScratch, CommandError> {
    let beside = folder
        .try_clone()
        .map_err(|error| CommandError::failure("cannot open the directory").because(error))?;
    let places = [Some(beside), host.temporary_place()].into_iter().flatten().collect();
    Ok(FsScratch::new(places))
}

/// Visits every line. A line longer than `longest` bytes is an error: a copy
/// without it would be incomplete.
fn each_line(
    mut file: &File,
    longest: usize,
    visit: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    file.rewind()?;
    let mut number = 0_u64;
    traj_fs::for_each_line(BufReader::with_capacity(256 * 1024, file), longest, |line| {
        number += 1;
        match line {
            Line::Whole(line) | Line::Cut(line) => visit(line).map(ControlFlow::Continue),
            Line::TooLong { bytes, .. } => {
                let reason = format!("line {number} has {bytes} bytes; at most {longest} are read");
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
        }
    })
}

fn write_copy(
    folder: &Dir,
    name: &str,
    (source, longest): (&File, usize),
    diagnosis: &Diagnosis,
) -> Result<u64, traj_fs::FsError> {
    let mut rows = 0;
    write_private_file(folder, name, |copy| {
        let mut copy = BufWriter::new(copy);
        let mut rebuild = Rebuild::new(diagnosis);
        let mut write = |row: &[u8]| {
            rows += 1;
            copy.write_all(row)?;
            copy.write_all(b"\n")
        };
        if let Some(first) = rebuild.first_line() {
            write(first.as_bytes())?;
        }
        each_line(source, longest, &mut |line| rebuild.line(line, &mut write))?;
        copy.flush()
    })?;
    Ok(rows)
}

/// An unused name for the copy.
fn free_name(folder: &Dir, stem: &str) -> Result<String, CommandError> {
    let names = (1_u32..1_000).map(|number| match number {
        1 => format!("{stem}.repaired.jsonl"),
        number => format!("{stem}.repaired-{number}.jsonl"),
    });
    for name in names {
        if folder
            .symlink_metadata(&name)
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        {
            return Ok(name);
        }
    }
    Err(CommandError::failure("there are too many repaired copies already")
        .hint(format!("remove some of {stem}.repaired-*.jsonl")))
}
