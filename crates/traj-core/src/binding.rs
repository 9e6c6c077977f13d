//! The binding of a session to a Codex thread: what is remembered, and what follows from it.
//!
//! A binding says which thread holds a session's history and under which terms it was started.
//! [`decide`] compares those terms with what the coming turn wants and says whether the thread may
//! go on. Nothing here talks to Codex or to a disk: the ports are
//! [`ThreadService`](crate::port::ThreadService) and [`BindingStore`](crate::port::BindingStore).
//!
//! ```
//! use traj_core::binding::{BindingOrigin, BindingRecord, BindingDecision, WantedThread, decide_binding};
//! use traj_core::id::ThreadId;
//! use traj_core::timestamp::UnixMillis;
//!
//! let thread = ThreadId::parse("0199a213-81c0-7800-8aa1-bbab2a035a53")?;
//! let record = BindingRecord::new(thread.clone(), "/work", BindingOrigin::Attached, UnixMillis::EPOCH);
//! assert_eq!(decide_binding(Some(&record), &WantedThread::plain()), BindingDecision::Resume { thread });
//! assert_eq!(decide_binding(None, &WantedThread::plain()), BindingDecision::Start);
//! # Ok::<(), traj_core::id::IdError>(())
//! ```

mod canonical;
mod codec;
mod context_engine;
mod conversation;
mod decide;
mod display;
mod effort;
mod exec_policy;
mod explain;
mod fingerprint;
mod image;
mod import;
mod instructions;
mod plugin_policy;
mod profile;
mod provider;
mod record;
mod refusal;
mod settings;
mod thread_config;
mod turn_input;
mod wanted;

#[cfg(test)]
mod tests;

pub use canonical::canonical_text;
pub use codec::{
    BINDING_FORMAT, BINDING_VERSION, RecordError, StoredBinding, decode_record, encode_cleared,
    encode_record,
};
pub use context_engine::{ContextEngineBinding, ContextEngineFacts, Projection};
pub use conversation::{Claim, ConversationData, ExecutionFacts, InboundMessage, claim};
pub use decide::{
    BindingDecision, RotateReason, TransientReason, decide_binding, needs_plugin_build,
};
pub use display::chat_text;
pub use effort::reasoning_effort;
pub use exec_policy::{
    ExecAsk, ExecLayer, ExecPolicy, ExecRefusal, ExecSecurity, Permissions, effective_permissions,
};
pub use explain::{ComponentState, explain};
pub use fingerprint::{DESCRIPTIVE_MEMBERS, Fingerprint, SECRET_MEMBERS};

pub use import::{IMPORT_SUFFIX, import_record};
pub use instructions::{TurnBlocks, TurnTrigger, collaboration_mode, developer_instructions};
pub use plugin_policy::{PluginApp, PluginPolicyContext};
pub use profile::{BindingProfile, RefusalWordings};
pub use provider::{CredentialKind, resolve_provider, stored_provider};
pub use record::{BindingOrigin, BindingRecord, Fingerprints};
pub use refusal::{OVERLOADED, RefusalKind, ServerText};
pub use settings::{ApprovalPolicy, ApprovalsReviewer, SandboxMode, ServiceTier};
pub use thread_config::{CodeMode, ThreadConfigRules, thread_config};
pub use turn_input::{TurnImage, TurnInput};
pub use wanted::{BundledMcp, ToolSurface, WantedPlugins, WantedThread, WantedTools};
