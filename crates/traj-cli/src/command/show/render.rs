//! Renders steps as lines for people.

use traj_core::run::{ApprovalOutcome, Outcome};

use crate::compose::Zone;

use super::page::{BOLD, CYAN, DIM, GREEN, PLAIN, RED, TextPage, YELLOW};
use crate::quantity::{counted, grouped};
use traj_export::{ModelUse, ShownCall, StoryStep, What, duration_in_words, usage_in_words};

/// Renders steps for a terminal.
#[derive(Debug)]
pub(super) struct Renderer<'z> {
    width: usize,
    zone: &'z Zone,
    /// The sub-agent of the last step; `None` for the main agent.
    sub_agent: Option<String>,
}

impl<'z> Renderer<'z> {
    pub(super) const fn new(width: usize, zone: &'z Zone) -> Self {
        Self { width, zone, sub_agent: None }
    }

    /// A step as text with styles.
    pub(super) fn draw(&mut self, step: &StoryStep) -> String {
        let mut page = TextPage::new(self.width);
        if self.sub_agent != step.sub_agent {
            let about = step.sub_agent.as_ref();
            let about =
                about.map_or_else(|| "main agent".to_owned(), |id| format!("sub-agent {id}"));
            page.block("* ", &about, DIM);
            self.sub_agent.clone_from(&step.sub_agent);
        }
        self.step(step, &mut page);
        page.blank_line();
        page.into_text()
    }

    fn step(&self, step: &StoryStep, page: &mut TextPage) {
        match &step.what {
            What::Prompt { text, images, skipped } => {
                let time = step.at.map(|at| format!(" · {}", self.zone.show(at)));
                page.rule(&format!("turn {}{}", step.turn, time.unwrap_or_default()), CYAN);
                page.excerpt("> ", text, BOLD);
                if *images > 0 {
                    page.block("  ", &counted(*images, "image"), DIM);
                }
                if let Some(reason) = skipped {
                    page.block("  ", &format!("not sent: {reason}"), YELLOW);
                }
            }
            What::Text { text } => page.excerpt("", text, PLAIN),
            What::Reasoning { text } => page.excerpt("~ ", text, DIM),
            What::Call(call) => draw_call(call, page),
            What::ModelCall(call) => page.block("  ", &model_line(call), DIM),
            What::Turn { duration_millis, usage: total } => {
                let mut parts = vec![format!("turn {}", step.turn)];
                parts.extend(duration_millis.map(duration_in_words));
                if total.calls > 0 {
                    parts.push(counted(total.calls, "model call"));
                    parts.extend(usage_in_words(total));
                }
                page.block("= ", &parts.join(" · "), DIM);
            }
            What::Approval { subject, decision, decider, reason, waited_millis } => {
                let style =
                    if *decision == Some(ApprovalOutcome::Denied.as_str()) { RED } else { YELLOW };
                let waited =
                    waited_millis.map(|millis| format!(" after {}", duration_in_words(millis)));
                let answer = decision.map_or("approval requested, no decision", answer);
                let decider = decider.as_deref().map(|decider| format!(" by {decider}"));
                let line = [
                    answer,
                    decider.as_deref().unwrap_or_default(),
                    waited.as_deref().unwrap_or_default(),
                    ": ",
                    subject.as_deref().unwrap_or("something"),
                ];
                let reason = reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
                page.block("? ", &format!("{}{reason}", line.concat()), style);
            }
            What::Compaction { tokens_before, summary } => {
                let before = tokens_before.map(|tokens| format!(" at {} tokens", grouped(tokens)));
                let before = before.unwrap_or_default();
                page.block("* ", &format!("the conversation was compacted{before}"), CYAN);
                page.excerpt("  ", summary, DIM);
            }
            What::Changed { about } => page.block("* ", about, DIM),
            What::Error { text, is_recovered } => {
                let (word, style) =
                    if *is_recovered { ("retried", YELLOW) } else { ("error", RED) };
                page.block("! ", &format!("{word}: {text}"), style);
            }
            What::Lost { about } => page.block("! ", &format!("not recorded: {about}"), YELLOW),
            What::Ended { status, error, is_failure } => {
                let error = error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
                let style = if *is_failure { RED } else { GREEN };
                page.block("= ", &format!("ended: {status}{error}"), style);
            }
            // Only a complete story has more.
            _ => {}
        }
    }
}

fn answer(decision: &str) -> &str {
    if decision == ApprovalOutcome::ApprovedForSession.as_str() {
        "approved for the session"
    } else {
        decision
    }
}

fn draw_call(call: &ShownCall, page: &mut TextPage) {
    let command = call.command.as_deref().unwrap_or_default();
    page.block("$ ", format!("{} {command}", call.tool).trim_end(), BOLD);
    let mut about = vec![call.in_words.clone()];
    about.extend(call.duration_millis.map(duration_in_words));
    about.extend(call.id.as_ref().map(|id| format!("id {id}")));
    let style = match call.outcome {
        outcome if outcome == Outcome::Ok.name() => GREEN,
        _ if call.is_failure => RED,
        _ => YELLOW,
    };
    page.clipped("  ", &about.join(" · "), style);
    let is_stated = |error: &&String| !call.in_words.contains(error.as_str());
    if let Some(error) = call.error.as_ref().filter(is_stated) {
        page.block("  ", error, RED);
    }
    page.excerpt("  │ ", &call.output, PLAIN);
    if call.is_truncated {
        page.block("  │ ", "the source kept only part of the output", DIM);
    }
}

/// A model call in one line: model, duration, context, tokens and cost.
pub(super) fn model_line(call: &ModelUse) -> String {
    let mut parts = Vec::new();
    parts.extend(call.model.clone());
    parts.extend(call.duration_millis.map(duration_in_words));
    parts.push(format!("context {}", grouped(call.context)));
    parts.extend(usage_in_words(&call.usage));
    parts.join(" · ")
}
