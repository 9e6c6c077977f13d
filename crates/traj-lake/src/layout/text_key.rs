//! The key of a long text's file.

use traj_core::capture::BlobDigest;
use traj_core::port::{DatasetKey, DatasetKeyError};
use traj_export::long_text_file;

use super::LAYOUT;

/// The file of a long text: its name is the digest of the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextKey(pub(crate) BlobDigest);

impl TextKey {
    /// What the keys of all of them begin with.
    pub(crate) fn prefix() -> String {
        format!("{LAYOUT}/blobs/")
    }

    /// Reads a key; `None` if the file is not one of a text.
    pub(crate) fn parse(key: &str) -> Option<Self> {
        let (_, name) = key.rsplit_once('/')?;
        let digest = BlobDigest::parse(name.strip_suffix(".zst")?)?;
        let known = Self(digest);
        (known.text() == key).then_some(known)
    }

    fn text(&self) -> String {
        format!("{LAYOUT}/{}", long_text_file(&self.0))
    }

    /// The key for a store.
    pub(crate) fn to_dataset_key(&self) -> Result<DatasetKey, DatasetKeyError> {
        DatasetKey::parse(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_key() {
        let key = TextKey(BlobDigest::of(b"text"));
        let text = key.to_dataset_key().unwrap().as_str().to_owned();
        assert!(text.starts_with(&TextKey::prefix()));
        assert_eq!(TextKey::parse(&text), Some(key));
        for other in
            [text.replace("/blobs/", "/texts/"), text.replace(".zst", ""), format!("{text}/x")]
        {
            assert_eq!(TextKey::parse(&other), None, "{other}");
        }
        let digest = BlobDigest::of(b"other");
        let misplaced = text.rsplit_once('/').unwrap().0.to_owned() + &format!("/{digest}.zst");
        assert_eq!(
            TextKey::parse(&misplaced).is_some(),
            misplaced.contains(&long_text_file(&digest))
        );
    }
}
