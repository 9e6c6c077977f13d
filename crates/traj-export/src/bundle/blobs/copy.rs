//! Copies blobs of any length into the bundle, verified and redacted again.

use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::constant_text;
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter, Source, SourceError};
use traj_core::redaction::{MediaStream, RedactedText, RedactionReport, Redactor};

use super::directory::RecordedBlobs;
use crate::bundle::output::{FileOutput, WrittenFile, hex};
use crate::error::ExportError;
use crate::json_stream::long_rows::CutValue;
use crate::json_stream::source_bytes::DigestedBytes;
use crate::json_stream::splitter::{ByteStream, ReadError};
use crate::json_stream::string::LiteralBytes;
use crate::json_stream::text_blocks::{BlockError, NoSeam, TextBlocks};
use crate::warning::{Code, Warnings};

/// Why a blob is not copied.
pub(super) enum Uncopied {
    Warned(Code),
    Failed(ExportError),
}

impl RecordedBlobs<'_> {
    /// Copies the values that were too long for their rows, and the blobs that
    /// events refer to.
    pub(crate) fn copy<'g>(
        &self,
        mut referenced: BTreeSet<BlobDigest>,
        giants: impl Iterator<Item = (&'g dyn Source, Vec<CutValue>)>,
        bundle: &mut dyn BundleWriter,
        redactor: &Redactor,
        report: &mut RedactionReport,
        warnings: &mut Warnings,
    ) -> Result<Vec<WrittenFile>, ExportError> {
        let mut copies = BlobCopies { written: Vec::new(), warnings };
        let mut seen = BTreeSet::new();
        for (source, giants) in giants {
            for giant in giants {
                referenced.remove(&giant.digest);
                if !seen.contains(&giant.digest) {
                    let file = BundleFile::blob(&giant.digest);
                    copies.add(|| copy_giant(source, &giant, file, bundle, redactor, report))?;
                    seen.insert(giant.digest);
                }
            }
        }
        for digest in referenced {
            let file = BundleFile::blob(&digest);
            copies.add(|| self.copy_blob(&digest, file, bundle, redactor, report))?;
        }
        Ok(copies.written)
    }

    /// Copies a blob into a file of the bundle.
    pub(super) fn copy_blob(
        &self,
        digest: &BlobDigest,
        file: BundleFile,
        bundle: &mut dyn BundleWriter,
        redactor: &Redactor,
        report: &mut RedactionReport,
    ) -> Result<WrittenFile, Uncopied> {
        let missing = || Uncopied::Warned(Code::BlobMissing);
        let opened = self.open(digest).map_err(|error| Uncopied::Failed(error.into()))?;
        let source = opened.ok_or_else(missing)?;
        // Checked first: a file of the bundle cannot be removed again.
        let mut bytes = DigestedBytes::new(&*source);
        let looked = visit_blocks(&mut bytes, redactor, |_| Ok(()));
        let failed = |error| unread(BlockError::Read(error), digest);
        // A blob whose content does not match its name is the wrong one.
        if hex(&bytes.finish().map_err(failed)?) != digest.as_str() {
            return Err(missing());
        }
        looked.map_err(|error| unread(error, digest))?;
        let mut bytes = DigestedBytes::new(&*source);
        let written = copy_text(digest, file, &mut bytes, bundle, redactor, report)?;
        if hex(&bytes.finish().map_err(failed)?) != digest.as_str() {
            return Err(changed(digest));
        }
        Ok(written)
    }
}

/// The files copied so far.
struct BlobCopies<'w> {
    written: Vec<WrittenFile>,
    warnings: &'w mut Warnings,
}

impl BlobCopies<'_> {
    fn add(
        &mut self,
        copy: impl FnOnce() -> Result<WrittenFile, Uncopied>,
    ) -> Result<(), ExportError> {
        if self.written.len() == BundleFile::MOST_BLOBS {
            self.warnings.add(Code::TooManyBlobs, 0);
            return Ok(());
        }
        match copy() {
            Ok(file) => self.written.push(file),
            Err(Uncopied::Warned(code)) => self.warnings.add(code, 0),
            Err(Uncopied::Failed(error)) => return Err(error),
        }
        Ok(())
    }
}

