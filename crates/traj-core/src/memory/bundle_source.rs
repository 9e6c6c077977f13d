//! Reads a bundle from memory.

use super::MemoryBundle;
use crate::port::{BundleContent, BundleNames, BundleSource, BundleSourceError, BundleVisitor};

/// Files by path, in order.
#[derive(Clone, Debug, Default)]
pub struct MemoryBundleSource {
    files: Vec<(String, Vec<u8>)>,
}

impl MemoryBundleSource {
    /// The files of a committed bundle.
    #[must_use]
    pub fn of(bundle: &MemoryBundle) -> Self {
        let files = bundle.iter().map(|(file, text)| (file.to_string(), text.clone().into_bytes()));
        Self { files: files.collect() }
    }

    /// Adds a file, even if another has the same name.
    pub fn push(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.files.push((path.into(), content.into()));
    }

    /// The content of a file, mutably.
    pub fn content_mut(&mut self, path: &str) -> Option<&mut Vec<u8>> {
        self.files.iter_mut().find(|(name, _)| name == path).map(|(_, content)| content)
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &str) {
        self.files.retain(|(name, _)| name != path);
    }
}

impl BundleSource for MemoryBundleSource {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        let mut names = BundleNames::default();
        for (path, content) in &self.files {
            names.take(path)?;
            visit(path, &mut RestOfContent(content))?;
        }
        Ok(())
    }
}

struct RestOfContent<'c>(&'c [u8]);

impl BundleContent for RestOfContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let length = buffer.len().min(self.0.len());
        let (now, later) = self.0.split_at(length);
        buffer.get_mut(..length).unwrap_or_default().copy_from_slice(now);
        self.0 = later;
        Ok(length)
    }
}
