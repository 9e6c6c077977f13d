//! A run as Markdown that code hosts show: a summary as front matter, then the
//! conversation with collapsed tool calls.

mod quoted;

use std::fmt::Write as _;

use serde_json::{Value, json};
use traj_core::run::{Run, RunState, one_line};
use traj_core::timestamp::UnixMillis;
use traj_export::{
    Excerpt, FailureSummary, ShownCall, StoryStep, UsageSummary, What, counted, duration_in_words,
    grouped, usage_in_words,
};

use super::render::model_line;
use quoted::{escaped, fenced, html, quoted};

/// A title has at most this many characters.
const LONGEST_TITLE: usize = 90;

/// A command in a summary has at most this many.
const LONGEST_COMMAND: usize = 160;

/// What comes before the conversation.
pub(in crate::command) fn opening(run: &Run) -> String {
    let mut out = String::from("---\n");
    for (name, value) in front_matter(run) {
        // A JSON value is a YAML value; writing to a string does not fail.
        writeln!(out, "{name}: {}", yaml(&value)).ok();
    }
    out.push_str("---\n\n");
    let prompt = run.moments.iter().find(|moment| moment.kind == "prompt");
    let title = prompt.map(|prompt| one_line(&prompt.about, LONGEST_TITLE));
    let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| "Session".to_owned());
    writeln!(out, "# {}\n", heading(&title)).ok();
    if let Some(failure) = run.first_failure.as_ref().map(FailureSummary::of) {
        let about = match (&failure.call, &failure.error) {
            (Some(call), _) => {
                let command = call.command.as_deref().unwrap_or_default();
                format!("{} {command} ({})", call.tool, call.outcome_in_words())
            }
            (None, error) => error.clone().unwrap_or_default(),
        };
        writeln!(out, "**First failure:** {}\n", heading(&one_line(&about, 300))).ok();
    }
    out
}

fn front_matter(run: &Run) -> Vec<(&'static str, Value)> {
    let usage = UsageSummary::of(&run.models);
    let time = |at: Option<UnixMillis>| at.map(UnixMillis::to_iso);
    vec![
        ("session", json!(run.session)),
        ("agent", json!(run.agent)),
        ("model", json!(run.model)),
        ("status", json!(run.status.as_ref().map(RunState::as_str))),
        ("started", json!(time(run.started_at))),
        ("ended", json!(time(run.ended_at))),
        ("duration_ms", json!(run.time.wall)),
        ("turns", json!(run.turns)),
        ("tool_calls", json!(run.calls.calls)),
        ("failed_calls", json!(run.calls.errors())),
        ("model_calls", json!(usage.calls)),
        ("input_tokens", json!(usage.input_tokens)),
        ("cached_tokens", json!(usage.cached_tokens)),
        ("output_tokens", json!(usage.output_tokens)),
        ("cost", json!(usage.cost)),
        ("currency", json!(usage.currency)),
    ]
}

/// A value in YAML. Of JSON, only some control characters are not YAML.
fn yaml(value: &Value) -> String {
    value.to_string().chars().fold(String::new(), |mut out, character| {
        match character {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                write!(out, "\\u{:04x}", u32::from(character)).ok();
            }
            other => out.push(other),
        }
        out
    })
}

