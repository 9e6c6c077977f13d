//! Reads the finished files back. Everything must parse, and the rules must
//! find no secret.

use traj_core::port::{BundleWriter, SourceError};

use crate::bundle::output::WrittenFile;
use crate::error::ExportError;
use crate::json_stream::source_bytes::SourceBytes;
use crate::json_stream::splitter::SplitError;
use crate::progress::{Progress, Watched};
use crate::read_back::approved_parts::ApprovedParts;
use crate::read_back::scan::{self, Scan};

/// Reads every file of an uncommitted bundle. A secret fails the export.
pub(crate) fn recheck(
    bundle: &dyn BundleWriter,
    files: &[WrittenFile],
    scan: Scan<'_>,
    approved: &mut ApprovedParts,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    let mut findings = Vec::new();
    for written in files {
        let file = written.file;
        let source = bundle.read_back(file)?;
        let not_readable = |line| ExportError::NotReadable { file, line };
        if source.len() != written.bytes {
            return Err(not_readable(0));
        }
        let source = Watched::new(&*source, progress);
        let mut bytes = SourceBytes::new(&source);
        let scanned = scan::scan(file, &mut bytes, scan, approved.notes(file));
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use traj_core::constant_text;
    use traj_core::port::BundleFile;
    use traj_core::redaction::{
        ConstantText, MarkerKey, RedactedText, RedactionPolicy, Redactor, TextHasher,
    };

    use super::*;
    use crate::bundle::output::FileOutput;
    use crate::index::record_store::tests::spool;
    use crate::progress::Silent;

    fn check(file: BundleFile, content: ConstantText) -> Result<(), ExportError> {
        let mut bundle = spool();
        let mut text = RedactedText::new();
        text.push_constant(content);
        let written = FileOutput::put(&mut *bundle, file, &text.finish())?;
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let scan = Scan::new(&redactor, NonZeroUsize::MIN);
        let mut approved = ApprovedParts::new(TextHasher::default());
        recheck(&*bundle, &[written], scan, &mut approved, &Silent)
    }

    #[test]
    fn a_remaining_secret_fails_the_export_and_is_not_shown() {
        // Split so that secret scanners do not flag this file.
        const LINE: &str =
            concat!("{\"a\":1}\n{\"b\":\"ghp", "_0123456789abcdefghijklmnopqrstuvwxyz\"}\n");
        let error = check(BundleFile::Events, constant_text!(LINE)).unwrap_err();
        let ExportError::SecretsRemain { findings } = &error else { panic!("{error}") };
        assert_eq!((findings[0].file.as_str(), findings[0].line), ("events.jsonl", 2));
        assert!(!format!("{error} {error:?}").contains("0123456789"));
    }

    #[test]
    fn an_unreadable_file_fails_the_export() {
        for (file, content, line) in [
            (BundleFile::Events, constant_text!("{\"a\":1}\n{\"b\"\n"), 2),
            (BundleFile::Events, constant_text!("{\"a\":1}"), 1),
            (BundleFile::Tools, constant_text!("[1,\n2"), 2),
            (BundleFile::SessionBranch, constant_text!("{\"entries\":[{\"a\":}]}"), 1),
        ] {
            let error = check(file, content).unwrap_err();
            assert!(
                matches!(error, ExportError::NotReadable { line: found, .. } if found == line),
                "{content:?} {error}"
            );
        }
    }
}
