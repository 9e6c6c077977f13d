//! The table: one row per program, by name.
//!
//! To add a program, add its row here, its dialect, and its lines in
//! `docs/agents.md`. The tests in `tests.rs` and `tests/it/reading/discovery.rs`
//! need one line each.

use super::place::{AgentPlace, Folder, Named, Variable};
use super::{Agent, AgentFiles, FileKind, IdPlace, PathPattern};

const fn files(pattern: &'static str, id: IdPlace) -> AgentFiles {
    AgentFiles { pattern: PathPattern::new(pattern), kind: FileKind::Session, id }
}

const fn database(pattern: &'static str) -> AgentFiles {
    let pattern = PathPattern::new(pattern);
    AgentFiles { pattern, kind: FileKind::Database, id: IdPlace::Nowhere }
}

const fn registry(pattern: &'static str) -> AgentFiles {
    let pattern = PathPattern::new(pattern);
    AgentFiles { pattern, kind: FileKind::Registry, id: IdPlace::Nowhere }
}

const fn old(pattern: &'static str) -> AgentFiles {
    let pattern = PathPattern::new(pattern);
    AgentFiles { pattern, kind: FileKind::Old, id: IdPlace::Stem }
}

const fn part(pattern: &'static str) -> PathPattern {
    PathPattern::new(pattern)
}

const fn folder(name: &'static str, below: &'static str) -> Variable {
    Variable { name, names: Named::Folder(below) }
}

const fn file(name: &'static str, base: Folder) -> Variable {
    Variable { name, names: Named::File(base) }
}

pub(super) const AGENTS: &[Agent] = &[
    AIDER,
    CLAUDE_CODE,
    CODEX,
    CONTINUE,
    COPILOT,
    CRUSH,
    GEMINI_CLI,
    GOOSE,
    KILO,
    OPENCLAW,
    OPENCODE,
    PI,
    QWEN_CODE,
];

const AIDER: Agent = Agent {
    name: "aider",
    title: "aider",
    aliases: &[],
    places: &[AgentPlace {
        variables: &[file("AIDER_CHAT_HISTORY_FILE", Folder::Workspace)],
        defaults: &[Folder::Workspace],
        files: &[files(".aider.chat.history.md", IdPlace::Nowhere)],
    }],
    parts: &[],
};

const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    title: "Claude Code",
    aliases: &["claude"],
    places: &[AgentPlace {
        variables: &[folder("CLAUDE_CONFIG_DIR", "")],
        defaults: &[Folder::Config("claude"), Folder::Home(".claude")],
        files: &[files("projects/*/*.jsonl", IdPlace::Stem)],
    }],
    parts: &[part("projects/*/agent-*.jsonl"), part("subagents/agent-*.jsonl")],
};

const CODEX: Agent = Agent {
    name: "codex",
    title: "Codex",
    aliases: &[],
    places: &[AgentPlace {
        variables: &[folder("CODEX_HOME", "")],
        defaults: &[Folder::Home(".codex")],
        files: &[
            files("sessions/*/*/*/rollout-*.jsonl", IdPlace::LastUuid),
            files("sessions/*/*/*/rollout-*.jsonl.zst", IdPlace::LastUuid),
            files("archived_sessions/rollout-*.jsonl", IdPlace::LastUuid),
            files("archived_sessions/rollout-*.jsonl.zst", IdPlace::LastUuid),
        ],
    }],
    parts: &[],
};

const CONTINUE: Agent = Agent {
    name: "continue",
    title: "Continue",
    aliases: &["cn"],
    places: &[AgentPlace {
        variables: &[folder("CONTINUE_GLOBAL_DIR", "")],
        defaults: &[Folder::Home(".continue")],
        files: &[files("sessions/*-*.json", IdPlace::Stem)],
    }],
    parts: &[],
};

const COPILOT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    aliases: &["copilot-cli"],
    places: &[AgentPlace {
        variables: &[folder("COPILOT_HOME", "")],
        defaults: &[Folder::Home(".copilot")],
        files: &[files("session-state/*/events.jsonl", IdPlace::Folder)],
    }],
    parts: &[],
};

