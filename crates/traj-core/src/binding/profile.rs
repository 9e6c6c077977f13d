//! Model families, error wordings and limits that would otherwise be
//! hard-coded.

use std::time::Duration;

/// Rules that vary with the Codex release and the host.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BindingProfile {
    /// Models that accept `low` instead of `minimal`; in lower case.
    pub modern_models: Vec<String>,
    /// Error wordings of the server; matched case-insensitively.
    pub wordings: RefusalWordings,
    /// How long a turn may take before it is interrupted.
    pub turn_timeout: Duration,
    /// How long to wait for an interrupted turn to confirm.
    pub interrupt_timeout: Duration,
    /// How long a tool of the host may take.
    pub tool_timeout: Duration,
    /// How many messages may wait per conversation before new ones are refused.
    pub queue_limit: usize,
    /// How many notifications to keep per turn before its id is known.
    pub early_notifications: usize,
    /// The reply to a turn that ends without text.
    pub empty_reply: String,
    /// The host's service name, as sent to threads.
    pub service_name: String,
}

impl BindingProfile {
    /// The rules of current Codex releases.
    #[must_use]
    pub fn standard() -> Self {
        let modern = ["gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex-spark", "gpt-5.2"];
        Self {
            modern_models: modern.map(str::to_owned).to_vec(),
            wordings: RefusalWordings::standard(),
            turn_timeout: Duration::from_secs(20 * 60),
            interrupt_timeout: Duration::from_secs(5),
            tool_timeout: Duration::from_secs(600),
            queue_limit: 64,
            early_notifications: 256,
            empty_reply: "Codex completed without a text reply.".to_owned(),
            service_name: "traj".to_owned(),
        }
    }
}

/// Fragments of error messages, by meaning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RefusalWordings {
    /// No data of the thread is left on disk.
    pub gone: Vec<String>,
    /// The thread is not loaded in this process, but may exist.
    pub not_loaded: Vec<String>,
    /// The thread is archived.
    pub archived: Vec<String>,
    /// Another process is writing to the thread.
    pub open_elsewhere: Vec<String>,
    /// The thread's data on disk is unreadable.
    pub damaged: Vec<String>,
    /// The string is not a thread id.
    pub invalid_id: Vec<String>,
    /// The server does not know the method.
    pub unsupported: Vec<String>,
    /// There is no turn to steer or interrupt.
    pub no_active_turn: Vec<String>,
    /// The client did not enable the experimental API.
    pub experimental_off: Vec<String>,
}

impl RefusalWordings {
    /// The wordings of Codex 0.135 to 0.166.
    #[must_use]
    pub fn standard() -> Self {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            gone: list(&["no rollout found for thread id"]),
            not_loaded: list(&["thread not found:", "thread not loaded:"]),
            archived: list(&[" is archived"]),
            open_elsewhere: list(&["already has an active writer"]),
            damaged: list(&["rollout", "history lineage"]),
            invalid_id: list(&["invalid thread id:", "invalid session id:"]),
            unsupported: list(&["unknown variant", "method not found"]),
            no_active_turn: list(&["no active turn to", "expected active turn id"]),
            experimental_off: list(&["requires experimentalapi capability"]),
        }
    }
}
