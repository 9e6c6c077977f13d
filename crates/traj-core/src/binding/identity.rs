//! The identity of a thread: the terms it was started under.
//!
//! - `canonical`: a canonical string for each JSON value.
//! - `fingerprint`: a digest of each component of a thread's configuration.
//! - `context_engine`: the context engine that a thread was started with.
//! - `plugin_policy`: the plugin apps that a thread was started with.

mod canonical;
mod context_engine;
mod fingerprint;
mod plugin_policy;

pub use canonical::canonical_text;
pub use context_engine::{ContextEngineBinding, ContextEngineFacts, Projection};
pub use fingerprint::{DESCRIPTIVE_MEMBERS, Fingerprint, SECRET_MEMBERS};
pub use plugin_policy::{PluginApp, PluginPolicyContext};
