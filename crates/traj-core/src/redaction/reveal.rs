//! The owner's private map from markers to secrets.

use std::collections::BTreeMap;
use std::fmt;

/// Maps each marker to its secret. It is created only on request, written only
/// encrypted, and never becomes part of a bundle.
#[derive(Clone, Default)]
pub struct RevealMap {
    secrets: BTreeMap<String, String>,
}

impl RevealMap {
    /// An empty map.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn note(&mut self, marker: &str, secret: &str) {
        if !self.secrets.contains_key(marker) {
            self.secrets.insert(marker.to_owned(), secret.to_owned());
        }
    }

    /// The number of markers in the map.
    #[must_use]
    pub fn len(&self) -> usize {
        self.secrets.len()
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The map as a JSON object, marker to secret. Encrypt before writing.
    ///
    /// # Errors
    /// Never in practice; the serializer's signature allows for errors.
    pub fn danger_to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(&self.secrets)
    }
}

impl fmt::Debug for RevealMap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RevealMap({} markers)", self.secrets.len())
    }
}
