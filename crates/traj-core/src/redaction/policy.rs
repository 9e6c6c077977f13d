//! What is hidden, and under which key markers are made.

use std::fmt;

/// The secret key under which markers are computed.
#[derive(Clone)]
pub struct MarkerKey([u8; 32]);

impl MarkerKey {
    /// Wraps key bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key bytes, for storing them.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for MarkerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MarkerKey(…)")
    }
}

/// Paths and names of the host, and what stands in for them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PathLabels {
    /// The workspace of the run.
    pub workspace: Option<String>,
    /// The state directory of the harness.
    pub state_dir: Option<String>,
    /// Home directories.
    pub homes: Vec<String>,
    /// The user's account name.
    pub user: Option<String>,
    /// The host's name.
    pub host: Option<String>,
}

/// What to hide, and how to mark it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedactionPolicy {
    /// The key of the markers.
    pub key: MarkerKey,
    /// Host paths and names to replace.
    pub paths: PathLabels,
}

impl RedactionPolicy {
    /// Everything that is hidden by default.
    #[must_use]
    pub fn standard(key: MarkerKey) -> Self {
        Self { key, paths: PathLabels::default() }
    }

    /// Also replaces these host paths and names.
    #[must_use]
    pub fn with_paths(mut self, paths: PathLabels) -> Self {
        self.paths = paths;
        self
    }
}
