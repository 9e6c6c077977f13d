//! Parses the files of a bundle and scans them for secrets.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use traj_core::json::{Json, Object};
use traj_core::port::BundleFile;
use traj_core::redaction::{RedactionReport, Redactor, TextHasher};

use crate::bundle::{SOURCE_FILES, SOURCE_ROLES};
use crate::error::RemainingSecret;
use crate::json_stream::long_rows;
use crate::json_stream::splitter::{ByteStream, SplitError};
use crate::json_stream::text_blocks::{BlockError, NoSeam, TextBlocks};
use crate::parallel::ordered;
use crate::parallel::reusable::Reusable as _;
use crate::read_back::approved_parts::{self, FileNotes};
use crate::read_back::groups::{ElementParts, FilePart, LineParts, PartGroup, PartReader};

/// The first findings in a file, and the number of further ones.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    pub(crate) findings: Vec<RemainingSecret>,
    pub(crate) findings_omitted: u64,
    /// Lines that are not valid.
    pub(crate) broken: Vec<BrokenPart>,
    pub(crate) broken_omitted: u64,
}

/// A line that is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenPart {
    pub(crate) line: u64,
    pub(crate) problem: &'static str,
}

impl ScanResult {
    fn extend(&mut self, other: Self) {
        add_first(&mut self.findings, &mut self.findings_omitted, other.findings);
        add_first(&mut self.broken, &mut self.broken_omitted, other.broken);
        self.findings_omitted += other.findings_omitted;
        self.broken_omitted += other.broken_omitted;
    }

    fn add_broken(&mut self, line: u64, problem: &'static str) {
        add_first(&mut self.broken, &mut self.broken_omitted, [BrokenPart { line, problem }]);
    }
}

/// Adds items to a list up to its maximum length, and counts the rest: a
/// hostile file must not fill memory.
pub(crate) fn add_first<T>(
    kept: &mut Vec<T>,
    omitted: &mut u64,
    more: impl IntoIterator<Item = T>,
) {
    const ENOUGH: usize = 1_000;
    for item in more {
        if kept.len() < ENOUGH {
            kept.push(item);
        } else {
            *omitted += 1;
        }
    }
}

/// Checks each part of a file; returns its defect, if it has one.
pub(crate) type PartCheck<'c> =
    &'c (dyn Fn(&Json<'_>, &FilePart<'_>) -> Option<&'static str> + Sync);

/// The settings of a scan.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'s> {
    pub(crate) redactor: &'s Redactor,
    pub(crate) workers: NonZeroUsize,
    pub(crate) check: PartCheck<'s>,
}

impl<'s> Scan<'s> {
    /// A scan of everything by the rules alone.
    pub(crate) fn new(redactor: &'s Redactor, workers: NonZeroUsize) -> Self {
        Self { redactor, workers, check: &|_, _| None }
    }
}

/// Scans one file. Parts that `notes` list as approved are only checked to be
/// JSON.
pub(crate) fn scan(
    file: BundleFile,
    bytes: &mut dyn ByteStream,
    scan: Scan<'_>,
    mut notes: FileNotes<'_>,
) -> Result<ScanResult, SplitError> {
    let mut scanned = ScanResult::default();
    let mut parts: Box<dyn PartReader + '_> = match file {
        BundleFile::Events => Box::new(LineParts::new(bytes)),
        BundleFile::SystemPrompt | BundleFile::Blob(_) => {
            return scan_text(&file.to_string(), bytes, scan.redactor);
        }
        _ => Box::new(ElementParts::new(bytes)),
    };
    let context = ScanContext { file, name: file.to_string(), scan, hasher: notes.hasher };
    ordered::in_turn(
        scan.workers,
        |(group, _): &mut (PartGroup, ScanResult)| parts.fill(group, &mut notes),
        |(group, found)| {
            *found = context.scan_group(group);
            group.make_ready();
        },
        |(_, found)| {
            scanned.extend(std::mem::take(found));
            Ok(())
        },
    )?;
    Ok(scanned)
}

const NOT_JSON: &str = "not JSON";
const NOT_UTF8: &str = "not UTF-8";
const TOO_MANY_VALUES: &str = "has more values than a bundle holds";

/// The values that all workers share during a scan.
struct ScanContext<'s> {
    file: BundleFile,
    name: String,
    scan: Scan<'s>,
    /// Identifies approved parts.
    hasher: Option<&'s TextHasher>,
}

impl ScanContext<'_> {
    fn scan_group(&self, group: &PartGroup) -> ScanResult {
        let mut scanned = ScanResult::default();
        for part in group.parts() {
            if part.bytes.is_empty() {
                scanned.add_broken(part.line, NOT_JSON);
                continue;
            }
            // Broken parts are scanned too: other tools can read them.
            let text = text_of(part.bytes);
            if matches!(text, Cow::Owned(_)) {
                scanned.add_broken(part.line, NOT_UTF8);
            }
            if long_rows::is_bomb(part.bytes) {
                scanned.add_broken(part.line, TOO_MANY_VALUES);
                self.scan_unparsed(&text, part.line, &mut scanned);
                continue;
            }
            let value = match self.hasher {
                Some(hasher) => approved_parts::parse_unseen(&text, part.note, hasher),
                None => Json::parse(&text).map(Some),
            };
            let mut report = RedactionReport::listing();
            match value {
                Ok(Some(value)) => {
                    if let Some(problem) = (self.scan.check)(&value, &part) {
                        scanned.add_broken(part.line, problem);
                    }
                    let document = document(self.file, value, &part);
                    self.scan.redactor.recheck_json(document, &mut report);
                }
                Ok(None) => continue,
                Err(_) => {
                    scanned.add_broken(part.line, NOT_JSON);
                    self.scan_unparsed(&text, part.line, &mut scanned);
                }
            }
            add_findings(&self.name, part.line, &report, &mut scanned);
        }
        scanned
    }

    /// Scans a part as text: it is not JSON, or holds too many values.
    fn scan_unparsed(&self, text: &str, line: u64, scanned: &mut ScanResult) {
        let mut report = RedactionReport::listing();
        drop(self.scan.redactor.text(text, &mut report));
        add_findings(&self.name, line, &report, scanned);
    }
}

