//! Reading the finished files back: everything parses, and nothing is left
//! that the rules would hide.

use std::num::NonZeroUsize;

use traj_core::port::{BundleWriter, Source, SourceError};
use traj_core::redaction::Redactor;

use crate::error::ExportError;
use crate::output::Written;
use crate::scan;
use crate::split::{Bytes, ReadError, SplitError};

/// Reads every file of a bundle in the making. What is found ends the export.
pub(crate) fn recheck(
    bundle: &dyn BundleWriter,
    files: &[Written],
    redactor: &Redactor,
    workers: NonZeroUsize,
) -> Result<(), ExportError> {
    let mut findings = Vec::new();
    for written in files {
        let file = written.file;
        let source = bundle.read_back(file)?;
        let not_readable = |line| ExportError::NotReadable { file, line };
        if source.len() != written.bytes {
            return Err(not_readable(0));
        }
        let mut bytes = SourceBytes { source: &*source, at: 0 };
        let scanned = scan::scan(file, &mut bytes, redactor, workers, &|_, _| None);
        let scanned = scanned.map_err(|error| match error {
            SplitError::NotJson { line } | SplitError::TooLong { line } => not_readable(line),
            SplitError::Read(source) => {
                SourceError::Storage { name: file.to_string(), source }.into()
            }
        })?;
        if let Some(broken) = scanned.broken.first() {
            return Err(not_readable(broken.line));
        }
        findings.extend(scanned.findings);
    }
    if findings.is_empty() { Ok(()) } else { Err(ExportError::SecretsRemain { findings }) }
}

/// A source from start to end.
pub(crate) struct SourceBytes<'s> {
    source: &'s dyn Source,
    at: u64,
}

impl Bytes for SourceBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let left = usize::try_from(self.source.len() - self.at).unwrap_or(usize::MAX);
        let part = buffer.get_mut(..left.min(buffer.len())).unwrap_or_default();
        self.source.read_exact_at(self.at, part)?;
        self.at += part.len() as u64;
        Ok(part.len())
    }
}
