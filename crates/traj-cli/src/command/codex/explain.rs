//! `traj codex explain`: what the next turn would do with the thread, and why.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use traj_core::binding::{BindingDecision, ComponentState, decide_binding, explain};

use super::super::Outcome;
use super::plan::PlanArguments;
use super::{Bound, help_end};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::{self, SubjectArguments, Unnamed};
use crate::terminal_text::escape_control;

#[derive(Debug, Args)]
#[command(
    long_about = "Compares the terms on which the thread was started with the terms that these \
                  flags ask for, one by one, and explains what `traj codex turn` would do with \
                  the same flags. Nothing is started or changed.",
    after_help = help_end(&["traj codex explain --session s.jsonl --model gpt-5-codex"])
)]
pub(super) struct Arguments {
    #[command(flatten)]
    subject: SubjectArguments,
    #[command(flatten)]
    plan: PlanArguments,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct ExplainReport {
    /// `resume`, `start`, `rotate`, `transient` or `unknown`.
    decision: &'static str,
    /// The stored thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// What changed.
    reasons: Vec<&'static str>,
    /// What that means, for people.
    meaning: String,
    /// What is compared.
    components: Vec<Component>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Component {
    /// Its name.
    name: &'static str,
    /// The fingerprint that is remembered.
    stored: Option<String>,
    /// The fingerprint of what is asked for.
    wanted: Option<String>,
    /// Whether they differ.
    changed: bool,
}

impl From<ComponentState> for Component {
    fn from(state: ComponentState) -> Self {
        let ComponentState { name, stored, wanted, has_changed, .. } = state;
        Self { name, stored, wanted, changed: has_changed }
    }
}

pub(crate) const DOCUMENT: JsonDocument = JsonDocument::of::<ExplainReport>("codex-explain");

pub(super) fn run(arguments: &Arguments, host: &Host, output: &CommandOutput) -> Outcome {
    let session = resolve::chosen(&arguments.subject, Unnamed::Newest, host, output)?;
    let found = Bound::read(&session.file, &arguments.plan, host)?;
    let (stored, plan) = (found.record(), &found.plan);
    let (decision, reasons, meaning) = match decide_binding(stored, &plan.wanted) {
        BindingDecision::Resume { .. } => {
            ("resume", vec![], "the stored thread goes on, with its history".to_owned())
        }
        BindingDecision::Start => {
            ("start", vec![], "a thread is started and remembered".to_owned())
        }
        BindingDecision::Rotate { reasons } => {
            let reasons: Vec<&'static str> = reasons.iter().map(|reason| reason.as_str()).collect();
            let meaning = format!(
                "a new thread takes the place of the stored one, without its history, because of: {}",
                reasons.join(", ")
            );
            ("rotate", reasons, meaning)
        }
        BindingDecision::Transient { reason } => {
            let meaning = "a thread is started for this turn only; the stored one stays";
            ("transient", vec![reason.as_str()], meaning.to_owned())
        }
        _ => ("unknown", vec![], "this version cannot tell".to_owned()),
    };
    let components = explain(stored, &plan.wanted);
    let report = ExplainReport {
        decision,
        thread_id: stored.map(|record| record.thread.as_str().to_owned()),
        reasons,
        meaning,
        components: components.into_iter().map(Component::from).collect(),
    };
    output.result(&report, describe)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(report: &ExplainReport) -> String {
    let thread = report.thread_id.as_deref().map_or("none".into(), escape_control);
    let mut lines = vec![
        format!("thread    {thread}"),
        format!("next turn {}: {}", report.decision, report.meaning),
    ];
    for component in &report.components {
        let mark = if component.changed { "changed" } else { "same" };
        let short = |text: &Option<String>| {
            text.as_deref().map_or_else(
                || "-".to_owned(),
                |text| text.chars().rev().take(12).collect::<Vec<_>>().iter().rev().collect(),
            )
        };
        let (stored, wanted) = (short(&component.stored), short(&component.wanted));
        lines.push(format!("  {mark:7}  {:20} {stored:>12} → {wanted}", component.name));
    }
    lines.join("\n") + "\n"
}
