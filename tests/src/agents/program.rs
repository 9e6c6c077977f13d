//! How to start each agent, and where it writes its sessions.

mod arguments;
mod node;
mod paths;

use std::path::{Path, PathBuf};

use serde_json::json;

use super::sandbox::{AgentSandbox, Step};
use crate::host::pinned;
use node::installed;
use paths::files_below;

/// A program and its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Invocation {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables in addition to the sandbox's own.
    pub environment: Vec<(String, String)>,
}

/// An agent, in one of the pinned versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Agent {
    /// Claude Code.
    ClaudeCode(&'static str),
    /// GitHub Copilot CLI.
    Copilot(&'static str),
    /// Gemini CLI.
    GeminiCli(&'static str),
    /// opencode.
    OpenCode(&'static str),
    /// pi.
    Pi(&'static str),
    /// Qwen Code.
    QwenCode(&'static str),
    /// Continue.
    Continue(&'static str),
    /// Codex.
    Codex(&'static str),
    /// OpenClaw.
    OpenClaw(&'static str),
}

/// The model's name for agents that let their user choose one.
const MODEL: &str = "scripted";

/// How many tokens a conversation may have, not counting those that are kept free for answers:
/// more than any script needs, or fewer than the first script needs.
const WIDE: u64 = 200_000;
const NARROW: u64 = 12_000;

/// The same for Gemini CLI, as a fraction of its model's context.
const USUAL_PART: f64 = 0.5;
const NARROW_PART: f64 = 0.0001;

impl Agent {
    /// The name of its pins.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode(_) => "claude-code",
            Self::Copilot(_) => "copilot",
            Self::GeminiCli(_) => "gemini-cli",
            Self::OpenCode(_) => "opencode",
            Self::Pi(_) => "pi",
            Self::QwenCode(_) => "qwen-code",
            Self::Continue(_) => "continue",
            Self::Codex(_) => "codex",
            Self::OpenClaw(_) => "openclaw",
        }
    }

    const fn version(self) -> &'static str {
        match self {
            Self::ClaudeCode(version)
            | Self::Copilot(version)
            | Self::GeminiCli(version)
            | Self::OpenCode(version)
            | Self::Pi(version)
            | Self::QwenCode(version)
            | Self::Continue(version)
            | Self::Codex(version)
            | Self::OpenClaw(version) => version,
        }
    }

    /// The name of its general sub-agent.
    pub(super) const fn helper(self) -> &'static str {
        match self {
            Self::OpenCode(_) => "general",
            Self::GeminiCli(_) => "generalist",
            Self::Codex(_) => "default",
            _ => "general-purpose",
        }
    }

    /// The executable; `None` if this version is not installed.
    #[must_use]
    pub fn program(self) -> Option<PathBuf> {
        match self {
            // Other tests run it too.
            Self::Codex(version) => pinned::installed(self.name(), version),
            _ => installed(self.name(), self.version()),
        }
    }

    /// The directory of the newer Node.js that some agents need.
    pub(super) fn node(self) -> Option<PathBuf> {
        let node = installed("node", node::VERSION)?;
        node.parent().map(Path::to_path_buf)
    }

    /// Writes the agent's configuration into its home.
    pub(super) fn configure(self, sandbox: &AgentSandbox) {
        let url = sandbox.model.url();
        let write = |file: &str, text: &str| sandbox.write(Path::new(file), text);
        match self {
            Self::ClaudeCode(_) | Self::Copilot(_) => {}
            Self::QwenCode(_) => write(
                "home/.qwen/settings.json",
                &json!({
                    "security": {"auth": {"selectedType": "openai"}},
                    "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
                    "privacy": {"usageStatisticsEnabled": false},
                })
                .to_string(),
            ),
            Self::GeminiCli(_) | Self::OpenCode(_) | Self::Pi(_) => {
                self.set_window(sandbox, WIDE);
            }
            Self::Codex(_) => write("home/.codex/config.toml", &codex(&url)),
            Self::OpenClaw(_) => {
                write("home/.openclaw/openclaw.json", &open_claw(&url, &sandbox.workspace()));
            }
            Self::Continue(_) => write(
                "home/.continue/config.yaml",
                &format!(
                    "name: loopback\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: {MODEL}\n    \
                     provider: openai\n    model: {MODEL}\n    apiKey: scripted\n    apiBase: {url}/v1\n    \
                     useResponsesApi: false\n    roles: [chat, edit, apply]\n    capabilities: [tool_use]\n"
                ),
            ),
        }
    }

    /// Configures the maximum length of a conversation, for agents that replace a longer one by
    /// a summary before the next prompt.
    fn set_window(self, sandbox: &AgentSandbox, window: u64) {
        let url = sandbox.model.url();
        let write = |file: &str, text: &str| sandbox.write(Path::new(file), text);
        match self {
            Self::OpenCode(_) => write("work/opencode.json", &open_code(&url, window)),
            Self::Pi(_) => {
                write("home/.pi/agent/models.json", &pi(&url, window));
                // Otherwise it keeps more than the whole conversation.
                let kept = json!({"compaction": {"keepRecentTokens": 1}});
                write("home/.pi/agent/settings.json", &kept.to_string());
            }
            Self::GeminiCli(_) => {
                let part = if window == NARROW { NARROW_PART } else { USUAL_PART };
                write("home/.gemini/settings.json", &gemini_cli(part));
            }
            _ => {}
        }
    }

    /// How to run a step; `None` if the agent does not support it.
    pub(super) fn invocation(self, sandbox: &AgentSandbox, step: Step) -> Option<Invocation> {
        let url = sandbox.model.url();
        let v1 = format!("{url}/v1");
        self.set_window(sandbox, if step == Step::Compact { NARROW } else { WIDE });
        let (arguments, environment) = arguments::of(self, step, &url, &v1)?;
        let owned = |text: &str| text.to_owned();
        let mut all: Vec<String> = self.always(sandbox);
        all.extend(arguments.into_iter().map(owned));
        Some(Invocation {
            program: self.program()?,
            arguments: all,
            environment: environment
                .iter()
                .map(|(name, value)| (owned(name), owned(value)))
                .collect(),
        })
    }

    /// The arguments of every step.
    fn always(self, sandbox: &AgentSandbox) -> Vec<String> {
        let arguments: &[&str] = match self {
            Self::ClaudeCode(_) => &[
                "-p",
                "--dangerously-skip-permissions",
                "--output-format",
                "stream-json",
                "--verbose",
                "--model",
                "claude-sonnet-4-5",
            ],
            Self::Copilot(_) => &["--allow-all-tools", "--allow-all-paths"],
            Self::GeminiCli(_) => {
                &["-y", "--skip-trust", "-m", "gemini-2.5-pro", "-o", "stream-json"]
            }
            Self::OpenCode(_) => &["run", "--format", "json", "--auto", "-m", "loopback/scripted"],
            Self::Pi(_) => &[
                "-p",
                "--provider",
                "loopback",
                "--model",
                MODEL,
                "--thinking",
                "low",
                "--mode",
                "json",
            ],
            Self::Codex(_) => &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
            ],
            Self::OpenClaw(_) => &["agent", "--local", "--agent", "main", "--json"],
            Self::QwenCode(_) => &["-y", "-o", "stream-json", "--auth-type", "openai"],
            Self::Continue(_) => {
                let file = sandbox.home().join(".continue/config.yaml");
                let file = file.to_string_lossy().into_owned();
                return vec!["-p".into(), "--auto".into(), "--config".into(), file];
            }
        };
        arguments.iter().map(|argument| (*argument).to_owned()).collect()
    }

    /// The sessions that the agent wrote, oldest first. Sub-agents' files are not sessions.
    pub(super) fn sessions(self, sandbox: &AgentSandbox) -> Vec<PathBuf> {
        let home = sandbox.home();
        let (folder, depth, is_session): (&str, usize, fn(&str) -> bool) = match self {
            Self::ClaudeCode(_) => (".claude/projects", 2, |name| {
                name.ends_with(".jsonl") && !name.starts_with("agent-")
            }),
            Self::Copilot(_) => (".copilot/session-state", 2, |name| name == "events.jsonl"),
            Self::GeminiCli(_) => {
                (".gemini/tmp", 3, |name| name.starts_with("session-") && name.ends_with(".jsonl"))
            }
            Self::OpenCode(_) => (".local/share/opencode", 1, |name| name == "opencode.db"),
            Self::Pi(_) => (".pi/agent/sessions", 2, |name| name.ends_with(".jsonl")),
            Self::QwenCode(_) => (".qwen/projects", 3, |name| {
                name.ends_with(".jsonl")
                    && name.len() == "00000000-0000-0000-0000-000000000000.jsonl".len()
            }),
            Self::Codex(_) => (".codex/sessions", 4, |name| name.starts_with("rollout-")),
            Self::OpenClaw(_) => (".openclaw/agents", 3, |name| name == "openclaw-agent.sqlite"),
            Self::Continue(_) => {
                (".continue/sessions", 1, |name| name.ends_with(".json") && name != "sessions.json")
            }
        };
        files_below(&home.join(folder), depth, is_session)
    }
}

fn codex(url: &str) -> String {
    format!(
        "model = \"{MODEL}\"\nmodel_provider = \"loopback\"\n\
         model_reasoning_summary = \"detailed\"\n\
         [model_providers.loopback]\nname = \"loopback\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n"
    )
}

fn open_claw(url: &str, workspace: &Path) -> String {
    let model = json!({
        "id": MODEL, "name": MODEL, "reasoning": true, "input": ["text"],
        "cost": {"input": 1.5, "output": 9, "cacheRead": 0.25, "cacheWrite": 0},
        "contextWindow": 200_000, "maxTokens": 8192,
    });
    json!({
        "models": {"mode": "replace", "providers": {"loopback": {
            "baseUrl": format!("{url}/v1"), "apiKey": "scripted", "api": "openai-completions",
            "models": [model],
        }}},
        "agents": {"defaults": {
            "model": {"primary": format!("loopback/{MODEL}")},
            "workspace": workspace.to_string_lossy(), "skipBootstrap": true,
        }},
    })
    .to_string()
}

fn gemini_cli(part: f64) -> String {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": true},
        "model": {"compressionThreshold": part},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    })
    .to_string()
}

fn pi(url: &str, window: u64) -> String {
    // It keeps twice as much free as opencode.
    let window = if window == NARROW { window + 8_000 } else { window };
    json!({"providers": {"loopback": {
        "baseUrl": format!("{url}/v1"), "apiKey": "scripted",
        "api": "openai-completions", "models": [{
            "id": MODEL, "name": MODEL, "reasoning": true, "input": ["text"],
            "cost": {"input": 1.5, "output": 9, "cacheRead": 0.25, "cacheWrite": 0},
            "contextWindow": window, "maxTokens": 8192,
        }],
    }}})
    .to_string()
}

fn open_code(url: &str, window: u64) -> String {
    let model = json!({
        "name": MODEL, "reasoning": true, "tool_call": true,
        "limit": {"context": window, "output": 8192},
        "cost": {"input": 1.5, "output": 9, "cache_read": 0.25},
    });
    json!({
        "autoupdate": false, "share": "disabled",
        "permission": {"*": "allow", "bash": "allow", "edit": "allow", "external_directory": "allow"},
        "model": "loopback/scripted", "small_model": "loopback/scripted",
        "provider": {"loopback": {
            "npm": "@ai-sdk/openai-compatible", "name": "loopback",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "scripted"},
            "models": {"scripted": model},
        }},
    })
    .to_string()
}
