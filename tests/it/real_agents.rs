//! Real agents run offline; `traj` reads what they wrote, and says what the model served.
//!
//! The newest pinned version of each agent runs everywhere, the older ones in the sweep.

mod compare;
mod expected;
mod scenario;

use traj_tests::agents::{Agent, AgentSandbox, NOTE, Step};
use traj_tests::codex_rig::{VERSIONS, is_sweep, newest};
use traj_tests::host::skipped::skipped;

use compare::shown;

/// A sandbox in which the agent has run this step, or `None` if it is not installed.
fn sandbox_after(agent: Agent, step: Step) -> Option<AgentSandbox> {
    let Some(sandbox) = AgentSandbox::new(agent) else {
        skipped(&format!("{} is not installed: run `cargo xtask agents`", agent.name()));
        return None;
    };
    let output = sandbox.run(step)?;
    assert!(output.status.success(), "{agent:?}: {}", shown(&output));
    Some(sandbox)
}

/// Runs the scenario with an agent.
fn run(agent: Agent) {
    scenario::conversation(agent);
    scenario::faults(agent);
}

#[test]
fn claude_code() {
    run(Agent::ClaudeCode("2.1.326"));
    scenario::copies(Agent::ClaudeCode("2.1.326"), Step::Fork(NOTE));
    scenario::compaction(Agent::ClaudeCode("2.1.326"));
    scenario::long_output(Agent::ClaudeCode("2.1.326"));
}

#[test]
fn codex() {
    run(Agent::Codex(newest()));
    scenario::compaction(Agent::Codex(newest()));
}

#[test]
fn older_codex() {
    if is_sweep() {
        VERSIONS
            .iter()
            .filter(|version| **version != newest())
            .for_each(|version| run(Agent::Codex(version)));
    }
}

#[test]
fn open_claw() {
    let agent = Agent::OpenClaw("2026.9.6");
    scenario::conversation(agent);
    // It takes most of a minute for each prompt.
    if is_sweep() {
        scenario::faults(agent);
    }
}

#[test]
fn older_claude_code() {
    if is_sweep() {
        for version in ["2.0.42", "2.1.197"] {
            run(Agent::ClaudeCode(version));
            scenario::compaction(Agent::ClaudeCode(version));
            scenario::copies(Agent::ClaudeCode(version), Step::Fork(NOTE));
        }
        // Each process of this version goes on in a copy of the session.
        scenario::copies(Agent::ClaudeCode("1.0.100"), Step::Next(NOTE));
    }
}

#[test]
fn copilot() {
    run(Agent::Copilot("1.0.102"));
}

#[test]
fn gemini_cli() {
    run(Agent::GeminiCli("0.61.0"));
    scenario::compaction(Agent::GeminiCli("0.61.0"));
}

#[test]
fn open_code() {
    run(Agent::OpenCode("1.18.33"));
    scenario::copies(Agent::OpenCode("1.18.33"), Step::Fork(NOTE));
    scenario::compaction(Agent::OpenCode("1.18.33"));
}

#[test]
fn pi() {
    run(Agent::Pi("0.74.2"));
    scenario::compaction(Agent::Pi("0.74.2"));
}

#[test]
fn qwen_code() {
    run(Agent::QwenCode("0.24.4"));
}

#[test]
fn continue_dev() {
    run(Agent::Continue("1.5.47"));
}
