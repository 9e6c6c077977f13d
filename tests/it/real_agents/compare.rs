//! What the model served, and what `traj` reads.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use traj_tests::agents::{AgentSandbox, Served, Tokens};
use traj_tests::traj_binary::{printed, traj_command};

/// The answers that belong to these scripts, in order.
pub(super) fn served_by(sandbox: &AgentSandbox, scripts: &[&str]) -> Vec<Served> {
    let served = sandbox.model.served().into_iter();
    served.filter(|one| scripts.contains(&one.script) && one.refused.is_none()).collect()
}

/// The sum of the tokens of some answers.
pub(super) fn tokens_of(served: &[Served]) -> Tokens {
    served.iter().fold(Tokens::default(), |mut sum, one| {
        sum.input += one.tokens.input;
        sum.cached += one.tokens.cached;
        sum.written += one.tokens.written;
        sum.output += one.tokens.output;
        sum.reasoning += one.tokens.reasoning;
        sum
    })
}

/// `traj` in the home of the agent, whose variables name no other places.
pub(super) fn traj(sandbox: &AgentSandbox) -> Command {
    traj_command(&sandbox.home())
}

/// The end of what a program printed.
pub(super) fn shown(output: &Output) -> String {
    let end = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let skipped = text.chars().count().saturating_sub(600);
        text.chars().skip(skipped).collect::<String>()
    };
    format!("{}; stdout …{}; stderr …{}", output.status, end(&output.stdout), end(&output.stderr))
}

/// The texts of some steps.
pub(super) fn texts_of(steps: &[&Value]) -> Vec<String> {
    let text = |step: &&Value| Some(step["text"]["text"].as_str()?.to_owned());
    steps.iter().filter_map(text).collect()
}

/// What `traj` says of one session.
pub(super) struct Reading {
    pub(super) inspected: Value,
    pub(super) steps: Vec<Value>,
}

impl Reading {
    /// Reads a session with `traj inspect` and `traj show`.
    pub(super) fn of(session: &Path, sandbox: &AgentSandbox) -> Self {
        let document = |verb: &str| -> Value {
            let mut command = traj(sandbox);
            command.args([verb, "--json"]).arg(session);
            if verb == "show" {
                command.arg("--full");
            }
            let output = command.output().expect("traj starts");
            let document: Value = serde_json::from_str(&printed(&output)).expect("a document");
            assert_eq!(document["ok"], true, "{verb} {}: {document}", session.display());
            document["result"].clone()
        };
        let inspected = document("inspect");
        let steps = document("show")["steps"].as_array().cloned().unwrap_or_default();
        Self { inspected, steps }
    }

    /// The steps of a kind.
    pub(super) fn steps(&self, kind: &str) -> Vec<&Value> {
        self.steps.iter().filter(|step| step["kind"] == kind).collect()
    }

    /// The tokens of all models.
    pub(super) fn tokens(&self) -> Tokens {
        let models = self.inspected["usageByModel"].as_object().expect("usage");
        let sum = |name: &str| models.values().filter_map(|usage| usage[name].as_u64()).sum();
        Tokens {
            input: sum("inputTokens"),
            cached: sum("cachedTokens"),
            written: sum("cacheWriteTokens"),
            output: sum("outputTokens"),
            reasoning: sum("reasoningTokens"),
        }
    }
}
