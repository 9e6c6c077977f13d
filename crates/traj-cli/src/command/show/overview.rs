//! An overview of a run: the header before its first step and the line after its
//! last.

use serde::Serialize;
use traj_core::run::{Run, RunState};
use traj_core::timestamp::UnixMillis;
use traj_export::{
    FailureSummary, TimeSummary, ToolSummary, UsageSummary, cost_in_words, duration_in_words,
    usage_in_words,
};

use crate::compose::Zone;

use super::page::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, TextPage, YELLOW};
use crate::quantity::counted;

/// An overview of a run.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overview {
    /// The session's id.
    session: Option<String>,
    /// The program that ran the agent.
    agent: Option<String>,
    /// Its version.
    agent_version: Option<String>,
    /// The model that answered last.
    model: Option<String>,
    /// The directory that the agent worked in.
    workspace: Option<String>,
    /// The time of the first event.
    started_at: Option<String>,
    /// The time of the last event.
    ended_at: Option<String>,
    /// The time between them.
    duration_millis: i64,
    /// Where that time went.
    time: TimeSummary,
    /// How the run ended; `open` if it started but did not end.
    status: Option<String>,
    /// The first failure.
    first_failure: Option<FailureSummary>,
    /// The number of prompts.
    turns: u64,
    /// The outcomes of all tool calls.
    calls: ToolSummary,
    /// Tokens and cost.
    usage: UsageSummary,
    /// What is missing or unknown, in words: the first reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<String>,
    #[serde(skip)]
    span: Option<(UnixMillis, UnixMillis)>,
}

impl Overview {
    pub(super) fn of(run: &Run) -> Self {
        Self {
            session: run.session.clone(),
            agent: run.agent.clone(),
            agent_version: run.agent_version.clone(),
            model: run.model.clone(),
            workspace: run.workspace.clone(),
            started_at: run.started_at.map(UnixMillis::to_iso),
            ended_at: run.ended_at.map(UnixMillis::to_iso),
            duration_millis: run.time.wall,
            time: TimeSummary::of(&run.time),
            status: run.status.as_ref().map(RunState::as_str).map(str::to_owned),
            first_failure: run.first_failure.as_ref().map(FailureSummary::of),
            turns: run.turns,
            calls: ToolSummary::of(&run.calls),
            usage: UsageSummary::of(&run.models),
            gaps: run.gaps.clone(),
            span: run.started_at.zip(run.ended_at),
        }
    }

    /// The lines before the first step.
    pub(super) fn header(&self, width: usize, zone: &Zone) -> String {
        let mut page = TextPage::new(width);
        page.block("session  ", self.session.as_deref().unwrap_or("not named"), BOLD);
        let agent = self.agent.as_deref().map(|agent| match &self.agent_version {
            Some(version) => format!("{agent} {version}"),
            None => agent.to_owned(),
        });
        for (lead, text) in [
            ("agent    ", agent.as_deref()),
            ("model    ", self.model.as_deref()),
            ("in       ", self.workspace.as_deref()),
        ] {
            if let Some(text) = text {
                page.block(lead, text, PLAIN);
            }
        }
        if let Some((started, ended)) = self.span {
            let span = format!("{} to {}", zone.show(started), zone.show(ended));
            page.block("from     ", &span, PLAIN);
        }
        let (ending, style) = self.ending();
        page.block("ended    ", &ending, style);
        if let Some(failure) = self.failure() {
            page.block("failed   ", &failure, RED);
        }
        self.gaps.iter().for_each(|gap| page.block("gap      ", gap, YELLOW));
        page.block("total    ", &self.total().join(" · "), PLAIN);
        page.blank_line();
        page.into_text()
    }

    /// The line after the last step.
    pub(super) fn closing(&self, width: usize) -> String {
        let mut page = TextPage::new(width);
        let (ending, _) = self.ending();
        let mut parts = vec![ending, counted(self.turns, "turn"), self.calls_in_words()];
        if self.usage.calls > 0 {
            parts.push(cost_in_words(&self.usage));
        }
        page.rule(&parts.join(" · "), CYAN);
        page.into_text()
    }

    fn ending(&self) -> (String, anstyle::Style) {
        let took = u64::try_from(self.duration_millis).unwrap_or_default();
        let after =
            if took > 0 { format!(" after {}", duration_in_words(took)) } else { String::new() };
        match self.status.as_deref() {
            Some("open") => (format!("did not end{after}"), YELLOW),
            Some("success") => (format!("success{after}"), GREEN),
            Some(status) if status == "error" => (format!("{status}{after}"), RED),
            Some(status) => (format!("{status}{after}"), YELLOW),
            None => (format!("not stated{after}"), DIM),
        }
    }

    /// The first failure as text.
    fn failure(&self) -> Option<String> {
        let failure = self.first_failure.as_ref()?;
        match (&failure.call, &failure.error) {
            (Some(call), _) => {
                let command = call.command.as_deref().unwrap_or_default();
                Some(format!("{} {command} ({})", call.tool, call.outcome_in_words()))
            }
            (None, error) => error.clone(),
        }
    }

    fn total(&self) -> Vec<String> {
        let mut parts = vec![counted(self.turns, "turn"), self.calls_in_words()];
        if self.usage.calls > 0 {
            parts.push(counted(self.usage.calls, "model call"));
            parts.extend(usage_in_words(&self.usage));
        }
        let shares = [("model", self.time.model_millis), ("tools", self.time.tool_millis)];
        let shares = shares.into_iter().filter_map(|(name, millis)| {
            let millis = u64::try_from(millis).ok().filter(|millis| *millis > 0)?;
            Some(format!("{name} {}", duration_in_words(millis)))
        });
        parts.extend(shares);
        parts
    }

    fn calls_in_words(&self) -> String {
        let calls = counted(self.calls.calls, "call");
        match self.calls.errors {
            0 => calls,
            failed => format!("{calls} ({failed} failed)"),
        }
    }
}
