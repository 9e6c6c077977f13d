//! Blobs on their way into the bundle: checked, redacted once more, of any
//! length.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};
use traj_core::capture::BlobDigest;
use traj_core::port::{BundleFile, BundleSinkError, BundleWriter, Source, SourceError};
use traj_core::redaction::{RedactedText, RedactionReport, Redactor};

use super::blobs::BlobFolder;
use crate::error::ExportError;
use crate::output::{Output, Written, hex};
use crate::recheck::SourceBytes;
use crate::split::{Bytes, ReadError};
use crate::text_blocks::{BlockError, NoSeam, TextBlocks};
use crate::warning::{Code, Warnings};

/// Why a blob is not copied.
enum Uncopied {
    Warned(Code),
    Failed(ExportError),
}

impl BlobFolder<'_> {
    /// Copies the blobs that events refer to into the bundle.
    pub(crate) fn copy(
        &self,
        digests: &BTreeSet<BlobDigest>,
        bundle: &mut dyn BundleWriter,
        redactor: &Redactor,
        report: &mut RedactionReport,
        warnings: &mut Warnings,
    ) -> Result<Vec<Written>, ExportError> {
        let mut written = Vec::new();
        for digest in digests {
            if written.len() == BundleFile::MOST_BLOBS {
                warnings.add(Code::TooManyBlobs, 0);
                continue;
            }
            match self.copy_one(digest, bundle, redactor, report) {
                Ok(file) => written.push(file),
                Err(Uncopied::Warned(code)) => warnings.add(code, 0),
                Err(Uncopied::Failed(error)) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Copies a blob of any length, block by block.
    fn copy_one(
        &self,
        digest: &BlobDigest,
        bundle: &mut dyn BundleWriter,
        redactor: &Redactor,
        report: &mut RedactionReport,
    ) -> Result<Written, Uncopied> {
        let missing = || Uncopied::Warned(Code::BlobMissing);
        let source = self.open(digest).ok_or_else(missing)?;
        let file = BundleFile::parse(&format!("blobs/{digest}.txt")).ok_or_else(missing)?;
        // First only looked at: a file of the bundle cannot be taken back.
        match visit_blocks(&*source, redactor, |_| Ok(())) {
            // A blob that says something else than its name is not the one meant.
            Ok(found) if hex(&found) == digest.as_str() => {}
            Ok(_) | Err(BlockError::Read(_)) => return Err(missing()),
            Err(BlockError::NoSeam) => return Err(Uncopied::Warned(Code::BlobTooLarge)),
        }
        let failed = |error: BundleSinkError| Uncopied::Failed(error.into());
        let changed = || {
            let name = file.to_string();
            Uncopied::Failed(SourceError::Changed { name }.into())
        };
        let mut output = Output::create(bundle, file).map_err(failed)?;
        let mut refused = None;
        let copied = visit_blocks(&*source, redactor, |block| {
            let text = String::from_utf8_lossy(block);
            let mut content = RedactedText::with_capacity(text.len());
            content.push_cow(&redactor.text(&text, report));
            output.append(&content.finish()).map_err(|error| {
                refused = Some(error);
            })
        });
        match (copied, refused) {
            (_, Some(error)) => Err(failed(error)),
            (Ok(found), None) if hex(&found) == digest.as_str() => output.finish().map_err(failed),
            _ => Err(changed()),
        }
    }
}

/// Shows every block of a text to `visit`, until it refuses one; returns the
/// digest of all that was read.
fn visit_blocks(
    source: &dyn Source,
    redactor: &Redactor,
    mut visit: impl FnMut(&[u8]) -> Result<(), ()>,
) -> Result<[u8; 32], BlockError> {
    let mut bytes = Digested { bytes: SourceBytes::new(source), digest: Sha256::new() };
    let mut blocks = TextBlocks::new(&mut bytes, NoSeam::GiveUp);
    while let Some(block) = blocks.next(redactor)? {
        if visit(&block).is_err() {
            break;
        }
    }
    Ok(bytes.digest.finalize().into())
}

/// Bytes that are digested as they are read.
struct Digested<'s> {
    bytes: SourceBytes<'s>,
    digest: Sha256,
}

impl Bytes for Digested<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let read = self.bytes.read(buffer)?;
        self.digest.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
