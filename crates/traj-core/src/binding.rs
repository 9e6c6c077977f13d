//! The binding of a session to a Codex thread: what is remembered, and what follows from it.
//!
//! A binding says which thread holds a session's history and under which terms it was started.
//! [`decide_binding`] compares those terms with what the coming turn wants and says whether the
//! thread may go on. Nothing here talks to Codex or to a disk: the ports are
//! [`ThreadService`](crate::port::ThreadService) and [`BindingStore`](crate::port::BindingStore).
//!
//! In reading order:
//!
//! - `record`: what is remembered of a thread, its stored form, and imports.
//! - `identity`: the terms a thread was started under, as fingerprints.
//! - `decide`: whether a stored thread serves the coming turn, and why not.
//! - `thread` and `turn`: what a thread and a turn are started with.
//! - `conversation`: which messages belong to a bound conversation, and what they may do.
//! - `refusal`: what a refusal of the server means.
//! - `profile`: model families, wordings and limits, as one value.
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
//! assert_eq!(decide_binding(Some(&record), &wanted), BindingDecision::Resume { thread });
//! assert_eq!(decide_binding(None, &wanted), BindingDecision::Start);
//! # Ok::<(), traj_core::id::IdError>(())
//! ```

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

pub use conversation::{
    Claim, ConversationData, ExecAsk, ExecLayer, ExecPolicy, ExecRefusal, ExecSecurity,
    ExecutionFacts, InboundMessage, Permissions, chat_text, claim, effective_permissions,
};
pub use decide::{
    BindingDecision, BundledMcp, ClearDecision, ComponentState, ForeignRecord, RotateReason,
    ToolSurface, TransientReason, WantedPlugins, WantedThread, WantedTools, decide_binding,
    decide_clear, explain, needs_plugin_build,
};
pub use identity::{
    ContextEngineBinding, ContextEngineFacts, DESCRIPTIVE_MEMBERS, Fingerprint, PluginApp,
    PluginPolicyContext, Projection, SECRET_MEMBERS, canonical_text,
};
pub use profile::{BindingProfile, RefusalWordings};
pub use record::{
    BINDING_FORMAT, BINDING_VERSION, BindingOrigin, BindingRecord, Fingerprints, IMPORT_SUFFIX,
    RecordError, StoredBinding, decode_record, encode_cleared, encode_record, import_record,
};
pub use refusal::{OVERLOADED, RefusalKind, ServerText};
pub use thread::{
    ApprovalPolicy, ApprovalsReviewer, CodeMode, CredentialKind, SandboxMode, ServiceTier,
    ThreadConfigRules, resolve_provider, stored_provider, thread_config,
};
pub use turn::{
    TurnBlocks, TurnImage, TurnInput, TurnTrigger, collaboration_mode, developer_instructions,
    reasoning_effort,
};
