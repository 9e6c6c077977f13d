//! The blobs that the recorder stored next to the sidecar.

use std::collections::BTreeSet;

use traj_core::capture::BlobDigest;
use traj_core::json::{Json, Object};
use traj_core::location::blobs_beside;
use traj_core::port::{BundleFile, Source, SourceError, Sources};

use crate::bundle::output::hex;
use crate::json_stream::source_bytes::DigestedBytes;

/// The result of looking up a blob.
#[derive(Debug)]
pub(super) enum BlobLookup {
    Text(String),
    Missing,
    TooLarge,
}

/// The blob directory of a sidecar.
#[derive(Debug)]
pub(crate) struct RecordedBlobs<'s> {
    sources: &'s dyn Sources,
    folder: Option<String>,
}

impl<'s> RecordedBlobs<'s> {
    pub(crate) fn beside(sources: &'s dyn Sources, sidecar: Option<&str>) -> Self {
        Self { sources, folder: sidecar.map(blobs_beside) }
    }

    /// Opens a blob, if it exists and may be read.
    ///
    /// # Errors
    /// If the blob exists, but the storage fails.
    pub(super) fn open(&self, digest: &BlobDigest) -> Result<Option<Box<dyn Source>>, SourceError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        match self.sources.open_relocated(&format!("{folder}/{digest}")) {
            Ok(source) => Ok(Some(source)),
            Err(error @ SourceError::Storage { .. }) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The length of a blob, if it exists and its content matches its name.
    pub(super) fn sound_length(&self, digest: &BlobDigest) -> Result<Option<u64>, SourceError> {
        let Some(source) = self.open(digest)? else { return Ok(None) };
        match DigestedBytes::new(&*source).finish() {
            Ok(found) => Ok((hex(&found) == digest.as_str()).then(|| source.len())),
            Err(error) => match error.downcast::<SourceError>() {
                Ok(error) if matches!(*error, SourceError::Storage { .. }) => Err(*error),
                _ => Ok(None),
            },
        }
    }

    /// Reads a blob of at most this many bytes.
    pub(super) fn look_up(
        &self,
        digest: &BlobDigest,
        longest: usize,
    ) -> Result<BlobLookup, SourceError> {
        let Some(source) = self.open(digest)? else { return Ok(BlobLookup::Missing) };
        if source.len() > longest as u64 {
            return Ok(BlobLookup::TooLarge);
        }
        let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or_default()];
        match source.read_exact_at(0, &mut bytes) {
            // A blob whose content does not match its name is the wrong one.
            Ok(()) if BlobDigest::of(&bytes) == *digest => {
                Ok(BlobLookup::Text(String::from_utf8_lossy(&bytes).into_owned()))
            }
            Err(error @ SourceError::Storage { .. }) => Err(error),
            Ok(()) | Err(_) => Ok(BlobLookup::Missing),
        }
    }
}

/// The reason and the blob that a cut value's marker states.
pub(super) fn cut_marker<'e>(value: &'e Json<'_>) -> Option<(&'e str, BlobDigest)> {
    marker_of(value.as_object()?)
}

/// The reason and the blob that a marker object states.
pub(crate) fn marker_of<'e>(object: &'e Object<'_>) -> Option<(&'e str, BlobDigest)> {
    let is_cut = object.get("truncated").and_then(Json::as_bool) == Some(true);
    let digest = BlobDigest::parse(object.get("blob")?.as_str()?)?;
    is_cut.then_some((object.get("reason")?.as_str()?, digest))
}

/// Collects the blobs that a value refers to, up to one more than a bundle can
/// have: the extra one shows that the limit was exceeded.
pub(crate) fn referenced(value: &Json<'_>, digests: &mut BTreeSet<BlobDigest>) {
    if digests.len() > BundleFile::MOST_BLOBS {
        return;
    }
    match value {
        Json::Array(items) => items.iter().for_each(|item| referenced(item, digests)),
        Json::Object(object) => match cut_marker(value) {
            Some((_, digest)) => drop(digests.insert(digest)),
            None => object.iter().for_each(|(_, member)| referenced(member, digests)),
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use traj_core::memory::MemorySources;

    use super::*;

    #[test]
    fn a_changed_blob_is_not_trusted() {
        let sources = MemorySources::new();
        let digest = BlobDigest::of(b"original");
        sources.put(format!("s.trajectory.blobs/{digest}"), "something else");
        let folder = RecordedBlobs::beside(&sources, Some("s.trajectory.jsonl"));
        assert!(matches!(folder.look_up(&digest, 100), Ok(BlobLookup::Missing)));
    }
}
