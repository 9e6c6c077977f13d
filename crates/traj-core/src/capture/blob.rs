//! Texts too long for an event: stored once under the hash of what they say.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::json::Json;
use crate::redaction::Redacted;

/// The name of a blob: the SHA-256 of its content, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobDigest(String);

impl BlobDigest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        use fmt::Write as _;
        let mut name = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            // Writing to a string does not fail.
            write!(name, "{byte:02x}").ok();
        }
        Self(name)
    }

    /// Checks a name from a file: 64 lower-case hexadecimal digits and nothing
    /// else, so that it can stand in a path.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (name.len() == 64 && name.bytes().all(is_hex)).then(|| Self(name.to_owned()))
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A redacted text that did not fit its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    digest: BlobDigest,
    text: Redacted<String>,
}

impl Blob {
    /// A blob of this text.
    #[must_use]
    pub fn new(text: Redacted<String>) -> Self {
        Self { digest: BlobDigest::of(text.as_ref().as_bytes()), text }
    }

    /// Its name.
    #[must_use]
    pub const fn digest(&self) -> &BlobDigest {
        &self.digest
    }

    /// Its content.
    #[must_use]
    pub const fn text(&self) -> &Redacted<String> {
        &self.text
    }
}

/// Why a blob was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OmittedBlob {
    /// The folder of blobs is at its budget.
    Budget,
    /// It could not be written.
    Storage,
}

impl OmittedBlob {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "trajectory-blob-budget",
            Self::Storage => "trajectory-blob-storage",
        }
    }
}

/// Replaces the name of a blob that was not stored by the reason.
pub(super) fn mark_omitted(json: &mut Json<'_>, digest: &BlobDigest, reason: OmittedBlob) {
    match json {
        Json::Array(items) => {
            items.iter_mut().for_each(|item| mark_omitted(item, digest, reason));
        }
        Json::Object(object) => {
            let names_it = object.get("truncated").and_then(Json::as_bool) == Some(true)
                && object.get("blob").and_then(Json::as_str) == Some(digest.as_str());
            if names_it {
                object.insert("blob", Json::Null);
                object.push("blobOmitted", reason.as_str());
            }
            object.iter_mut().for_each(|(_, value)| mark_omitted(value, digest, reason));
        }
        _ => {}
    }
}
