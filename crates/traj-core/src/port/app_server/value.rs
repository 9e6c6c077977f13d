//! Parameters and results of app-server calls.

use std::fmt;

use crate::binding::{
    ApprovalPolicy, ApprovalsReviewer, CollaborationMode, InputItem, SandboxMode, ServiceTier,
};
use crate::id::ThreadId;
use crate::json::{Json, Object};

/// Settings of a thread that is started or loaded.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ThreadSettings {
    /// The model.
    pub model: Option<String>,
    /// The model provider; `None` for Codex's own.
    pub model_provider: Option<String>,
    /// When Codex asks for approval.
    pub approval_policy: Option<ApprovalPolicy>,
    /// Who answers approval requests.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// What commands may touch.
    pub sandbox: Option<SandboxMode>,
    /// The service tier.
    pub service_tier: Option<ServiceTier>,
    /// Configuration that overrides the server's own. It may contain secrets, so it is sent only to
    /// the server.
    pub config: Object<'static>,
    /// Instructions that describe the host to the model.
    pub developer_instructions: Option<String>,
}

impl fmt::Debug for ThreadSettings {
    /// Shows only the names of the configuration and the length of the instructions: neither
    /// belongs in a log.
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
    /// The working directory.
    pub cwd: String,
    /// Settings.
    pub settings: ThreadSettings,
    /// The name of the host.
    pub service_name: Option<String>,
    /// Tools of the host.
    pub dynamic_tools: Vec<Json<'static>>,
    /// Execution environments; an empty list disables Codex's own tools.
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
    /// The settings; ignored if the thread is already loaded.
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
    /// Its working directory.
    pub cwd: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Its provider.
    pub model_provider: Option<String>,
    /// The file that Codex stores it in.
    pub rollout_path: Option<String>,
    /// Its reasoning effort; the outer `None` if the server does not report it, the inner one if the
    /// model chooses.
    pub effort: Option<Option<String>>,
}

impl OpenedThread {
    /// A thread of which only the id is known.
    #[must_use]
    pub const fn new(thread: ThreadId) -> Self {
        Self {
            thread,
            cwd: None,
            model: None,
            model_provider: None,
            rollout_path: None,
            effort: None,
        }
    }
}

/// What is known about a thread without loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadSummary {
    /// The thread.
    pub thread: ThreadId,
    /// The number of turns; `None` if the server does not report it.
    pub turns: Option<u64>,
    /// Whether it is loaded in this server process.
    pub is_loaded: bool,
    /// The file that Codex stores it in.
    pub rollout_path: Option<String>,
}

impl ThreadSummary {
    /// A thread that is not loaded, with nothing else known.
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
    pub input: Vec<InputItem>,
    /// The working directory.
    pub cwd: Option<String>,
    /// When Codex asks for approval.
    pub approval_policy: Option<ApprovalPolicy>,
    /// Who answers approval requests.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// What commands may touch.
    pub sandbox: Option<SandboxMode>,
    /// The model.
    pub model: Option<String>,
    /// The service tier.
    pub service_tier: Option<ServiceTier>,
    /// The reasoning effort; `Some(None)` resets an earlier choice.
    pub effort: Option<Option<String>>,
    /// The mode and instructions for this turn.
    pub collaboration_mode: Option<CollaborationMode>,
    /// Execution environments.
    pub environments: Option<Vec<Json<'static>>>,
}

impl StartTurn {
    /// A turn with the thread's own settings.
    #[must_use]
    pub const fn new(thread: ThreadId, input: Vec<InputItem>) -> Self {
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
