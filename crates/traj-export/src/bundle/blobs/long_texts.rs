//! Texts of events that are too long to be put back: where among the bundle's
//! files they lie, and how they become a file of their own.

use std::collections::{BTreeMap, BTreeSet};

use traj_core::capture::BlobDigest;
use traj_core::json::Json;
use traj_core::port::{BundleFile, BundleWriter, Source, SourceError};
use traj_core::redaction::{RedactedText, RedactionReport, Redactor};

use super::copy::{Uncopied, copy_giant};
use super::directory::{RecordedBlobs, cut_marker};
use crate::bundle::output::{FileOutput, WrittenFile};
use crate::error::ExportError;
use crate::json_stream::long_rows::{Giant, SHORTENED};

/// A text of an event.
#[derive(Clone, Debug)]
pub(crate) enum EventText<'a> {
    Whole(&'a str),
    Cut(CutText<'a>),
}

/// A text that a marker stands for.
#[derive(Clone, Debug)]
pub(crate) struct CutText<'a> {
    digest: BlobDigest,
    /// Where it lies in the sidecar; in the blob folder if nowhere there.
    giant: Option<&'a Giant>,
}

impl<'a> EventText<'a> {
    /// The text that a value is or stands for, if it is one. A marker of ours
    /// is believed if it stands for one of these giants.
    pub(crate) fn of(value: &'a Json<'_>, giants: &'a [Giant]) -> Option<Self> {
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

/// Where texts lie that were cut, and which of those came along.
pub(crate) struct LongTexts<'f> {
    pub(crate) folder: &'f RecordedBlobs<'f>,
    /// The sidecar, which the giants lie in.
    runtime: Option<&'f dyn Source>,
    copied: BTreeSet<BundleFile>,
    /// The lengths of long blobs that did not come along: many events can name
    /// one, and to check it means to read it.
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

    /// A text, or a word about where it lies; nothing if it is gone.
    pub(crate) fn told(&mut self, text: EventText<'_>) -> Result<Option<String>, SourceError> {
        match text {
            EventText::Whole(text) => Ok(Some(text.to_owned())),
            EventText::Cut(CutText { digest, giant }) => {
                self.place(digest, giant.map(|giant| giant.place.length))
            }
        }
    }

    /// A word about where among the bundle's files a text lies. If its length is
    /// not known, the text is in the blob folder or gone.
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
        // What is not there is quickly looked for, and there is no end to it.
        if length.is_some() || self.folder.open(&digest)?.is_some() {
            self.left_out.insert(digest, length);
        }
        Ok(length)
    }

    /// Writes a text as a file of its own, redacted block by block. If it cannot
    /// be redacted, the file says so; if it is gone, there is none. That was told
    /// when the blobs were copied.
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
                let Some(told) = self.told(EventText::Cut(text))? else { return Ok(None) };
                let mut content = RedactedText::new();
                content.push_cow(&redactor.text(&told, report)).push_static("\n");
                Ok(Some(FileOutput::put(bundle, file, &content.finish())?))
            }
        }
    }
}
