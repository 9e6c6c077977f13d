//! What a thread is started with.
//!
//! - `permission`: the words for permission and speed.
//! - `provider`: the model provider that a thread uses.
//! - `config`: the configuration that is sent with a thread.

mod config;
mod permission;
mod provider;

pub use config::{CodeMode, ThreadConfigRules, thread_config};
pub use permission::{ApprovalPolicy, ApprovalsReviewer, SandboxMode, ServiceTier};
pub use provider::{CredentialKind, resolve_provider, stored_provider};
