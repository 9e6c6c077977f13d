//! `traj codex explain`: what the next turn would do with the thread, and why.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use traj_core::binding::{
    BindingDecision, CarryOver, ComponentState, HomeComparison, decide_binding, explain,
};

use super::super::Outcome;
use super::plan::{ChangeArguments, PlanArguments};
use super::provider::ProviderReport;
use super::{Bound, help_end};
use crate::compose::Host;
use crate::json_document::JsonDocument;
use crate::output::CommandOutput;
use crate::resolve::{self, SubjectArguments, Unnamed, codex_home};
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
    #[command(flatten)]
    change: ChangeArguments,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
struct ExplainReport {
    /// `resume`, `start`, `rotate`, `replace`, `transient`, `refuse` or `unknown`.
    decision: &'static str,
    /// The stored thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// What changed.
    reasons: Vec<&'static str>,
    /// What that means, for people.
    meaning: String,
    /// The compared components.
    components: Vec<Component>,
    provider: ProviderReport,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Component {
    /// Its name.
    name: &'static str,
    /// The stored fingerprint.
    stored: Option<String>,
    /// The requested fingerprint.
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
    let found = Bound::read(&session.file, &arguments.plan, Some(&arguments.change), host)?;
    let (stored, plan) = (found.record(), &found.plan);
    let Prediction { decision, reasons, meaning } = Prediction::of(&found, host);
    let components = explain(stored, &plan.wanted);
    let report = ExplainReport {
        decision,
        thread_id: stored.map(|record| record.thread.as_str().to_owned()),
        reasons,
        meaning,
        components: components.into_iter().map(Component::from).collect(),
        provider: ProviderReport::of(found.provider(), host),
    };
    output.result(&report, describe)?;
    Ok(ExitCode::SUCCESS)
}

/// What the next turn would do.
struct Prediction {
    decision: &'static str,
    reasons: Vec<&'static str>,
    meaning: String,
}

impl Prediction {
    fn of(found: &Bound, host: &Host) -> Self {
        let refused = Self::refusal(found, host);
        refused.unwrap_or_else(|| Self::decision(found, host))
    }

    fn new(decision: &'static str, reasons: Vec<&'static str>, meaning: impl Into<String>) -> Self {
        Self { decision, reasons, meaning: meaning.into() }
    }

    /// What keeps the turn from running.
    fn refusal(found: &Bound, host: &Host) -> Option<Self> {
        if let Err(error) = found.check_workspace(host) {
            let meaning = format!("the turn would fail: {}", error.message);
            return Some(Self::new("refuse", vec!["workspace"], meaning));
        }
        let home = codex_home(host)?;
        let compare = |home: &Path| Some(found.record()?.compare_home(home.to_str()));
        match (compare(&home)?, compare(&host.real_path(&home))?) {
            (HomeComparison::Other { stored }, HomeComparison::Other { .. }) => {
                let meaning = format!(
                    "the turn would fail: the thread is in the Codex home {stored}, and Codex would \
                     use {}",
                    home.display()
                );
                Some(Self::new("refuse", vec!["codex-home"], meaning))
            }
            _ => None,
        }
    }

    fn decision(found: &Bound, host: &Host) -> Self {
        let carried = match found.plan.carry_over {
            CarryOver::Summary { .. } => "with a summary of its messages",
            CarryOver::History { .. } => "with its messages",
            _ => "without its history",
        };
        match decide_binding(found.record(), &found.plan.wanted) {
            BindingDecision::Resume { .. } => Self::resume(found, host),
            BindingDecision::Start => {
                Self::new("start", vec![], "a new thread is started and stored")
            }
            BindingDecision::Rotate { reasons } => {
                let reasons: Vec<&'static str> = reasons.iter().map(|it| it.as_str()).collect();
                let meaning = format!(
                    "a new thread replaces the stored one, {carried}, because of: {}",
                    reasons.join(", ")
                );
                Self::new("rotate", reasons, meaning)
            }
            BindingDecision::Transient { reason } => {
                let meaning = "a new thread is started for this turn only; the stored one stays";
                Self::new("transient", vec![reason.as_str()], meaning)
            }
            _ => Self::new("unknown", vec![], "this version of traj does not know"),
        }
    }

    /// The thread is resumed, if Codex still has its file.
    fn resume(found: &Bound, host: &Host) -> Self {
        let resumed =
            || Self::new("resume", vec![], "the stored thread continues, with its history");
        let Some(record) = found.record() else { return resumed() };
        let Some(rollout) = record.rollout_path.as_deref().map(Path::new) else {
            return resumed();
        };
        let is_there = |path: &Path| {
            let found = host.folder_of(path);
            found.is_ok_and(|(folder, name)| folder.symlink_metadata(name).is_ok())
        };
        if is_there(rollout) || is_there(&rollout.with_added_extension("zst")) {
            return resumed();
        }
        let archived = codex_home(host).zip(rollout.file_name());
        let archived = archived.map(|(home, name)| home.join("archived_sessions").join(name));
        if archived.is_some_and(|path| is_there(&path)) {
            let meaning = format!(
                "the turn would fail: the thread is archived; run `codex unarchive {}`",
                record.thread
            );
            return Self::new("refuse", vec!["archived"], meaning);
        }
        let meaning = format!(
            "Codex no longer has the file of the stored thread; a new thread replaces it (turns \
             lost: {})",
            record.turns
        );
        Self::new("replace", vec!["rollout"], meaning)
    }
}

fn describe(report: &ExplainReport) -> String {
    let thread = report.thread_id.as_deref().map_or("none".into(), escape_control);
    let mut lines = vec![
        format!("thread    {thread}"),
        format!("next turn {}: {}", report.decision, report.meaning),
        format!("provider  {}", report.provider.shown()),
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
