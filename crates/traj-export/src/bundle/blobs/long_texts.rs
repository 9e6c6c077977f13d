//! Event strings that are too long to restore: which file of the bundle holds
//! each, and how to write one as a separate file.

use std::collections::{BTreeMap, BTreeSet};

use traj_core::capture::BlobDigest;
use traj_core::constant_text;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleWriter, Source, SourceError};
use traj_core::redaction::{RedactedText, RedactionReport, Redactor};

use super::copy::{Uncopied, copy_giant};
use super::directory::{RecordedBlobs, cut_marker};
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::error::ExportError;
use crate::json_stream::long_rows::{CutValue, SHORTENED};

/// A string of an event.
#[derive(Clone, Debug)]
pub(crate) enum EventText<'a> {
    Whole(&'a str),
    Cut(CutText<'a>),
}

/// A string that was replaced by a marker.
#[derive(Clone, Debug)]
pub(crate) struct CutText<'a> {
    digest: BlobDigest,
    /// Where it is in the sidecar; `None` if it is in the blob directory.
    giant: Option<&'a CutValue>,
}

impl<'a> EventText<'a> {
    /// The string that a value is or refers to, if any. An export's marker
    /// counts only if it refers to one of these giants.
    pub(crate) fn of(value: &'a Json<'_>, giants: &'a [CutValue]) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Some(Self::Whole(text));
        }
        let (reason, digest) = cut_marker(value)?;
        let giant = giants.iter().find(|giant| giant.is_text && giant.digest == digest);
        match reason {
            "trajectory-field-size-limit" => Some(Self::Cut(CutText { digest, giant: None })),
            SHORTENED if giant.is_some() => Some(Self::Cut(CutText { digest, giant })),
            _ => None,
        }
    }
}

/// Finds strings that were cut, and tracks which of them were copied.
pub(crate) struct LongTexts<'f> {
    pub(crate) folder: &'f RecordedBlobs<'f>,
    /// The sidecar that contains the giants.
    runtime: Option<&'f dyn Source>,
    copied: BTreeSet<BundleFile>,
    /// The lengths of long blobs that were not copied: many events can refer to
    /// one, and checking it means reading it.
    left_out: BTreeMap<BlobDigest, Option<u64>>,
}

impl<'f> LongTexts<'f> {
    pub(crate) const fn new(
        folder: &'f RecordedBlobs<'f>,
        runtime: Option<&'f dyn Source>,
        copied: BTreeSet<BundleFile>,
    ) -> Self {
        Self { folder, runtime, copied, left_out: BTreeMap::new() }
    }

    /// A string, or a note on which file holds it; `None` if it is missing.
    pub(crate) fn describe(&mut self, text: EventText<'_>) -> Result<Option<String>, SourceError> {
        match text {
            EventText::Whole(text) => Ok(Some(text.to_owned())),
            EventText::Cut(CutText { digest, giant }) => {
                self.place(digest, giant.map(|giant| giant.place.length))
            }
        }
    }

    /// A note on which file of the bundle holds a string. If its length is
    /// unknown, the string is in the blob directory or missing.
    pub(super) fn place(
        &mut self,
        digest: BlobDigest,
        length: Option<u64>,
    ) -> Result<Option<String>, SourceError> {
        let file = BundleFile::blob(&digest);
        let is_copied = self.copied.contains(&file);
        let length = match length {
            Some(length) => Some(length),
            None if is_copied => self.folder.open(&digest)?.map(|blob| blob.len()),
            None => self.length_left_out(digest)?,
        };
        Ok(length.map(|length| {
            if is_copied {
                format!("<{length} bytes in {file}>")
            } else {
                format!("<{length} bytes, left out>")
            }
        }))
    }

    fn length_left_out(&mut self, digest: BlobDigest) -> Result<Option<u64>, SourceError> {
        if let Some(length) = self.left_out.get(&digest) {
            return Ok(*length);
        }
        let length = self.folder.sound_length(&digest)?;
        // Missing blobs are cheap to look up, and there may be any number of
        // them.
        if length.is_some() || self.folder.open(&digest)?.is_some() {
            self.left_out.insert(digest, length);
        }
        Ok(length)
    }

    /// Writes a string as a separate file, redacted block by block. If it
    /// cannot be redacted, the file says so. If it is missing, no file is
    /// written: copying the blobs already reported it.
    pub(crate) fn write(
        &mut self,
        text: CutText<'_>,
        file: BundleFile,
        bundle: &mut dyn BundleWriter,
        redactor: &Redactor,
        report: &mut RedactionReport,
    ) -> Result<Option<WrittenFile>, ExportError> {
        let written = match (text.giant, self.runtime) {
            (Some(giant), Some(source)) => {
                copy_giant(source, giant, file, bundle, redactor, report)
            }
            _ => self.folder.copy_blob(&text.digest, file, bundle, redactor, report),
        };
        match written {
            Ok(written) => Ok(Some(written)),
            Err(Uncopied::Failed(error)) => Err(error),
            Err(Uncopied::Warned(_)) => {
                let Some(described) = self.describe(EventText::Cut(text))? else { return Ok(None) };
                let mut content = RedactedText::new();
                content
                    .push_cow(&redactor.text(&described, report))
                    .push_constant(constant_text!("\n"));
                Ok(Some(FileOutput::put(bundle, file, &content.finish())?))
            }
        }
    }
}
