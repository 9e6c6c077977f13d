//! The arguments and variables of each agent for a step.

use super::{Agent, MODEL};
use crate::agents::sandbox::Step;
use crate::agents::scenario::{AGREE, REFUSE, WAIT};

/// Arguments, and variables with their values.
type Arguments<'a> = (Vec<&'a str>, Vec<(&'a str, &'a str)>);

/// How to run a step; `None` if the agent does not support it. `url` is the address of the
/// model, and `v1` the root of its OpenAI APIs.
pub(super) fn of<'a>(agent: Agent, step: Step, url: &'a str, v1: &'a str) -> Option<Arguments<'a>> {
    match agent {
        Agent::ClaudeCode(_) => Some(claude_code(step, url)),
        Agent::Copilot(_) => copilot(step, v1),
        Agent::GeminiCli(_) => gemini_cli(step, url),
        Agent::OpenCode(_) => Some(open_code(step)),
        Agent::Pi(_) => pi(step),
        Agent::QwenCode(_) => qwen_code(step, v1),
        Agent::Continue(_) => continue_dev(step),
        Agent::Codex(_) => codex(step),
        Agent::OpenClaw(_) => open_claw(step),
    }
}

fn claude_code(step: Step, url: &str) -> Arguments<'_> {
    let arguments = match step {
        Step::First(prompt) => vec![prompt],
        Step::Next(prompt) => vec!["--continue", prompt],
        Step::Fork(prompt) => vec!["--continue", "--fork-session", prompt],
        Step::Compact => vec!["--continue", "/compact keep it short"],
    };
    let environment = vec![
        ("ANTHROPIC_BASE_URL", url),
        ("ANTHROPIC_API_KEY", "scripted"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("IS_SANDBOX", "1"),
        ("MAX_THINKING_TOKENS", "4000"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ("API_TIMEOUT_MS", "20000"),
    ];
    (arguments, environment)
}

fn copilot<'a>(step: Step, v1: &'a str) -> Option<Arguments<'a>> {
    let arguments = match step {
        Step::First(prompt) => vec!["-p", prompt],
        Step::Next(prompt) => vec!["--continue", "-p", prompt],
        Step::Fork(_) | Step::Compact => return None,
    };
    let environment = vec![
        ("COPILOT_PROVIDER_BASE_URL", v1),
        ("COPILOT_PROVIDER_API_KEY", "scripted"),
        ("COPILOT_MODEL", MODEL),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_WIRE_API", "completions"),
    ];
    Some((arguments, environment))
}

fn gemini_cli<'a>(step: Step, url: &'a str) -> Option<Arguments<'a>> {
    let arguments = match step {
        Step::First(prompt) => vec!["-p", prompt],
        Step::Next(prompt) => vec!["--resume", "latest", "-p", prompt],
        Step::Compact => vec!["--resume", "latest", "-p", AGREE],
        Step::Fork(_) => return None,
    };
    let environment = vec![
        ("GEMINI_API_KEY", "scripted"),
        ("GOOGLE_GEMINI_BASE_URL", url),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_DEFAULT_AUTH_TYPE", "gemini-api-key"),
    ];
    Some((arguments, environment))
}

fn open_code<'a>(step: Step) -> Arguments<'a> {
    let arguments = match step {
        Step::First(prompt) => vec![prompt],
        Step::Next(prompt) => vec!["-c", prompt],
        Step::Fork(prompt) => vec!["-c", "--fork", prompt],
        Step::Compact => vec!["-c", AGREE],
    };
    let environment = vec![
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ];
    (arguments, environment)
}

fn pi<'a>(step: Step) -> Option<Arguments<'a>> {
    let arguments = match step {
        Step::First(prompt) => vec![prompt],
        Step::Next(prompt) => vec!["--continue", prompt],
        Step::Compact => vec!["--continue", AGREE],
        Step::Fork(_) => return None,
    };
    let environment =
        vec![("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")];
    Some((arguments, environment))
}

fn qwen_code<'a>(step: Step, v1: &'a str) -> Option<Arguments<'a>> {
    let arguments = match step {
        Step::First(prompt) => vec!["-p", prompt],
        Step::Next(prompt) => vec!["--continue", "-p", prompt],
        Step::Compact => vec!["--continue", "-p", "/compress"],
        Step::Fork(_) => return None,
    };
    let environment =
        vec![("OPENAI_API_KEY", "scripted"), ("OPENAI_BASE_URL", v1), ("OPENAI_MODEL", MODEL)];
    Some((arguments, environment))
}

fn codex<'a>(step: Step) -> Option<Arguments<'a>> {
    let arguments = match step {
        Step::First(prompt) => vec![prompt],
        Step::Next(prompt) => vec!["resume", "--last", prompt],
        // Less than the conversation has by then.
        Step::Compact => {
            vec!["-c", "model_auto_compact_token_limit=4000", "resume", "--last", AGREE]
        }
        Step::Fork(_) => return None,
    };
    Some((arguments, Vec::new()))
}

fn open_claw<'a>(step: Step) -> Option<Arguments<'a>> {
    let (prompt, session) = match step {
        // Each first prompt of the scenario begins a session.
        Step::First(REFUSE) => (REFUSE, "11111111-2222-4333-8444-000000000002"),
        Step::First(WAIT) => (WAIT, "11111111-2222-4333-8444-000000000003"),
        Step::First(prompt) | Step::Next(prompt) => {
            (prompt, "11111111-2222-4333-8444-000000000001")
        }
        Step::Fork(_) | Step::Compact => return None,
    };
    let arguments =
        vec!["--session-id", session, "--thinking", "low", "--timeout", "240", "--message", prompt];
    Some((arguments, vec![("OPENCLAW_NO_RESPAWN", "1")]))
}

fn continue_dev<'a>(step: Step) -> Option<Arguments<'a>> {
    let arguments = match step {
        Step::First(prompt) => vec![prompt],
        Step::Next(prompt) => vec!["--resume", prompt],
        Step::Fork(_) | Step::Compact => return None,
    };
    let environment =
        vec![("CONTINUE_TELEMETRY_ENABLED", "0"), ("CONTINUE_ALLOW_ANONYMOUS_TELEMETRY", "0")];
    Some((arguments, environment))
}
