//! What the files of each agent can state, of what the model served.

use traj_tests::agents::{Agent, Tokens};

/// What an agent writes down.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// The name that `traj` gives to its dialect.
    pub(super) dialect: &'static str,
    /// Whether calls keep the ids that the model gave them.
    pub(super) keeps_ids: bool,
    /// Whether the exit code of a command is in its files.
    pub(super) keeps_exit_codes: bool,
    /// Whether a command that fails is a failed call: some agents only print the code.
    pub(super) marks_failures: bool,
    /// Whether it hands work to sub-agents, whose runs `traj` joins.
    pub(super) has_helpers: bool,
    /// Whether the tokens of each model call are in its files.
    pub(super) keeps_tokens: bool,
    /// Whether an interrupted call is in its files.
    pub(super) keeps_unanswered_calls: bool,
    /// Whether a request that the model refused is in its files.
    pub(super) keeps_refusals: bool,
    /// Whether its files say that a summary replaced the conversation.
    pub(super) keeps_compactions: bool,
    /// Whether it asks the model by itself to continue after that.
    pub(super) goes_on: bool,
    /// Whether the tokens of the call that wrote a summary are in its files.
    pub(super) keeps_tokens_of_summaries: bool,
}

impl Expected {
    pub(super) const fn of(agent: Agent) -> Self {
        let everything = Self {
            dialect: "",
            keeps_ids: true,
            keeps_exit_codes: true,
            marks_failures: true,
            has_helpers: true,
            keeps_tokens: true,
            keeps_unanswered_calls: true,
            keeps_refusals: true,
            keeps_compactions: true,
            goes_on: false,
            keeps_tokens_of_summaries: true,
        };
        match agent {
            Agent::ClaudeCode(version) => Self {
                dialect: "claude-code",
                // Older versions store no totals.
                keeps_tokens_of_summaries: matches!(version.as_bytes(), b"2.1.326"),
                ..everything
            },
            Agent::Codex(version) => Self {
                dialect: "codex-rollout",
                // Older ones offer no tool for sub-agents unless they are told to.
                has_helpers: matches!(version.as_bytes(), b"0.169.0"),
                ..everything
            },
            Agent::OpenClaw(_) => Self { dialect: "openclaw", has_helpers: false, ..everything },
            Agent::Copilot(_) => Self { dialect: "copilot", ..everything },
            Agent::GeminiCli(_) => Self {
                dialect: "gemini-cli",
                keeps_ids: false,
                keeps_unanswered_calls: false,
                keeps_refusals: false,
                keeps_compactions: false,
                keeps_tokens_of_summaries: false,
                ..everything
            },
            Agent::OpenCode(_) => Self { dialect: "opencode", goes_on: true, ..everything },
            Agent::Pi(_) => Self {
                dialect: "pi",
                has_helpers: false,
                keeps_tokens_of_summaries: false,
                ..everything
            },
            Agent::QwenCode(_) => Self { dialect: "qwen-code", ..everything },
            Agent::Continue(_) => Self {
                dialect: "continue",
                has_helpers: false,
                keeps_unanswered_calls: false,
                keeps_refusals: false,
                ..everything
            },
            _ => everything,
        }
    }

    /// What of these tokens an agent's files state.
    pub(super) const fn kept(self, agent: Agent, served: Tokens) -> Tokens {
        match agent {
            // Most APIs have no count of tokens written to a cache, and these files none of
            // reasoning.
            Agent::ClaudeCode(_) => Tokens { reasoning: 0, ..served },
            Agent::Pi(_) | Agent::OpenClaw(_) => Tokens { written: 0, reasoning: 0, ..served },
            Agent::Codex(_)
            | Agent::Copilot(_)
            | Agent::OpenCode(_)
            | Agent::QwenCode(_)
            | Agent::GeminiCli(_)
            | Agent::Continue(_) => Tokens { written: 0, ..served },
            _ => served,
        }
    }
}