/// Bytes as text, with U+FFFD for invalid UTF-8. The strict check comes first,
/// because it is faster on valid text.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The value that the rules scan: a part under its name.
fn document<'a>(file: BundleFile, value: Json<'a>, part: &FilePart<'a>) -> Json<'a> {
    match (part.name, part.is_item) {
        (None, false) => value,
        (Some(SOURCE_FILES), false) if file == BundleFile::Manifest => source_files(value),
        (None, true) => Json::Array(vec![value]),
        (Some(name), is_item) => {
            let value = if is_item { Json::Array(vec![value]) } else { value };
            named(name, value)
        }
    }
}

fn named<'a>(name: impl Into<Cow<'a, str>>, value: Json<'a>) -> Json<'a> {
    let mut object = Object::with_capacity(1);
    object.push(name, value);
    Json::Object(object)
}

/// The paths of the inputs without their member names: the value of `session`
/// is a path, not a session cookie. Each path is in its own list, so that the
/// rules do not take it for the name of the next value. Members that a manifest
/// does not have keep their names.
fn source_files(value: Json<'_>) -> Json<'_> {
    let Json::Object(files) = value else { return named(SOURCE_FILES, value) };
    let files = files.into_iter().map(|(name, path)| match path {
        Json::String(_) if SOURCE_ROLES.iter().any(|role| role.as_str() == &*name) => {
            Json::Array(vec![path])
        }
        other => named(name, other),
    });
    Json::Array(files.collect())
}

/// Scans a file as plain text, whatever its format.
pub(crate) fn scan_text(
    file: &str,
    bytes: &mut dyn ByteStream,
    redactor: &Redactor,
) -> Result<ScanResult, SplitError> {
    let mut scanned = ScanResult::default();
    let mut blocks = TextBlocks::new(bytes, NoSeam::Overlap);
    let mut line = 1;
    loop {
        let block = match blocks.next(redactor) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(scanned),
            Err(BlockError::Read(error)) => return Err(SplitError::Read(error)),
            Err(BlockError::NoSeam) => return Err(SplitError::TooLong { line }),
        };
        let text = text_of(&block);
        if matches!(text, Cow::Owned(_)) {
            scanned.add_broken(line, NOT_UTF8);
        }
        let mut report = RedactionReport::listing();
        drop(redactor.text(&text, &mut report));
        let rules = find_lines(file, &text, line, redactor, &report);
        let others = others(&report)
            .map(|rule| RemainingSecret::new(rule.to_owned(), file.to_owned(), line));
        let findings = rules.into_iter().chain(others);
        add_first(&mut scanned.findings, &mut scanned.findings_omitted, findings);
        line += memchr::memchr_iter(b'\n', &block).count() as u64;
    }
}

/// The findings of the rules in a text, each with its line. A finding that
/// spans several lines gets the first line of the text.
fn find_lines(
    file: &str,
    text: &str,
    first: u64,
    redactor: &Redactor,
    report: &RedactionReport,
) -> Vec<RemainingSecret> {
    let mut left: BTreeMap<&str, u64> = BTreeMap::new();
    for found in report.findings() {
        *left.entry(found.rule.as_str()).or_default() += 1;
    }
    let mut findings = Vec::new();
    for (line, text) in (first..).zip(text.lines()) {
        if left.is_empty() {
            break;
        }
        let mut report = RedactionReport::listing();
        drop(redactor.text(text, &mut report));
        for found in report.findings() {
            let Some(count) = left.get_mut(found.rule.as_str()) else { continue };
            *count -= 1;
            if *count == 0 {
                left.remove(found.rule.as_str());
            }
            findings.push(RemainingSecret::new(found.rule.clone(), file.to_owned(), line));
        }
    }
    let several = left.into_iter().flat_map(|(rule, count)| (0..count).map(move |_| rule));
    let several = several.map(|rule| RemainingSecret::new(rule.to_owned(), file.to_owned(), first));
    findings.splice(0..0, several);
    findings
}

/// The findings that are host paths or media, not secrets.
fn others<'r>(report: &RedactionReport) -> impl Iterator<Item = &'r str> + use<'r> {
    let paths = (report.paths() > 0).then_some("host-path");
    paths.into_iter().chain((report.media() > 0).then_some("media"))
}

fn add_findings(file: &str, line: u64, report: &RedactionReport, scanned: &mut ScanResult) {
    let rules = report.findings().iter().map(|found| found.rule.as_str());
    let findings = rules
        .chain(others(report))
        .map(|rule| RemainingSecret::new(rule.to_owned(), file.to_owned(), line));
    add_first(&mut scanned.findings, &mut scanned.findings_omitted, findings);
}
