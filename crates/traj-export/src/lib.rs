//! Exports an agent session with its trajectory as a redacted, verifiable support bundle.
