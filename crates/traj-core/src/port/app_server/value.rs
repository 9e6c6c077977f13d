//! What goes to the app-server and what comes back.

use std::fmt;

use crate::binding::{ApprovalPolicy, ApprovalsReviewer, SandboxMode, ServiceTier};
use crate::id::ThreadId;
use crate::json::{Json, Object};

/// Settings that a thread takes when it is started or loaded.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ThreadSettings {
    /// The model.
    pub model: Option<String>,
    /// The provider; none for Codex's own.
    pub model_provider: Option<String>,
    /// When Codex asks.
    pub approval_policy: Option<ApprovalPolicy>,
    /// Who answers.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// What Codex may touch.
    pub sandbox: Option<SandboxMode>,
    /// The service tier.
    pub service_tier: Option<ServiceTier>,
    /// Configuration that overrides the server's own. It may hold secrets: it goes to the server
    /// and nowhere else.
    pub config: Object<'static>,
    /// Describes the host to the model.
    pub developer_instructions: Option<String>,
}

impl fmt::Debug for ThreadSettings {
    /// Configuration is shown by name, instructions by length: both are not for logs.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config: Vec<&str> = self.config.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("ThreadSettings")
            .field("model", &self.model)
            .field("model_provider", &self.model_provider)
            .field("approval_policy", &self.approval_policy)
            .field("approvals_reviewer", &self.approvals_reviewer)
            .field("sandbox", &self.sandbox)
            .field("service_tier", &self.service_tier)
            .field("config", &config)
            .field("developer_instructions", &self.developer_instructions.as_ref().map(String::len))
            .finish()
    }
}

/// A thread to start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StartThread {
    /// Where the thread works.
    pub cwd: String,
    /// Settings.
    pub settings: ThreadSettings,
    /// The name of the host.
    pub service_name: Option<String>,
    /// Tools of the host.
    pub dynamic_tools: Vec<Json<'static>>,
    /// Execution environments; an empty list switches Codex's own tools off.
    pub environments: Option<Vec<Json<'static>>>,
}

impl StartThread {
    /// A thread without tools.
    #[must_use]
    pub const fn new(cwd: String, settings: ThreadSettings) -> Self {
        Self { cwd, settings, service_name: None, dynamic_tools: Vec::new(), environments: None }
    }
}

/// A thread to load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResumeThread {
    /// The thread.
    pub thread: ThreadId,
    /// Settings; a thread that is loaded already keeps its own.
    pub settings: ThreadSettings,
}

impl ResumeThread {
    /// A thread with its settings.
    #[must_use]
    pub const fn new(thread: ThreadId, settings: ThreadSettings) -> Self {
        Self { thread, settings }
    }
}

/// A thread that was started or loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenedThread {
    /// The thread.
    pub thread: ThreadId,
    /// Where it works.
    pub cwd: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Its provider.
    pub model_provider: Option<String>,
    /// The file Codex keeps it in.
    pub rollout_path: Option<String>,
}

impl OpenedThread {
    /// A thread of which only the id is known.
    #[must_use]
    pub const fn new(thread: ThreadId) -> Self {
        Self { thread, cwd: None, model: None, model_provider: None, rollout_path: None }
    }
}

/// What is known of a thread without loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadSummary {
    /// The thread.
    pub thread: ThreadId,
    /// How many turns it has; `None` if the server does not state it.
    pub turns: Option<u64>,
    /// Whether it is loaded in this server process.
    pub is_loaded: bool,
    /// The file Codex keeps it in.
    pub rollout_path: Option<String>,
}

impl ThreadSummary {
    /// A thread that is not loaded and of which nothing else is known.
    #[must_use]
    pub const fn new(thread: ThreadId) -> Self {
        Self { thread, turns: None, is_loaded: false, rollout_path: None }
    }
}

/// A turn to start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StartTurn {
    /// The thread.
    pub thread: ThreadId,
    /// The text and images.
    pub input: Vec<Json<'static>>,
    /// Where the turn works.
    pub cwd: Option<String>,
    /// When Codex asks.
    pub approval_policy: Option<ApprovalPolicy>,
    /// Who answers.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// What Codex may touch.
    pub sandbox: Option<SandboxMode>,
    /// The model.
    pub model: Option<String>,
    /// The service tier.
    pub service_tier: Option<ServiceTier>,
    /// How much to think; `Some(None)` takes an earlier choice back.
    pub effort: Option<Option<String>>,
    /// Mode and turn-scoped instructions.
    pub collaboration_mode: Option<Json<'static>>,
    /// Execution environments.
    pub environments: Option<Vec<Json<'static>>>,
}

impl StartTurn {
    /// A turn with the thread's own settings.
    #[must_use]
    pub const fn new(thread: ThreadId, input: Vec<Json<'static>>) -> Self {
        Self {
            thread,
            input,
            cwd: None,
            approval_policy: None,
            approvals_reviewer: None,
            sandbox: None,
            model: None,
            service_tier: None,
            effort: None,
            collaboration_mode: None,
            environments: None,
        }
    }
}
