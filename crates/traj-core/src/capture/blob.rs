//! Strings too long for an event, stored once each under the hash of their
//! content.

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

    /// Checks a name from a file: exactly 64 lower-case hexadecimal digits, so
    /// that it is safe in a path.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (name.len() == 64 && name.bytes().all(is_hex)).then(|| Self(name.to_owned()))
    }

    /// The name as a string.
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

/// A redacted string that did not fit into its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    digest: BlobDigest,
    text: Redacted<String>,
}

impl Blob {
    /// A blob of this string.
    #[must_use]
    pub fn new(text: Redacted<String>) -> Self {
        Self { digest: BlobDigest::of(text.as_ref().as_bytes()), text }
    }

    /// A blob of this string, with its known digest.
    pub(super) fn with_digest(digest: &Redacted<String>, text: Redacted<String>) -> Self {
        Self { digest: BlobDigest(digest.as_ref().clone()), text }
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
    /// The blob directory has reached its budget.
    Budget,
    /// The blob could not be written.
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

/// Replaces the name of a blob that was not stored with the reason.
pub(super) fn mark_omitted(
    data: &mut Redacted<Json<'static>>,
    digest: &BlobDigest,
    reason: OmittedBlob,
) {
    data.amend_objects(&mut |object| {
        let names_it = object.as_ref().get("truncated").and_then(Json::as_bool) == Some(true)
            && object.as_ref().get("blob").and_then(Json::as_str) == Some(digest.as_str());
        if names_it {
            object.set_null("blob");
            object.push_static("blobOmitted", reason.as_str());
        }
    });
}
