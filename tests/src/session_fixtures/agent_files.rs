//! Files of other agents, from `tests/fixtures`. Between them they have every row
//! type that a dialect knows from the program itself.

/// A file of another agent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentFile {
    /// Its directory and name.
    pub name: &'static str,
    /// The name of its dialect.
    pub dialect: &'static str,
    /// Its content.
    pub content: &'static str,
}

macro_rules! files {
    ($($dialect:literal $name:literal),* $(,)?) => {
        &[$(AgentFile {
            name: $name,
            dialect: $dialect,
            content: include_str!(concat!("../../fixtures/", $name, ".jsonl")),
        }),*]
    };
}

/// Every file.
pub const AGENT_FILES: &[AgentFile] = files![
    "copilot" "copilot/session",
    "copilot" "copilot/old",
    "pi" "pi/session",
    "qwen-code" "qwen-code/session",
    "qwen-code" "qwen-code/old",
    "qwen-code" "qwen-code/sub-agent",
    "codex-rollout" "rollouts/new-kinds",
    "crush" "crush/session",
    "goose" "goose/session",
    "opencode" "opencode/session",
    "gemini-cli" "gemini-cli/rows",
    "gemini-cli" "gemini-cli/rewound",
    "continue" "continue/rows",
    "aider" "aider/rows",
];
