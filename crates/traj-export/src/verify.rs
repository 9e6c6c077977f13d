//! Checking a bundle: is everything there, unchanged, well-formed, and free of
//! what the rules hide.

mod facts;
mod files;
mod manifest;
mod order;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use traj_core::json::Json;
use traj_core::port::{BundleContent, BundleFile, BundleSource, BundleSourceError};
use traj_core::redaction::Redactor;

use crate::error::Finding;
use crate::ledger::Notes;
use crate::parts::Part;
use crate::scan::{self, Scan};
use crate::schema;
use crate::split::{Bytes, ReadError, SplitError};
use facts::Facts;

/// Manifests are small; a larger one is not ours.
pub(crate) const MAX_MANIFEST_BYTES: usize = 16 * 1024 * 1024;

/// What is said of one that is.
pub(crate) const LARGE_MANIFEST: &str = "is larger than a manifest can be";

/// Something that is not as the manifest or the schema says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The file concerned.
    pub file: String,
    /// The line concerned, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong.
    pub problem: String,
}

/// What a check found.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct VerifyReport {
    /// The session, as the manifest says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How many files there are.
    pub files: usize,
    /// How many events there are.
    pub events: u64,
    /// The digest of the whole, as the manifest says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What is damaged.
    pub problems: Vec<Problem>,
    /// What should have been hidden.
    pub findings: Vec<Finding>,
}

impl VerifyReport {
    /// Whether everything is as it should be.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.findings.is_empty()
    }

    fn add(&mut self, file: impl Into<String>, line: Option<u64>, problem: impl Into<String>) {
        self.problems.push(Problem { file: file.into(), line, problem: problem.into() });
    }
}

/// How many texts are remembered between the files of a bundle.
const REMEMBERED: usize = 1 << 18;

/// Checks a bundle in place.
///
/// # Errors
/// When it cannot be read at all, or is an archive that is not safe to read.
pub fn verify(
    bundle: &dyn BundleSource,
    redactor: &Redactor,
    workers: NonZeroUsize,
) -> Result<VerifyReport, BundleSourceError> {
    let mut report = VerifyReport::default();
    let mut found = BTreeMap::new();
    let mut manifest = None;
    let facts = Facts::default();
    // Every message stands in a bundle twice, as an event and in the branch.
    let redactor = redactor.remembering(REMEMBERED);
    bundle.visit(&mut |path, content| {
        let Some(file) = BundleFile::parse(path) else {
            report.add(path, None, "is no file of a bundle");
            return Ok(());
        };
        let mut bytes = Digesting::new(content, file == BundleFile::Manifest);
        let check = |value: &Json<'_>, part: &Part<'_>| facts.take(file, value, part);
        let scan = Scan { check: &check, ..Scan::new(&redactor, workers) };
        let scanned = scan::scan(file, &mut bytes, scan, Notes::none());
        match scanned {
            Ok(scanned) => {
                let broken = scanned.broken.into_iter();
                for broken in broken {
                    report.add(path, Some(broken.line), broken.problem);
                }
                report.findings.extend(scanned.findings);
            }
            Err(SplitError::NotJson { line }) => report.add(path, Some(line), "is not JSON"),
            Err(SplitError::TooLong { line }) => {
                report.add(path, Some(line), "is too long to check");
            }
            Err(SplitError::Read(error)) => match error.downcast::<BundleSourceError>() {
                Ok(error) => return Err(*error),
                Err(source) => return Err(BundleSourceError::Damaged { source }),
            },
        }
        let seen = bytes.finish()?;
        if file == BundleFile::Manifest && seen.bytes > MAX_MANIFEST_BYTES as u64 {
            report.add(path, None, LARGE_MANIFEST);
        }
        if let Some(content) = &seen.kept {
            manifest = Some(content.clone());
        }
        found.insert(file, seen);
        Ok(())
    })?;
    check_schemas(bundle, &mut report)?;
    report.files = found.len();
    let said = facts.finish();
    report.events = said.lines;
    files::check(&said, found.contains_key(&BundleFile::SessionBranch), &mut report);
    manifest::check(manifest.as_deref(), &found, &said, &mut report);
    Ok(report)
}

/// Reads the JSON files once more, as what they are supposed to be.
fn check_schemas(
    bundle: &dyn BundleSource,
    report: &mut VerifyReport,
) -> Result<(), BundleSourceError> {
    bundle.visit(&mut |path, content| {
        let Some(file) = BundleFile::parse(path) else { return Ok(()) };
        let is_named = !matches!(file, BundleFile::Events | BundleFile::Blob(_));
        let was_broken = report.problems.iter().any(|problem| problem.file == path);
        if is_named && !was_broken && !schema::fits(file, Reading(content)) {
            report.add(path, None, "does not fit its schema");
        }
        Ok(())
    })
}

/// A file that went by.
struct Seen {
    bytes: u64,
    digest: [u8; 32],
    kept: Option<Vec<u8>>,
}

/// Content that is digested as it is read.
struct Digesting<'c> {
    content: &'c mut dyn BundleContent,
    digest: Sha256,
    bytes: u64,
    kept: Option<Vec<u8>>,
}

impl<'c> Digesting<'c> {
    fn new(content: &'c mut dyn BundleContent, is_kept: bool) -> Self {
        Self { content, digest: Sha256::new(), bytes: 0, kept: is_kept.then(Vec::new) }
    }

    fn take(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let read = self.content.read(buffer)?;
        let part = buffer.get(..read).unwrap_or_default();
        self.digest.update(part);
        self.bytes += read as u64;
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < MAX_MANIFEST_BYTES) {
            kept.extend_from_slice(part);
        }
        Ok(read)
    }

    /// Reads what is left; a scan may stop early.
    fn finish(mut self) -> Result<Seen, BundleSourceError> {
        let mut buffer = vec![0; 64 * 1024];
        while self.take(&mut buffer)? > 0 {}
        Ok(Seen { bytes: self.bytes, digest: self.digest.finalize().into(), kept: self.kept })
    }
}

impl Bytes for Digesting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        self.take(buffer).map_err(Into::into)
    }
}

/// Content for readers of the standard library.
pub(crate) struct Reading<'c>(pub(crate) &'c mut dyn BundleContent);

impl std::io::Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(std::io::Error::other)
    }
}
