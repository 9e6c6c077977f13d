//! Checks that a bundle is complete, unchanged, well-formed, and free of
//! secrets that the rules find.
//!
//! - `content`: reads and digests a file;
//! - `facts`: collects the facts that the files state;
//! - `order`: checks the order of the events;
//! - `sample`: compares sets of ids in bounded memory;
//! - `files`: compares the files with each other;
//! - `manifest`: compares the files with the manifest.

mod content;
mod facts;
mod files;
mod manifest;
mod order;
mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::num::NonZeroUsize;

use serde::Serialize;
use traj_core::json::Json;
use traj_core::limits;
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError};
use traj_core::redaction::{RedactionReport, Redactor};

use crate::bundle::schema;
use crate::error::RemainingSecret;
use crate::json_stream::splitter::SplitError;
use crate::read_back::approved_parts::FileNotes;
use crate::read_back::groups::FilePart;
use crate::read_back::scan::{self, Scan, ScanResult};
use content::{CheckedFile, DigestedContent};
use facts::FactCollector;

pub(crate) use content::ContentReader;

/// The largest manifest that is read; traj does not write larger ones.
pub(crate) const MAX_MANIFEST_BYTES: usize = limits::Reading::standard().manifest_bytes;

// A manifest with the most blobs is smaller: each blob takes 258 bytes in it.
const _: () = assert!(BundleFile::MOST_BLOBS * 300 < MAX_MANIFEST_BYTES);

/// The problem that is reported for a larger manifest.
pub(crate) const LARGE_MANIFEST: &str = "is larger than a manifest can be";

/// A defect of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Problem")]
#[non_exhaustive]
pub struct BundleProblem {
    /// The file concerned.
    pub file: String,
    /// The line concerned, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong.
    pub problem: String,
}

/// The result of a check.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct VerifyReport {
    /// The session's id, as the manifest states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The number of files, without unexpected ones.
    pub files: usize,
    /// The number of events.
    pub events: u64,
    /// The digest of the whole bundle, as the manifest states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The first problems.
    pub problems: Vec<BundleProblem>,
    /// The number of further problems.
    pub problems_omitted: u64,
    /// The first secrets that the rules found.
    pub findings: Vec<RemainingSecret>,
    /// The number of further secrets.
    pub findings_omitted: u64,
    /// Files that could not be parsed to their end.
    #[serde(skip)]
    pub(crate) unfinished: BTreeSet<BundleFile>,
}

impl VerifyReport {
    /// Whether all events were scanned for secrets. If not, do not show any of
    /// them.
    #[must_use]
    pub fn has_scanned_events(&self) -> bool {
        !self.unfinished.contains(&BundleFile::Events)
    }

    /// Whether the check found nothing.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.findings.is_empty()
    }

    pub(crate) fn add(
        &mut self,
        file: impl Display,
        line: Option<u64>,
        problem: impl Into<String>,
    ) {
        let problem = BundleProblem { file: file.to_string(), line, problem: problem.into() };
        scan::add_first(&mut self.problems, &mut self.problems_omitted, [problem]);
    }

    fn add_findings(&mut self, scanned: ScanResult) {
        scan::add_first(&mut self.findings, &mut self.findings_omitted, scanned.findings);
        self.findings_omitted += scanned.findings_omitted;
    }
}

/// The size of the cache of texts across the files of a bundle.
const REMEMBERED: usize = 1 << 18;

/// Checks a bundle in place.
///
/// # Errors
/// If the bundle cannot be read, or is an archive that is not safe to read. If
/// a secret was found before that, the report states both, and the check
/// succeeds.
pub fn verify(
    bundle: &dyn BundleSource,
    redactor: &Redactor,
    workers: NonZeroUsize,
) -> Result<VerifyReport, BundleSourceError> {
    // Every message is in the bundle twice, as an event and in the branch.
    let redactor = redactor.remembering(REMEMBERED);
    let mut check = BundleCheck::new(&redactor, workers);
    let visited = bundle.visit(&mut |path, content| match BundleFile::parse(path) {
        Some(file) => check.take(file, content),
        None => check.take_stray(path, content),
    });
    let last = std::mem::take(&mut check.last);
    // If a file cannot be read, the files before it are still checked.
    let visited_again = check.look_again(bundle);
    let (visited, last) = match visited {
        Ok(()) => (visited_again, std::mem::take(&mut check.last)),
        broken => (broken, last),
    };
    match visited {
        Ok(()) => Ok(check.finish()),
        Err(error) if check.report.findings.is_empty() => Err(error),
        Err(error) => {
            // Added first, because the list of problems has a maximum length.
            let problems = std::mem::take(&mut check.report.problems);
            check.report.add(last, None, format!("cannot be read further: {error}"));
            let report = &mut check.report;
            scan::add_first(&mut report.problems, &mut report.problems_omitted, problems);
            Ok(check.close())
        }
    }
}

/// A check in progress.
struct BundleCheck<'r> {
    redactor: &'r Redactor,
    workers: NonZeroUsize,
    report: VerifyReport,
    found: BTreeMap<BundleFile, CheckedFile>,
    facts: FactCollector,
    /// The name of the file that was read last, redacted.
    last: String,
    /// Files with a problem.
    broken: BTreeSet<BundleFile>,
}