const CRUSH: Agent = Agent {
    name: "crush",
    title: "Crush",
    aliases: &[],
    places: &[
        AgentPlace {
            variables: &[],
            defaults: &[Folder::Workspace],
            files: &[database(".crush/crush.db")],
        },
        AgentPlace {
            variables: &[folder("CRUSH_GLOBAL_DATA", "")],
            defaults: &[Folder::Data("crush")],
            files: &[registry("projects.json")],
        },
    ],
    parts: &[],
};

const GEMINI_CLI: Agent = Agent {
    name: "gemini-cli",
    title: "Gemini CLI",
    aliases: &["gemini"],
    places: &[AgentPlace {
        variables: &[folder("GEMINI_CLI_HOME", ".gemini")],
        defaults: &[Folder::Home(".gemini")],
        files: &[
            files("tmp/*/chats/session-*.jsonl", IdPlace::Nowhere),
            files("tmp/*/chats/session-*.json", IdPlace::Nowhere),
        ],
    }],
    parts: &[part("chats/*/*.jsonl")],
};

const GOOSE: Agent = Agent {
    name: "goose",
    title: "goose",
    aliases: &[],
    places: &[AgentPlace {
        variables: &[folder("GOOSE_PATH_ROOT", "data/sessions")],
        defaults: &[Folder::Data("goose/sessions"), Folder::Data("Block/goose/sessions")],
        files: &[database("sessions.db"), old("*.jsonl")],
    }],
    parts: &[],
};

const KILO: Agent = Agent {
    name: "kilo",
    title: "Kilo",
    aliases: &["kilocode"],
    places: &[AgentPlace {
        variables: &[file("KILO_DB", Folder::Data("kilo"))],
        defaults: &[Folder::Data("kilo")],
        files: &[database("kilo.db"), database("kilo-*.db")],
    }],
    parts: &[],
};

const OPENCLAW: Agent = Agent {
    name: "openclaw",
    title: "OpenClaw",
    aliases: &[],
    places: &[AgentPlace {
        variables: &[],
        defaults: &[Folder::AgentsOfOpenClaw],
        files: &[
            files("agents/*/sessions/*.jsonl", IdPlace::Stem),
            database("agents/*/agent/openclaw-agent.sqlite"),
        ],
    }],
    parts: &[],
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    title: "opencode",
    aliases: &[],
    places: &[AgentPlace {
        variables: &[file("OPENCODE_DB", Folder::Data("opencode"))],
        defaults: &[Folder::Data("opencode")],
        files: &[
            database("opencode.db"),
            database("opencode-*.db"),
            old("storage/session/*/*.json"),
        ],
    }],
    parts: &[],
};

const PI: Agent = Agent {
    name: "pi",
    title: "pi",
    aliases: &[],
    places: &[
        AgentPlace {
            variables: &[folder("PI_CODING_AGENT_SESSION_DIR", "")],
            defaults: &[],
            files: &[
                files("*_*.jsonl", IdPlace::AfterUnderscore),
                files("--*/*_*.jsonl", IdPlace::AfterUnderscore),
            ],
        },
        AgentPlace {
            variables: &[folder("PI_CODING_AGENT_DIR", "sessions")],
            defaults: &[Folder::Home(".pi/agent/sessions")],
            files: &[
                files("--*/*_*.jsonl", IdPlace::AfterUnderscore),
                files("*_*.jsonl", IdPlace::AfterUnderscore),
            ],
        },
    ],
    parts: &[],
};

const QWEN_CODE: Agent = Agent {
    name: "qwen-code",
    title: "Qwen Code",
    aliases: &["qwen"],
    places: &[AgentPlace {
        variables: &[folder("QWEN_RUNTIME_DIR", ""), folder("QWEN_HOME", "")],
        defaults: &[Folder::Home(".qwen")],
        files: &[files("projects/*/chats/*.jsonl", IdPlace::Stem)],
    }],
    parts: &[part("subagents/*/agent-*.jsonl")],
};
