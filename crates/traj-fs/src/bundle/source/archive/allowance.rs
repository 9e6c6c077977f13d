//! How much an archive may unpack to.

use std::io::Read;

use traj_core::limits::Reading;
use traj_core::port::{BundleContent, BundleFile, BundleSourceError, BundleVisitor, StatedSizes};

use super::damage::damaged;

const UNSTATED_BYTES: u64 = Reading::standard().unstated_bytes as u64;

/// How many bytes an archive may still unpack to: the size that the manifest
/// states for each file, and a small amount for everything else.
#[derive(Debug)]
pub(super) struct UnpackAllowance {
    stated: StatedSizes,
    unstated: u64,
}

impl Default for UnpackAllowance {
    fn default() -> Self {
        Self { stated: StatedSizes::default(), unstated: UNSTATED_BYTES }
    }
}

impl UnpackAllowance {
    /// Passes an entry to the visitor and reads it to its end: bytes that the
    /// visitor does not read count too.
    pub(super) fn show(
        &mut self,
        path: &str,
        content: &mut (dyn Read + Send),
        visit: &mut BundleVisitor<'_>,
    ) -> Result<(), BundleSourceError> {
        let is_manifest = BundleFile::parse(path) == Some(BundleFile::Manifest);
        let mut packed = PackedFile {
            content,
            stated: self.stated.of(path),
            unstated: &mut self.unstated,
            kept: is_manifest.then(Vec::new),
        };
        visit(path, &mut packed)?;
        let mut buffer = vec![0; 64 * 1024];
        while packed.read(&mut buffer)? > 0 {}
        if let Some(manifest) = packed.kept {
            self.stated = StatedSizes::of_manifest(&manifest);
        }
        Ok(())
    }
}

/// A file that is unpacked as it is read.
struct PackedFile<'c> {
    content: &'c mut (dyn Read + Send),
    /// The rest of its stated size.
    stated: u64,
    unstated: &'c mut u64,
    /// The content so far, if it is the manifest.
    kept: Option<Vec<u8>>,
}

impl BundleContent for PackedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let read = self.content.read(buffer).map_err(damaged)?;
        let beyond = (read as u64).saturating_sub(self.stated);
        self.stated = self.stated.saturating_sub(read as u64);
        *self.unstated = self.unstated.checked_sub(beyond).ok_or(BundleSourceError::Bomb)?;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(buffer.get(..read).unwrap_or_default());
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn show(
        allowance: &mut UnpackAllowance,
        path: &str,
        bytes: u64,
    ) -> Result<(), BundleSourceError> {
        let mut content = io::repeat(b' ').take(bytes);
        allowance.show(path, &mut content, &mut |_, _| Ok(()))
    }

    fn stating(bytes: u64) -> UnpackAllowance {
        let manifest = format!(r#"{{"contents":[{{"path":"events.jsonl","bytes":{bytes}}}]}}"#);
        let mut allowance = UnpackAllowance::default();
        let shown = allowance.show("manifest.json", &mut manifest.as_bytes(), &mut |_, _| Ok(()));
        assert!(shown.is_ok());
        allowance
    }

    #[test]
    fn files_may_be_as_large_as_the_manifest_states() {
        assert!(show(&mut stating(2 * UNSTATED_BYTES), "events.jsonl", 2 * UNSTATED_BYTES).is_ok());
    }

    #[test]
    fn files_that_the_manifest_does_not_state_share_a_limit() {
        let mut allowance = stating(1_000);
        assert!(show(&mut allowance, "events.jsonl", 1_000 + UNSTATED_BYTES / 2).is_ok());
        assert!(show(&mut allowance, "tools.json", UNSTATED_BYTES / 4).is_ok());
        let more = show(&mut allowance, "prompts.json", UNSTATED_BYTES / 2);
        assert!(matches!(more, Err(BundleSourceError::Bomb)), "{more:?}");
    }

    #[test]
    fn a_giant_manifest_is_not_kept() {
        let giant = show(&mut UnpackAllowance::default(), "manifest.json", UNSTATED_BYTES + 1);
        assert!(matches!(giant, Err(BundleSourceError::Bomb)), "{giant:?}");
    }
}
