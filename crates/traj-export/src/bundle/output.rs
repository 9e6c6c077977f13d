//! Writes the bundle's files; counts and digests their bytes.

use sha2::{Digest as _, Sha256};
use traj_core::port::{BundleFile, BundleFileWriter, BundleSinkError, BundleWriter};
use traj_core::redaction::Redacted;

/// A finished file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenFile {
    pub(crate) file: BundleFile,
    pub(crate) bytes: u64,
    pub(crate) digest: [u8; 32],
}

/// A file that is being written.
pub(crate) struct FileOutput {
    file: BundleFile,
    writer: Box<dyn BundleFileWriter>,
    bytes: u64,
    digest: Sha256,
}

impl FileOutput {
    pub(crate) fn create(
        bundle: &mut dyn BundleWriter,
        file: BundleFile,
    ) -> Result<Self, BundleSinkError> {
        Ok(Self { file, writer: bundle.create(file)?, bytes: 0, digest: Sha256::new() })
    }

    pub(crate) fn append(&mut self, text: &Redacted<String>) -> Result<(), BundleSinkError> {
        self.digest.update(text.as_ref().as_bytes());
        self.bytes += text.as_ref().len() as u64;
        self.writer.append(text)
    }

    pub(crate) fn finish(self) -> Result<WrittenFile, BundleSinkError> {
        self.writer.finish()?;
        Ok(WrittenFile {
            file: self.file,
            bytes: self.bytes,
            digest: self.digest.finalize().into(),
        })
    }

    /// Writes a file in one go.
    pub(crate) fn put(
        bundle: &mut dyn BundleWriter,
        file: BundleFile,
        text: &Redacted<String>,
    ) -> Result<WrittenFile, BundleSinkError> {
        let mut output = Self::create(bundle, file)?;
        output.append(text)?;
        output.finish()
    }
}

/// A digest in hexadecimal.
pub(crate) fn hex(digest: &[u8; 32]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string does not fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}