impl<'r> BundleCheck<'r> {
    fn new(redactor: &'r Redactor, workers: NonZeroUsize) -> Self {
        let (report, found) = (VerifyReport::default(), BTreeMap::new());
        let (facts, last, broken) = (FactCollector::default(), String::new(), BTreeSet::new());
        Self { redactor, workers, report, found, facts, last, broken }
    }

    /// Digests and scans a file.
    fn take(
        &mut self,
        file: BundleFile,
        content: &mut dyn BundleContent,
    ) -> Result<(), BundleSourceError> {
        self.last = file.to_string();
        let mut bytes = DigestedContent::new(file, content);
        let check = |value: &Json<'_>, part: &FilePart<'_>| self.facts.take(file, value, part);
        let scan = Scan { check: &check, ..Scan::new(self.redactor, self.workers) };
        let scanned = scan::scan(file, &mut bytes, scan, FileNotes::none());
        let (seen, failure) = bytes.finish();
        if let Some(line) = seen.cut_line.filter(|_| scanned.is_ok()) {
            self.add_broken(file, Some(line), "is not JSON");
        }
        match scanned {
            Ok(mut scanned) => {
                let broken = std::mem::take(&mut scanned.broken);
                for broken in broken.into_iter().filter(|one| Some(one.line) != seen.cut_line) {
                    self.add_broken(file, Some(broken.line), broken.problem);
                }
                self.report.problems_omitted += scanned.broken_omitted;
                self.report.add_findings(scanned);
            }
            Err(SplitError::NotJson { line }) => {
                self.add_unfinished(file, line, "is not JSON");
            }
            Err(SplitError::TooLong { line }) => {
                self.add_unfinished(file, line, "is too long to check");
            }
            Err(SplitError::Read(source)) => return Err(BundleSourceError::Damaged { source }),
        }
        if file == BundleFile::Manifest && seen.bytes > MAX_MANIFEST_BYTES as u64 {
            self.add_broken(file, None, LARGE_MANIFEST);
        }
        self.found.insert(file, seen);
        failure.map_or(Ok(()), Err)
    }

    /// Scans an unexpected file and its name, because both are passed on with
    /// the bundle.
    fn take_stray(
        &mut self,
        path: &str,
        content: &mut dyn BundleContent,
    ) -> Result<(), BundleSourceError> {
        let mut report = RedactionReport::listing();
        let name = self.redactor.text(path, &mut report).as_ref().clone().into_owned();
        self.last.clone_from(&name);
        let in_name = report.findings().iter();
        let in_name =
            in_name.map(|found| RemainingSecret::new(found.rule.clone(), name.clone(), 0));
        self.report.add(name.clone(), None, "is an unexpected file");
        let mut scanned = ScanResult::default();
        scan::add_first(&mut scanned.findings, &mut scanned.findings_omitted, in_name);
        self.report.add_findings(scanned);
        let mut bytes = DigestedContent::plain(content);
        if let Ok(scanned) = scan::scan_text(&name, &mut bytes, self.redactor) {
            self.report.add_findings(scanned);
        }
        bytes.finish().1.map_or(Ok(()), Err)
    }

    fn add_broken(&mut self, file: BundleFile, line: Option<u64>, problem: &str) {
        self.broken.insert(file);
        self.report.add(file, line, problem);
    }

    fn add_unfinished(&mut self, file: BundleFile, line: u64, problem: &str) {
        self.report.unfinished.insert(file);
        self.add_broken(file, Some(line), problem);
    }

    /// Reads the files again: valid ones to check their schema, those that
    /// could not be parsed to their end to scan them as text.
    fn look_again(&mut self, bundle: &dyn BundleSource) -> Result<(), BundleSourceError> {
        bundle.visit(&mut |path, content| {
            let Some(file) = BundleFile::parse(path) else { return Ok(()) };
            self.last = file.to_string();
            if self.report.unfinished.contains(&file) {
                let mut bytes = DigestedContent::plain(content);
                if let Ok(scanned) = scan::scan_text(path, &mut bytes, self.redactor) {
                    self.report.add_findings(scanned);
                }
                return Ok(());
            }
            let is_named = !matches!(file, BundleFile::Events | BundleFile::Blob(_));
            if is_named
                && !self.broken.contains(&file)
                && !schema::fits(file, ContentReader(content))
            {
                self.report.add(path, None, "does not match its schema");
            }
            Ok(())
        })
    }

    /// Compares the files with each other and with the manifest.
    fn finish(mut self) -> VerifyReport {
        let said = std::mem::take(&mut self.facts).finish();
        files::check(&said, &self.found, &mut self.report);
        manifest::check(&self.found, &said, &mut self.report);
        self.report.events = said.lines;
        self.report.files = self.found.len();
        self.report
    }

    /// Ends the check early, with the findings so far.
    fn close(mut self) -> VerifyReport {
        self.report.events = self.facts.finish().lines;
        self.report.files = self.found.len();
        self.report
    }
}
