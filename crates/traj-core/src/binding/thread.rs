//! What is sent when a thread starts.
//!
//! - `approval`: when Codex asks, and who answers.
//! - `permission`: sandbox modes and service tiers.
//! - `provider`: the model provider that a thread uses.
//! - `config`: the configuration that is sent with a thread.
//! - `mcp_servers`: the user's MCP servers that an agent may use.

mod approval;
mod config;
mod mcp_servers;
mod permission;
mod provider;

pub use approval::{ApprovalPolicy, ApprovalsReviewer, GranularApproval};
pub use config::{CodeMode, ThreadConfigRules, thread_config};
pub use mcp_servers::mcp_servers_of;
pub use permission::{SandboxMode, ServiceTier};
pub use provider::{CredentialKind, resolve_provider, stored_provider};
