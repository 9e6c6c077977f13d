//! What redaction did: counts, never values.

/// Counts of what was hidden.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RedactionReport {}
