//! Checks that every file of a dataset is unchanged, that no event of a session
//! is missing, and that the current rules find no secret.
//!
//! - `file`: one file;
//! - `texts`: the files of long texts;
//! - `coverage`: whether segments contain every event of a session once.

mod coverage;
mod file;
mod texts;

use std::ops::ControlFlow;

use bytes::Bytes;
use traj_core::port::{DatasetFile, DatasetStore};
use traj_core::redaction::Redactor;
use traj_export::Pace;

use crate::layout::{SegmentKey, Table, TextKey};
use crate::ship::{DatasetError, Reach};
use coverage::Coverage;
use file::CheckedFile;
use texts::Texts;

/// At most this many problems and findings are listed.
const MOST_LISTED: usize = 1_000;

/// The content of a dataset, and its problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetReport {
    /// How many files it has.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many sessions.
    pub sessions: u64,
    /// How many events that count.
    pub events: u64,
    /// How many files belong to older revisions.
    pub replaced: u64,
    /// How many files of events have no totals yet: their host was interrupted.
    pub unfinished: u64,
    /// How many compacted files there are.
    pub compacted: u64,
    /// How many long texts it has.
    pub texts: u64,
    /// How many of them no row names.
    pub unused_texts: u64,
    /// The first problems.
    pub problems: Vec<DatasetProblem>,
    /// How many further problems there are.
    pub problems_omitted: u64,
    /// What the rules would hide: the first findings.
    pub findings: Vec<DatasetFinding>,
    /// How many further findings there are.
    pub findings_omitted: u64,
}

/// Something that is wrong with a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetProblem {
    /// The file; `None` if a file is missing.
    pub file: Option<String>,
    /// The trace id of the session, if it is known.
    pub trace_id: Option<String>,
    /// What is wrong, without a word of any text.
    pub problem: String,
}

/// Something that the rules would hide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetFinding {
    /// The file.
    pub file: String,
    /// The number of the event; `None` in a row of totals or a long text.
    pub seq: Option<u64>,
    /// The column.
    pub column: String,
    /// The rule.
    pub rule: String,
}

impl DatasetReport {
    fn add_problem(&mut self, problem: DatasetProblem) {
        if self.problems.len() < MOST_LISTED {
            self.problems.push(problem);
        } else {
            self.problems_omitted += 1;
        }
    }

    fn add_finding(&mut self, finding: DatasetFinding) {
        if self.findings.len() < MOST_LISTED {
            self.findings.push(finding);
        } else {
            self.findings_omitted += 1;
        }
    }
}

/// Reads all files of a dataset and checks them. `progress` gets the size of
/// each.
///
/// # Errors
/// If the dataset cannot be read.
pub fn verify_dataset(
    dataset: &dyn DatasetStore,
    redactor: &Redactor,
    pace: &mut dyn Pace,
    progress: &mut dyn FnMut(u64),
) -> Result<DatasetReport, DatasetError> {
    let mut reach = Reach::new(dataset);
    let (mut report, mut coverage) = (DatasetReport::default(), Coverage::default());
    let mut texts = Texts::default();
    for table in Table::ALL {
        for file in list(&mut reach, &table.prefix(), pace)? {
            let content = reach.ask(pace, |dataset| dataset.get(&file.key))?;
            // Somebody deleted it meanwhile, as a compaction does.
            let Some(content) = content else { continue };
            progress(content.len() as u64);
            report.files += 1;
            report.bytes += content.len() as u64;
            let key = SegmentKey::parse(file.key.as_str());
            report.compacted += u64::from(key.is_none());
            let name = file.key.as_str();
            match CheckedFile::read(name, table, key.as_ref(), Bytes::from(content), redactor) {
                Ok(checked) => {
                    checked.findings.into_iter().for_each(|finding| report.add_finding(finding));
                    texts.add_named(name, checked.texts);
                    coverage.add(checked.rows);
                }
                Err(damage) => report.add_problem(DatasetProblem {
                    file: Some(name.to_owned()),
                    trace_id: None,
                    problem: damage.what.to_owned(),
                }),
            }
        }
    }
    coverage.finish(&mut report);
    for file in list(&mut reach, &TextKey::prefix(), pace)? {
        let content = reach.ask(pace, |dataset| dataset.get(&file.key))?;
        let Some(content) = content else { continue };
        progress(content.len() as u64);
        report.bytes += content.len() as u64;
        texts.check(file.key.as_str(), &content, redactor, &mut report);
    }
    texts.finish(&mut report);
    Ok(report)
}

/// The files below a place, in order.
fn list(
    reach: &mut Reach<'_>,
    prefix: &str,
    pace: &mut dyn Pace,
) -> Result<Vec<DatasetFile>, DatasetError> {
    let mut files: Vec<DatasetFile> = Vec::new();
    reach.ask(pace, |dataset| {
        files.clear();
        dataset.list(prefix, &mut |file| {
            files.push(file);
            ControlFlow::Continue(())
        })
    })?;
    files.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(files)
}