/// Copies a value that was too large for its row into a file of the bundle.
pub(super) fn copy_giant(
    source: &dyn Source,
    giant: &CutValue,
    file: BundleFile,
    bundle: &mut dyn BundleWriter,
    redactor: &Redactor,
    report: &mut RedactionReport,
) -> Result<WrittenFile, Uncopied> {
    if !giant.is_text {
        return super::lines::copy_lines(source, giant, bundle, redactor, report);
    }
    let text = || LiteralBytes::new(source, giant.place);
    visit_blocks(&mut text(), redactor, |_| Ok(()))
        .map_err(|error| unread(error, &giant.digest))?;
    copy_text(&giant.digest, file, &mut text(), bundle, redactor, report)
}

/// Why a text that exists cannot be copied.
fn unread(error: BlockError, digest: &BlobDigest) -> Uncopied {
    match error {
        BlockError::NoSeam => Uncopied::Warned(Code::BlobTooLarge),
        BlockError::Read(error) => unreadable(error, digest),
    }
}

/// The error for an unreadable source.
pub(super) fn unreadable(error: ReadError, digest: &BlobDigest) -> Uncopied {
    match error.downcast::<SourceError>() {
        Ok(error) => Uncopied::Failed((*error).into()),
        Err(_) => changed(digest),
    }
}

pub(super) fn changed(digest: &BlobDigest) -> Uncopied {
    Uncopied::Failed(SourceError::Changed { name: digest.to_string() }.into())
}

/// Writes a text of any length, redacted block by block.
fn copy_text(
    digest: &BlobDigest,
    file: BundleFile,
    bytes: &mut dyn ByteStream,
    bundle: &mut dyn BundleWriter,
    redactor: &Redactor,
    report: &mut RedactionReport,
) -> Result<WrittenFile, Uncopied> {
    let failed = |error: BundleSinkError| Uncopied::Failed(error.into());
    let mut output = FileOutput::create(bundle, file).map_err(failed)?;
    let mut refused = None;
    let mut is_line_open = false;
    let copied = visit_blocks(bytes, redactor, |block| {
        let text = String::from_utf8_lossy(block);
        let mut content = RedactedText::with_capacity(text.len());
        content.push_cow(&redactor.text(&text, report));
        is_line_open = !block.ends_with(b"\n");
        output.append(&content.finish()).map_err(|error| refused = Some(error))
    });
    match (copied, refused) {
        (_, Some(error)) => Err(failed(error)),
        (Ok(()), None) => {
            // A blob keeps its exact content; other texts end with a line end.
            if is_line_open && !matches!(file, BundleFile::Blob(_)) {
                let mut end = RedactedText::new();
                end.push_constant(constant_text!("\n"));
                output.append(&end.finish()).map_err(failed)?;
            }
            output.finish().map_err(failed)
        }
        (Err(error), None) => Err(unread(error, digest)),
    }
}

/// Passes every block of a text to `visit`, until it refuses one. A media value
/// longer than one block cannot be cut: only its first block shows that it is
/// media.
fn visit_blocks(
    bytes: &mut dyn ByteStream,
    redactor: &Redactor,
    mut visit: impl FnMut(&[u8]) -> Result<(), ()>,
) -> Result<(), BlockError> {
    let mut blocks = TextBlocks::new(bytes, NoSeam::GiveUp);
    let mut is_medium = None;
    while let Some(block) = blocks.next(redactor)? {
        match is_medium {
            None => is_medium = Some(begins_medium(&block)),
            Some(true) => return Err(BlockError::NoSeam),
            Some(false) => {}
        }
        if visit(&block).is_err() {
            break;
        }
    }
    Ok(())
}

fn begins_medium(block: &[u8]) -> bool {
    let head = block.get(..MediaStream::SAMPLE_HEAD).unwrap_or(block);
    std::str::from_utf8(head).is_ok_and(|head| MediaStream::of_text(head).is_some())
}
