//! A fact in a few words, for code that shows facts on one line.

use super::{Content, Fact, Failure, ModelCall, Outcome, SessionStart, command_of, one_line};
use crate::json::Json;

/// Texts shown as part of a line are truncated to this many characters.
pub const LONGEST_PREVIEW: usize = 200;

/// The kind of a fact, in one word.
#[must_use]
pub const fn label(fact: &Fact<'_>) -> &'static str {
    match fact {
        Fact::SessionStarted(_) => "started",
        Fact::SessionEnded(_) | Fact::TurnEnded(_) => "ended",
        Fact::ContextCompiled(_) => "context",
        Fact::TurnStarted => "turn",
        Fact::Prompt(prompt) if prompt.skipped.is_some() => "skipped",
        Fact::Prompt(_) => "prompt",
        Fact::AssistantText(_) => "reply",
        Fact::Reasoning(_) => "reasoning",
        Fact::ToolCall(_) => "call",
        Fact::ToolResult(_) => "result",
        Fact::ModelCall(call) if call.error.is_some() => "error",
        Fact::ModelCall(_) | Fact::ModelChanged(_) => "model",
        Fact::ApprovalAsked(_) => "asked",
        Fact::ApprovalDecided(_) => "decided",
        Fact::Compaction(_) => "compacted",
        Fact::ModeChanged(_) => "mode",
        Fact::Rewind(_) => "rewound",
        Fact::Branches(_) => "branches",
        Fact::Attachment(_) => "attachment",
        Fact::Hook(_) => "hook",
        Fact::Error(_) => "error",
        Fact::Lost(_) => "lost",
        Fact::Other { .. } | Fact::UnknownRows(_) => "event",
    }
}

/// The subject of a fact on one line, without its label: the text of a prompt or
/// reply, the command of a call, the outcome of a result. Empty if there is
/// nothing to say.
///
/// Nothing is redacted here: to show it to anyone, decode a redacted row.
#[must_use]
pub fn about(fact: &Fact<'_>) -> String {
    match fact {
        Fact::SessionStarted(started) => session(started),
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => {
            with(ended.status.as_str(), ended.error.as_deref().or(ended.reason.as_deref()))
        }
        Fact::ContextCompiled(context) => {
            let tools = context.tools.and_then(Json::as_array);
            tools.map(|tools| counted(tools.len() as u64, "tool", "tools")).unwrap_or_default()
        }
        Fact::TurnStarted => String::new(),
        Fact::Prompt(prompt) => prompt.skipped.map_or_else(|| said(prompt.content), short),
        Fact::AssistantText(content) | Fact::Reasoning(content) => said(*content),
        Fact::ToolCall(call) => {
            words(&[&short(call.name), &short(&command_of(call).unwrap_or_default())])
        }
        Fact::ToolResult(result) => {
            words(&[&short(result.name.unwrap_or_default()), &outcome(&result.outcome)])
        }
        Fact::ModelCall(call) => model_call(call),
        Fact::ApprovalAsked(approval) => {
            short(approval.subject.as_deref().or(approval.call).unwrap_or_default())
        }
        Fact::ApprovalDecided(approval) => {
            let decision = approval.decision.map_or("decided", super::ApprovalOutcome::as_str);
            with(decision, approval.subject.as_deref().or(approval.call))
        }
        Fact::Compaction(compaction) => {
            let tokens = compaction
                .tokens_before
                .map(|tokens| format!("from {}", counted(tokens, "token", "tokens")));
            words(&[&tokens.unwrap_or_default(), &said(compaction.summary)])
        }
        Fact::ModelChanged(change) => {
            with(&model_name(change.provider, change.model), change.reason)
        }
        Fact::ModeChanged(change) => words(&[&short(&change.name), &short(&change.value)]),
        Fact::Rewind(rewind) => match (rewind.turns, rewind.to) {
            (Some(turns), _) => counted(turns, "turn", "turns"),
            (None, Some(entry)) => format!("to {}", short(entry)),
            (None, None) => String::new(),
        },
        Fact::Branches(branches) => {
            format!(
                "{} left, with {}",
                branches.count,
                counted(branches.entries, "entry", "entries")
            )
        }
        Fact::Attachment(attachment) => {
            let kind = short(attachment.kind.as_deref().unwrap_or_default());
            let name = short(attachment.name.unwrap_or_default());
            words(&[&kind, &name, &said(attachment.content)])
        }
        Fact::Hook(hook) => words(&[&short(hook.name), &outcome(&hook.outcome)]),
        Fact::Error(error) => short(&error.text),
        Fact::Lost(loss) => {
            let count = loss.events.map(|events| counted(events, "event", "events"));
            match (count, &loss.reason) {
                (Some(count), reason) => with(&count, reason.as_deref()),
                (None, Some(reason)) => short(reason),
                (None, None) => "events are missing".to_owned(),
            }
        }
        Fact::Other { name, .. } => short(name),
        Fact::UnknownRows(rows) => {
            words(&[&short(rows.name.unwrap_or_default()), &counted(rows.count, "time", "times")])
        }
    }
}

/// A fact in a few words, on one line, for places that show no label and show the
/// text of an error elsewhere. As in [`about`], nothing is redacted.
#[must_use]
pub fn preview(fact: &Fact<'_>) -> String {
    let about = about(fact);
    let lead = match fact {
        Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => return short(ended.status.as_str()),
        Fact::ModelCall(call) if call.error.is_some() => {
            return words(&[&model_name(call.provider, call.model), "error"]);
        }
        Fact::ToolResult(result) => match &result.outcome {
            Outcome::Failed(Failure { exit_code: None, signal: None, .. }) => {
                return words(&[&short(result.name.unwrap_or_default()), "failed"]);
            }
            _ => return about,
        },
        Fact::ContextCompiled(_) => "context compiled",
        Fact::TurnStarted => "turn started",
        Fact::SessionStarted(started) if started.begins_run => "session started",
        Fact::Prompt(prompt) if prompt.skipped.is_some() => "prompt skipped",
        Fact::Prompt(_) if about.is_empty() => "prompt submitted",
        Fact::ApprovalAsked(_) => "approval requested",
        Fact::Compaction(_) => "compacted",
        Fact::ModelChanged(_) => "model",
        Fact::Rewind(_) => "went back",
        Fact::Lost(_) => "lost",
        _ => return about,
    };
    with(lead, Some(&about))
}

/// An outcome in a word or two.
#[must_use]
pub fn outcome(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::Declined => "declined".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Unanswered => "no result".to_owned(),
        Outcome::Failed(failure) => match (failure.exit_code, &failure.signal, &failure.error) {
            (Some(code), ..) => format!("exit {code}"),
            (None, Some(signal), _) => format!("killed by {}", short(signal)),
            (None, None, error) => with("failed", error.as_deref()),
        },
    }
}

