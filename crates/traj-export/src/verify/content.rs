//! The content of a file while it is checked.

use sha2::{Digest as _, Sha256};
use traj_core::port::{BundleContent, BundleFile, BundleSourceError};

use super::MAX_MANIFEST_BYTES;
use crate::json_stream::splitter::{ByteStream, ReadError};

/// A file that was read.
pub(super) struct CheckedFile {
    pub(super) bytes: u64,
    pub(super) digest: [u8; 32],
    /// The whole content, if it is the manifest.
    pub(super) kept: Option<Vec<u8>>,
    /// The last line, if it has no line end but needs one.
    pub(super) cut_line: Option<u64>,
}

/// Content that is digested as it is read. A read error ends it, so that
/// everything before the error is checked.
pub(super) struct DigestedContent<'c> {
    content: &'c mut dyn BundleContent,
    digest: Sha256,
    bytes: u64,
    kept: Option<Vec<u8>>,
    ending: Option<ContentEnding>,
    failure: Option<BundleSourceError>,
}

/// Tracks line ends. A last line without a line end gets one, so that the lines
/// before it are checked.
#[derive(Default)]
struct ContentEnding {
    line_ends: u64,
    is_cut: bool,
    is_mended: bool,
}

impl<'c> DigestedContent<'c> {
    pub(super) fn new(file: BundleFile, content: &'c mut dyn BundleContent) -> Self {
        Self {
            kept: (file == BundleFile::Manifest).then(Vec::new),
            ending: (file == BundleFile::Events).then(ContentEnding::default),
            ..Self::plain(content)
        }
    }

    /// Content of any file, without checks.
    pub(super) fn plain(content: &'c mut dyn BundleContent) -> Self {
        let (digest, bytes) = (Sha256::new(), 0);
        Self { content, digest, bytes, kept: None, ending: None, failure: None }
    }

    fn take(&mut self, buffer: &mut [u8]) -> usize {
        if self.failure.is_some() {
            return 0;
        }
        let read = self.content.read(buffer).unwrap_or_else(|error| {
            self.failure = Some(error);
            0
        });
        let part = buffer.get(..read).unwrap_or_default();
        self.digest.update(part);
        self.bytes += read as u64;
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < MAX_MANIFEST_BYTES) {
            kept.extend_from_slice(part);
        }
        if let (Some(ending), Some(last)) = (&mut self.ending, part.last()) {
            ending.line_ends += memchr::memchr_iter(b'\n', part).count() as u64;
            ending.is_cut = *last != b'\n';
        }
        read
    }

    /// Reads the rest, because a scan may stop early. Also returns the read
    /// error, if there was one.
    pub(super) fn finish(mut self) -> (CheckedFile, Option<BundleSourceError>) {
        let mut buffer = vec![0; 64 * 1024];
        while self.take(&mut buffer) > 0 {}
        let cut = self.ending.filter(|ending| ending.is_cut && self.failure.is_none());
        let seen = CheckedFile {
            bytes: self.bytes,
            digest: self.digest.finalize().into(),
            kept: self.kept,
            cut_line: cut.map(|ending| ending.line_ends + 1),
        };
        (seen, self.failure)
    }
}

impl ByteStream for DigestedContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let read = self.take(buffer);
        if let (0, Some(ending), Some(byte)) = (read, &mut self.ending, buffer.first_mut())
            && ending.is_cut
            && !std::mem::replace(&mut ending.is_mended, true)
        {
            *byte = b'\n';
            return Ok(1);
        }
        Ok(read)
    }
}

/// Implements `std::io::Read` for content.
pub(crate) struct ContentReader<'c>(pub(crate) &'c mut dyn BundleContent);

impl std::io::Read for ContentReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(std::io::Error::other)
    }
}
