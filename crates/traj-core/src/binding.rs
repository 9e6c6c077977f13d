//! The binding of a session to a Codex thread: what is stored, and what follows from it.
//!
//! A binding says which thread holds a session's history and under which terms it was started.
//! [`decide_binding`] compares those terms with what the next turn wants and decides whether the
//! thread can be resumed. Nothing here talks to Codex or to a disk: the ports are
//! [`ThreadService`](crate::port::ThreadService) and [`BindingStore`](crate::port::BindingStore).
//!
//! In reading order:
//!
//! - `record`: what is stored about a thread, its encoding, and imports.
//! - `identity`: the terms that a thread was started under, as fingerprints.
//! - `decide`: whether a stored thread suits the next turn, and if not, why.
//! - `carry`: what a new thread inherits from the history of its predecessor.
//! - `thread` and `turn`: what is sent when a thread or a turn starts.
//! - `conversation`: which messages belong to a bound conversation, and what they may do.
//! - `refusal`: what an error from the server means.
//! - `profile`: model families, error wordings and limits, in one value.
//!
//! ```
//! use traj_core::binding::{
//!     BindingDecision, BindingOrigin, BindingRecord, WantedThread, decide_binding,
//! };
//! use traj_core::id::ThreadId;
//! use traj_core::timestamp::UnixMillis;
//!
//! let thread = ThreadId::parse("0199a213-81c0-7800-8aa1-bbab2a035a53")?;
//! let record = BindingRecord::new(thread.clone(), "/work", BindingOrigin::Attached, UnixMillis::EPOCH);
//! let wanted = WantedThread::plain();
//! let resume = BindingDecision::Resume { thread, tolerated: vec![] };
//! assert_eq!(decide_binding(Some(&record), &wanted), resume);
//! assert_eq!(decide_binding(None, &wanted), BindingDecision::Start);
//! # Ok::<(), traj_core::id::IdError>(())
//! ```

mod carry;
mod conversation;
mod decide;
mod identity;
mod profile;
mod record;
mod refusal;
mod thread;
mod turn;

#[cfg(test)]
mod tests;

pub use carry::{CarryOver, PastMessage, Speaker, carried_messages};
pub use conversation::{
    ConversationData, ExecAsk, ExecLayer, ExecPolicy, ExecRefusal, ExecSecurity, ExecutionFacts,
    InboundMessage, MessageClaim, MessageSender, NodeRuntime, Permissions, chat_text,
    claim_message, effective_permissions,
};
pub use decide::{
    BindingDecision, BundledMcp, ChangePolicy, ClearDecision, ComponentState, ForeignRecord,
    RotateReason, RotationPolicy, ToolSurface, TransientReason, WantedPlugins, WantedThread,
    WantedTools, decide_binding, decide_clear, explain, needs_plugin_build,
};
pub use identity::{
    ContextEngineBinding, ContextEngineFacts, DESCRIPTIVE_MEMBERS, Fingerprint, PluginApp,
    PluginPolicyContext, Projection, SECRET_MEMBERS, canonical_text,
};
pub use profile::{BindingProfile, RefusalWordings};
pub use record::{
    BINDING_FORMAT, BINDING_VERSION, BindingOrigin, BindingRecord, Fingerprints, FormerReason,
    FormerThread, HomeComparison, IMPORT_SUFFIX, MOST_FORMER_THREADS, RecordError, StoredBinding,
    decode_record, encode_cleared, encode_record, import_record,
};
pub use refusal::{OVERLOADED, RefusalKind, ServerText};
pub use thread::{
    ApprovalPolicy, ApprovalsReviewer, CodeMode, CredentialKind, GranularApproval, SandboxMode,
    ServiceTier, ThreadConfigRules, mcp_servers_of, resolve_provider, stored_provider,
    thread_config,
};
pub use turn::{
    BOUND_THREAD_INSTRUCTIONS, CollaborationMode, InputItem, TurnBlocks, TurnImage, TurnInput,
    TurnMode, TurnTrigger, decide_turn_mode, developer_instructions, reasoning_effort,
    turn_instructions,
};
