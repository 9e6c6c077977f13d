//! The binding record: which Codex thread belongs to a session, and the terms it was started under.
//!
//! - `codec`: encodes and decodes a record.
//! - `former`: the threads that the session was bound to before.
//! - `home`: which Codex home the thread is in.
//! - `import`: imports a record that another tool left.

mod codec;
mod former;
mod home;
mod import;

use crate::binding::{
    ApprovalPolicy, ContextEngineBinding, Fingerprint, PluginPolicyContext, SandboxMode,
    ServiceTier,
};
use crate::id::ThreadId;
use crate::json::Object;
use crate::timestamp::UnixMillis;

pub use codec::{
    BINDING_FORMAT, BINDING_VERSION, RecordError, StoredBinding, decode_record, encode_cleared,
    encode_record,
};
pub use former::{FormerReason, FormerThread, MOST_FORMER_THREADS};
pub use home::HomeComparison;
pub use import::{IMPORT_SUFFIX, import_record};

/// Everything that is stored about a bound thread.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BindingRecord {
    /// The thread.
    pub thread: ThreadId,
    /// How the record was created.
    pub origin: BindingOrigin,
    /// The working directory of the thread.
    pub cwd: String,
    /// The credential profile, by name.
    pub auth_profile: Option<String>,
    /// The model that was asked for, else the one that the server chose.
    pub model: Option<String>,
    /// The model provider, unless it is Codex's own.
    pub model_provider: Option<String>,
    /// The approval policy chosen for this binding.
    pub approval_policy: Option<ApprovalPolicy>,
    /// The sandbox chosen for this binding.
    pub sandbox: Option<SandboxMode>,
    /// The service tier chosen for this binding.
    pub service_tier: Option<ServiceTier>,
    /// What the thread was started with, hashed.
    pub fingerprints: Fingerprints,
    /// Whether any tool in the catalogue is loaded on demand.
    pub tools_contain_deferred: Option<bool>,
    /// Keeps hooks that are built into the thread valid after the host restarts.
    pub hook_relay_generation: Option<String>,
    /// The plugin policy of the thread.
    pub plugin_policy: Option<PluginPolicyContext>,
    /// The context engine of the thread.
    pub context_engine: Option<ContextEngineBinding>,
    /// The Codex home that the thread is in, as the server stated it.
    pub codex_home: Option<String>,
    /// Where Codex keeps the thread, as Codex reports it.
    pub rollout_path: Option<String>,
    /// Turns that ended under this binding, as far as is known.
    pub turns: u64,
    /// Messages up to this time are part of the thread.
    pub history_covered_through: Option<UnixMillis>,
    /// The threads that the session was bound to before, newest last.
    pub former_threads: Vec<FormerThread>,
    /// When the thread was bound.
    pub created_at: UnixMillis,
    /// When the record was last written.
    pub updated_at: UnixMillis,
    /// Members unknown to this version; they are written back unchanged.
    pub unknown: Object<'static>,
}

/// How a record was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindingOrigin {
    /// The thread was started or resumed here: its fingerprints are complete.
    Started,
    /// The thread was attached by hand and its fingerprints are unknown: the next resume accepts it
    /// as it is and records them.
    Attached,
    /// The record was imported from another tool's file.
    Imported,
}

/// One hash per component of a thread's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fingerprints {
    /// The tools that the host offers.
    pub dynamic_tools: Option<Fingerprint>,
    /// Whether the catalogue was empty, which a hash does not show.
    pub tools_were_empty: bool,
    /// MCP servers of the user's configuration.
    pub user_mcp: Option<Fingerprint>,
    /// MCP servers that the host provides.
    pub bundled_mcp: Option<Fingerprint>,
    /// The execution environments chosen for the thread.
    pub environment: Option<Fingerprint>,
    /// The plugin policy before apps were looked up.
    pub plugin_input: Option<Fingerprint>,
    /// The apps that result from the policy.
    pub plugin_apps: Option<Fingerprint>,
}

impl BindingRecord {
    /// A record of a thread that is bound now, with all other fields unset.
    #[must_use]
    pub fn new(thread: ThreadId, cwd: &str, origin: BindingOrigin, now: UnixMillis) -> Self {
        Self {
            thread,
            origin,
            cwd: cwd.to_owned(),
            auth_profile: None,
            model: None,
            model_provider: None,
            approval_policy: None,
            sandbox: None,
            service_tier: None,
            fingerprints: Fingerprints::default(),
            tools_contain_deferred: None,
            hook_relay_generation: None,
            plugin_policy: None,
            context_engine: None,
            codex_home: None,
            rollout_path: None,
            turns: 0,
            history_covered_through: None,
            former_threads: Vec::new(),
            created_at: now,
            updated_at: now,
            unknown: Object::new(),
        }
    }
}
