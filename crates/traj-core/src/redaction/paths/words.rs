//! Account and host names that are common words and are not replaced.

/// Account names that are common words and do not identify a person.
const COMMON_USERS: &[&str] = &[
    "root",
    "user",
    "admin",
    "ubuntu",
    "debian",
    "node",
    "app",
    "dev",
    "test",
    "runner",
    "nobody",
    "guest",
    "home",
    "git",
    "deploy",
    "vagrant",
    "docker",
    "localhost",
    "host",
    "server",
    "build",
    "ci",
];

/// Words in the files that traj writes: replacing them would make the files
/// unreadable.
#[rustfmt::skip]
const OWN_WORDS: &[&str] = &[
    "agent", "application", "artifacts", "assistant", "audio", "bash", "branch", "bundle",
    "call", "charset", "codex", "compaction", "completed", "content", "context", "custom",
    "data", "ended", "entries", "entry", "error", "event", "events", "generated",
    "header", "image", "input", "json", "label", "leaf", "main", "manifest",
    "message", "messages", "metadata", "model", "name", "openclaw", "output", "path",
    "plain", "prompt", "prompting", "prompts", "read", "redacted", "redaction", "result",
    "role", "rule", "run", "runtime", "schema", "session", "sessions", "sha256",
    "shell", "skill", "skills", "source", "started", "state", "store", "submitted",
    "system", "text", "tokens", "tool", "tools", "trace", "traj", "trajectory",
    "transcript", "turn", "type", "usage", "utf", "value", "version", "warning",
    "workspace", "write",
];

/// Whether a name is one of these words, ignoring case.
pub(super) fn is_word(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    COMMON_USERS.contains(&name.as_str()) || OWN_WORDS.contains(&name.as_str())
}
