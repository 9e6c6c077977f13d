//! Parsing and scanning what a bundle holds, file by file.

use std::num::NonZeroUsize;

use traj_core::json::{Json, Object};
use traj_core::port::BundleFile;
use traj_core::redaction::{RedactionReport, Redactor, TextHasher};

use crate::bundle::SOURCE_FILES;
use crate::error::Finding;
use crate::ledger::{self, Notes};
use crate::parts::{Elements, Group, Lines, Part, Parts};
use crate::pipeline;
use crate::shelf::Shelf;
use crate::split::{Bytes, SplitError};
use crate::text_blocks::{BlockError, NoSeam, TextBlocks};

/// What was found in a file.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) findings: Vec<Finding>,
    /// Lines that are not what they should be.
    pub(crate) broken: Vec<Broken>,
}

/// A place that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) line: u64,
    pub(crate) problem: &'static str,
}

impl Scanned {
    fn extend(&mut self, other: Self) {
        // The first ones tell enough; a hostile file could fill memory.
        const ENOUGH: usize = 1_000;
        if self.findings.len() < ENOUGH {
            self.findings.extend(other.findings);
        }
        if self.broken.len() < ENOUGH {
            self.broken.extend(other.broken);
        }
    }
}

/// Looks at each part of a file; says what is wrong with it, if anything.
pub(crate) type Check<'c> = &'c (dyn Fn(&Json<'_>, &Part<'_>) -> Option<&'static str> + Sync);

/// What a file is scanned with.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'s> {
    pub(crate) redactor: &'s Redactor,
    pub(crate) workers: NonZeroUsize,
    pub(crate) check: Check<'s>,
}

impl<'s> Scan<'s> {
    /// A scan of everything, in which only the rules have a say.
    pub(crate) fn new(redactor: &'s Redactor, workers: NonZeroUsize) -> Self {
        Self { redactor, workers, check: &|_, _| None }
    }
}

/// Scans one file; parts that `notes` say the rules have seen, as they are,
/// are only checked to be JSON.
pub(crate) fn scan(
    file: BundleFile,
    bytes: &mut dyn Bytes,
    scan: Scan<'_>,
    mut notes: Notes<'_>,
) -> Result<Scanned, SplitError> {
    let mut scanned = Scanned::default();
    let mut parts: Box<dyn Parts + '_> = match file {
        BundleFile::Events => Box::new(Lines::new(bytes)),
        BundleFile::SystemPrompt | BundleFile::Blob(_) => {
            scan_text(file, bytes, scan.redactor, &mut scanned)?;
            return Ok(scanned);
        }
        _ => Box::new(Elements::new(bytes)),
    };
    let context = Context { name: file.to_string(), scan, hasher: notes.hasher };
    let groups = Shelf::<Group>::default();
    pipeline::ordered(
        scan.workers,
        || parts.fill(groups.take(), &mut notes),
        |group| {
            let scanned = context.scan_group(&group);
            groups.put(group);
            scanned
        },
        |part| {
            scanned.extend(part);
            Ok(())
        },
    )?;
    Ok(scanned)
}

/// What the parts of a file are scanned with.
struct Context<'s> {
    name: String,
    scan: Scan<'s>,
    /// What the notes know parts by.
    hasher: Option<&'s TextHasher>,
}

impl Context<'_> {
    fn scan_group(&self, group: &Group) -> Scanned {
        let mut scanned = Scanned::default();
        for part in group.parts() {
            let broken = |problem| Broken { line: part.line, problem };
            let Ok(text) = std::str::from_utf8(part.bytes) else {
                scanned.broken.push(broken("not UTF-8"));
                continue;
            };
            let value = match self.hasher {
                Some(hasher) => ledger::parse_unseen(text, part.note, hasher),
                None => Json::parse(text).map(Some),
            };
            let value = match value {
                Ok(Some(value)) => value,
                Ok(None) => continue,
                Err(_) => {
                    scanned.broken.push(broken("not JSON"));
                    continue;
                }
            };
            scanned.broken.extend((self.scan.check)(&value, &part).map(broken));
            let mut report = RedactionReport::listing();
            self.scan.redactor.recheck_json(document(value, &part), &mut report);
            add_findings(&self.name, part.line, &report, &mut scanned);
        }
        scanned
    }
}

/// What the rules look at: a part under its name.
fn document<'a>(value: Json<'a>, part: &Part<'a>) -> Json<'a> {
    match (part.name, part.is_item) {
        (None, false) => value,
        (Some(name), _) if name == SOURCE_FILES => paths_of(value),
        (None, true) => Json::Array(vec![value]),
        (Some(name), is_item) => {
            let value = if is_item { Json::Array(vec![value]) } else { value };
            let mut object = Object::with_capacity(1);
            object.push(name, value);
            Json::Object(object)
        }
    }
}

/// The paths of the inputs without their names: what stands under `session`
/// there is a path and no session's cookie. Each in a list of its own, so that
/// none is taken for the name of the next.
fn paths_of(source_files: Json<'_>) -> Json<'_> {
    match source_files {
        Json::Object(files) => {
            Json::Array(files.into_iter().map(|(_, path)| Json::Array(vec![path])).collect())
        }
        other => other,
    }
}

fn scan_text(
    file: BundleFile,
    bytes: &mut dyn Bytes,
    redactor: &Redactor,
    scanned: &mut Scanned,
) -> Result<(), SplitError> {
    let mut blocks = TextBlocks::new(bytes, NoSeam::Overlap);
    let mut line = 1;
    loop {
        let block = match blocks.next(redactor) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(()),
            Err(BlockError::Read(error)) => return Err(SplitError::Read(error)),
            Err(BlockError::NoSeam) => return Err(SplitError::TooLong { line }),
        };
        let Ok(text) = std::str::from_utf8(&block) else {
            scanned.broken.push(Broken { line, problem: "not UTF-8" });
            return Ok(());
        };
        let mut report = RedactionReport::listing();
        drop(redactor.text(text, &mut report));
        add_findings(&file.to_string(), line, &report, scanned);
        line += memchr::memchr_iter(b'\n', &block).count() as u64;
    }
}

fn add_findings(file: &str, line: u64, report: &RedactionReport, scanned: &mut Scanned) {
    let finding = |rule: &str| Finding::new(rule.to_owned(), file.to_owned(), line);
    scanned.findings.extend(report.findings().iter().map(|found| finding(&found.rule)));
    if report.paths() > 0 {
        scanned.findings.push(finding("host-path"));
    }
    if report.media() > 0 {
        scanned.findings.push(finding("media"));
    }
}