/// A value of unknown shape on one line: its members by name, or the value
/// itself.
#[must_use]
pub fn members(value: &Json<'_>) -> String {
    let plain = |value: &Json<'_>| match value {
        Json::String(text) => short(text),
        value => {
            let mut text = String::new();
            value.write_compact(&mut text);
            short(&text)
        }
    };
    let Json::Object(object) = value else { return plain(value) };
    let members = object.iter().take(MOST_MEMBERS);
    let members: Vec<_> = members.map(|(name, value)| words(&[name, &plain(value)])).collect();
    short(&members.join(", "))
}

/// At most this many members are shown on a line.
const MOST_MEMBERS: usize = 16;

fn short(text: &str) -> String {
    one_line(text, LONGEST_PREVIEW)
}

fn said(content: Content<'_>) -> String {
    content.first_text().map(short).unwrap_or_default()
}

/// Joins the words that are not empty.
fn words(words: &[&str]) -> String {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// A word or phrase, followed by more about it if there is more.
fn with(what: &str, subject: Option<&str>) -> String {
    match subject.filter(|subject| !subject.trim().is_empty()) {
        Some(subject) => format!("{what}: {}", short(subject)),
        None => what.to_owned(),
    }
}

fn model_name(provider: Option<&str>, model: Option<&str>) -> String {
    let names: Vec<String> = [provider, model].into_iter().flatten().map(short).collect();
    names.join("/")
}

fn session(started: &SessionStart<'_>) -> String {
    let texts = [started.agent.as_deref(), started.agent_version].map(Option::unwrap_or_default);
    let [agent, version] = texts.map(short);
    let workspace = short(started.workspace.unwrap_or_default());
    words(&[&agent, &version, &model_name(started.provider, started.model), &workspace])
}

fn model_call(call: &ModelCall<'_>) -> String {
    let stopped = call.stop_reason.as_deref();
    let ended = match &call.error {
        Some(error) => match stopped.filter(|stop| matches!(*stop, "timeout" | "aborted")) {
            Some(stop) => with(stop, Some(error)),
            None => short(error),
        },
        None => stopped.map_or_else(|| "done".to_owned(), short),
    };
    words(&[&model_name(call.provider, call.model), &ended])
}

/// A number with its noun in the singular or the plural.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::dialect::Dialect;
    use crate::run::Place;

    fn of_row(dialect: Dialect, row: &str) -> Vec<String> {
        let row = Json::parse(row).unwrap();
        let mut previews = Vec::new();
        dialect.decode(&row, Place::line(1), &mut |event| previews.push(preview(&event.fact)));
        previews
    }

    #[test]
    fn a_call_shows_its_command_and_a_result_how_it_ended() {
        let event = |kind: &str, data: &str| {
            let row = format!(r#"{{"type":"{kind}","provider":"p","modelId":"m","data":{data}}}"#);
            of_row(Dialect::Sidecar, &row)
        };
        let call = r#"{"name":"exec","arguments":{"command":["bash","-lc","ls  -l\n"]}}"#;
        assert_eq!(event("tool.call", call), ["exec ls -l"]);
        let result = r#"{"name":"exec","success":true,"result":{"exitCode":3}}"#;
        assert_eq!(event("tool.result", result), ["exec exit 3"]);
        assert_eq!(event("tool.timeout", r#"{"name":"exec"}"#), ["exec timed out"]);
        assert_eq!(event("model.completed", r#"{"assistantTexts":["hi"]}"#), ["hi", "p/m done"]);
        assert_eq!(event("prompt.submitted", r#"{"prompt":"do\nit"}"#), ["do it"]);
        assert_eq!(event("prompt.submitted", "{}"), ["prompt submitted"]);
    }

    #[test]
    fn every_fact_stays_on_one_short_line() {
        let long = "word ".repeat(100);
        for fact in [
            Fact::AssistantText(Content::Text(&long)),
            Fact::Error(crate::run::ErrorFact {
                text: Cow::Borrowed(&long),
                kind: None,
                is_recovered: false,
            }),
            Fact::Other { name: Cow::Borrowed(&long), is_known: false },
        ] {
            let line = preview(&fact);
            assert!(line.ends_with('…') && line.chars().count() <= LONGEST_PREVIEW + 1, "{line}");
        }
    }

    #[test]
    fn members_of_a_value_are_named() {
        let value = Json::parse(r#"{"name":"n 1","count":2,"deep":{"a":[1]}}"#).unwrap();
        assert_eq!(members(&value), r#"name n 1, count 2, deep {"a":[1]}"#);
        assert_eq!(members(&Json::Null), "null");
    }
}
