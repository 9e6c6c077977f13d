//! The sizes of a bundle's files, as its manifest states them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::BundleFile;

/// The sizes in a manifest. They limit how much of an archive is read: a high
/// compression ratio does not prove an attack, but a file that is longer than
/// stated does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedSizes {
    sizes: BTreeMap<BundleFile, u64>,
}

#[derive(Deserialize)]
struct StatedManifest {
    contents: Vec<StatedContent>,
}

#[derive(Deserialize)]
struct StatedContent {
    path: String,
    bytes: u64,
}

impl StatedSizes {
    /// Reads the sizes from a manifest; an unreadable manifest states none.
    #[must_use]
    pub fn of_manifest(manifest: &[u8]) -> Self {
        let Ok(manifest) = serde_json::from_slice::<StatedManifest>(manifest) else {
            return Self::default();
        };
        let sizes = manifest.contents.into_iter().filter_map(|content| {
            BundleFile::parse(&content.path).map(|file| (file, content.bytes))
        });
        Self { sizes: sizes.collect() }
    }

    /// The size of the file with this path; 0 if it is not listed.
    #[must_use]
    pub fn of(&self, path: &str) -> u64 {
        BundleFile::parse(path).and_then(|file| self.sizes.get(&file).copied()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_files_have_sizes() {
        let manifest = r#"{"x":[[]],"contents":[{"path":"events.jsonl","bytes":7},
            {"path":"../x","bytes":9}]}"#;
        let sizes = StatedSizes::of_manifest(manifest.as_bytes());
        assert_eq!(sizes.of("events.jsonl"), 7);
        for path in ["manifest.json", "tools.json", "../x", ""] {
            assert_eq!(sizes.of(path), 0, "{path}");
        }
    }

    #[test]
    fn an_invalid_manifest_states_nothing() {
        for manifest in ["", "[]", "{}", r#"{"contents":[{"path":"events.jsonl","bytes":-1}]}"#] {
            assert_eq!(StatedSizes::of_manifest(manifest.as_bytes()), StatedSizes::default());
        }
    }
}