/// A step.
pub(in crate::command) fn step(step: &StoryStep) -> String {
    let mut out = String::new();
    if let Some(name) = &step.sub_agent {
        writeln!(out, "*sub-agent {}*\n", heading(name)).ok();
    }
    match &step.what {
        What::Prompt { text, images, skipped } => {
            writeln!(out, "## Turn {}\n", step.turn).ok();
            push_quotation(&mut out, text);
            if *images > 0 {
                writeln!(out, "{}\n", counted(*images, "image")).ok();
            }
            if let Some(reason) = skipped {
                writeln!(out, "Not sent: {}\n", heading(reason)).ok();
            }
        }
        What::Text { text } => {
            out.push_str("**Assistant**\n\n");
            push_quotation(&mut out, text);
        }
        What::Reasoning { text } => push_details(&mut out, "Reasoning", |out| {
            push_quotation(out, text);
        }),
        What::Call(call) => push_call(&mut out, call, step.is_first_failure),
        What::ModelCall(call) => {
            writeln!(out, "*{}*\n", heading(&model_line(call))).ok();
        }
        What::Turn { duration_millis, usage } => {
            let mut parts = vec![format!("turn {}", step.turn)];
            parts.extend(duration_millis.map(duration_in_words));
            if usage.calls > 0 {
                parts.push(counted(usage.calls, "model call"));
                parts.extend(usage_in_words(usage));
            }
            writeln!(out, "*{}*\n", heading(&parts.join(" · "))).ok();
        }
        What::Approval { subject, decision, decider, reason, waited_millis } => {
            let mut parts = vec![format!(
                "Approval of {}: {}",
                subject.as_deref().unwrap_or("something"),
                decision.unwrap_or("not decided")
            )];
            parts.extend(decider.as_deref().map(|decider| format!("by {decider}")));
            parts
                .extend(waited_millis.map(|millis| format!("after {}", duration_in_words(millis))));
            parts.extend(reason.clone());
            writeln!(out, "{}\n", heading(&parts.join(" · "))).ok();
        }
        What::Compaction { tokens_before, summary } => {
            let before = tokens_before.map(|tokens| format!(" at {} tokens", grouped(tokens)));
            let about = format!("The conversation was compacted{}", before.unwrap_or_default());
            push_details(&mut out, &about, |out| push_quotation(out, summary));
        }
        What::Changed { about } => {
            writeln!(out, "*{}*\n", heading(about)).ok();
        }
        What::Error { text, is_recovered } => {
            let word = if *is_recovered { "Retried" } else { "Error" };
            writeln!(out, "**{word}:** {}\n", heading(text)).ok();
        }
        What::Lost { about } => {
            writeln!(out, "**Not recorded:** {}\n", heading(about)).ok();
        }
        What::Ended { status, error, .. } => {
            let error = error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
            writeln!(out, "**Ended:** {}\n", heading(&format!("{status}{error}"))).ok();
        }
        _ => {}
    }
    out
}

/// A text on one line, with its own markup escaped.
fn heading(text: &str) -> String {
    let line = escaped(&one_line(text, usize::MAX));
    line.replace('*', "\\*").replace('_', "\\_").replace('#', "\\#")
}

fn push_quotation(out: &mut String, text: &Excerpt) {
    if text.is_empty() {
        return;
    }
    out.push_str(&quoted(&text.text));
    if text.hidden_lines > 0 {
        let hidden = counted(text.hidden_lines, "line");
        write!(out, "\n*{hidden} left out*\n\n{}", quoted(&text.rest)).ok();
    }
    out.push('\n');
}

fn push_details(out: &mut String, about: &str, content: impl FnOnce(&mut String)) {
    write!(out, "<details><summary>{}</summary>\n\n", html(about)).ok();
    content(out);
    out.push_str("</details>\n\n");
}

fn push_call(out: &mut String, call: &ShownCall, is_first_failure: bool) {
    let command = call.command.as_deref().unwrap_or_default();
    let mut about = vec![format!("{} {}", call.tool, one_line(command, LONGEST_COMMAND))];
    about.push(call.in_words.clone());
    about.extend(call.duration_millis.map(duration_in_words));
    if is_first_failure {
        about.push("first failure".to_owned());
    }
    let mark = if call.is_failure { "❌ " } else { "" };
    let about = format!("{mark}{}", about.join(" · "));
    push_details(out, &about, |out| {
        if !command.is_empty() {
            out.push_str(&fenced(command, "sh"));
            out.push('\n');
        }
        if let Some(error) = call.error.as_ref().filter(|error| !call.in_words.contains(*error)) {
            writeln!(out, "{}\n", heading(error)).ok();
        }
        if !call.output.is_empty() {
            let mut output = call.output.text.clone();
            if call.output.hidden_lines > 0 {
                let hidden = counted(call.output.hidden_lines, "line");
                write!(output, "\n… {hidden} left out …\n{}", call.output.rest).ok();
            }
            out.push_str(&fenced(&output, "text"));
            out.push('\n');
        }
        if call.is_truncated {
            out.push_str("*The source kept only a part of the output.*\n\n");
        }
    });
}
