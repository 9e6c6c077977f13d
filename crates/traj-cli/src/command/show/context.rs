//! `traj show --context-of`: what the model saw at one call, and what changed
//! since the call before.

use serde::Serialize;
use traj_core::dialect::{CallContext, ContextError, ContextPart, call_context};
use traj_core::json::{Json, Object};
use traj_core::redaction::RedactionReport;
use traj_core::run::{Content, one_line};
use traj_core::timestamp::UnixMillis;
use traj_export::bundle_context;

use super::Arguments;
use crate::command::Outcome;
use crate::command_error::{CommandError, ErrorKind};
use crate::compose::Host;
use crate::output::CommandOutput;
use crate::resolve::export::setup;
use crate::resolve::{OpenedBundle, Subject, Unnamed, open_source, subject};
use crate::terminal_text::escape_control;

/// How many lines of a text are shown without `--full`.
const MOST_LINES: usize = 12;

/// How many characters of a line are shown without `--full`.
const LONGEST_LINE: usize = 200;

/// What the model saw at one call.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Context")]
pub(super) struct ContextDocument {
    /// The id of the request.
    request: String,
    /// The id of the model's answer.
    answer: Option<String>,
    /// The sub-agent that asked, if it was one.
    agent: Option<String>,
    /// When it was sent.
    at: Option<String>,
    /// Whether every part of the session has the hash that the agent recorded.
    is_verified: bool,
    /// The model and its settings.
    #[schemars(with = "serde_json::Value")]
    settings: Json<'static>,
    /// The system prompt and the tools.
    frame: PartDocument,
    /// The messages, in order.
    messages: Vec<PartDocument>,
    /// What changed since the request before; null for the first.
    since: Option<ChangeDocument>,
}

/// A message, or the frame around the messages.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ContextPart")]
struct PartDocument {
    /// The SHA-256 that the agent recorded; empty if it did not.
    hash: String,
    /// `verified`, `differs` or `missing`: the session's text before secrets were
    /// hidden, compared with the hash. In a bundle, a text with another hash is
    /// `redacted`: it changed, and whether by redaction alone cannot be verified.
    check: &'static str,
    /// Whether the request before did not contain it.
    is_new: bool,
    /// Its value, without secrets; null if it is missing.
    #[schemars(with = "serde_json::Value")]
    value: Json<'static>,
}

/// What changed since the request before.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ContextChange")]
struct ChangeDocument {
    /// The id of the request before.
    request: String,
    /// How many messages are the same, from the beginning.
    kept: u64,
    /// How many of its messages are gone or replaced.
    dropped: u64,
    /// How many messages are new.
    added: u64,
    /// Whether the system prompt or the tools changed.
    has_new_frame: bool,
    /// Whether the model or its settings changed.
    has_new_settings: bool,
}

/// Shows the context of a call.
pub(super) fn run(
    call: &str,
    arguments: &Arguments,
    host: &Host,
    output: &CommandOutput,
) -> Outcome {
    let context = match subject(&arguments.subject, Unnamed::Newest, host, output)? {
        Subject::Session(session) => {
            let source = open_source(&session.file, host)?.map_err(ContextError::from);
            source.and_then(|source| call_context(&*source, call))
        }
        subject => {
            let opened =
                OpenedBundle::of(subject, &arguments.workspace, UnixMillis::EPOCH, host, output)?;
            bundle_context(opened.bundle(), call)
        }
    };
    let context = context.map_err(explain)?;
    let workspace = host.absolute(&arguments.workspace);
    let redactor = setup::redactor(host, output, &workspace)?;
    let hide = |value: Json<'static>| {
        let mut report = RedactionReport::default();
        redactor.json_settled(value, &[], &mut report).into_inner()
    };
    let document = ContextDocument::of(context, &hide);
    let is_full = arguments.full;
    output.verdict(&document, None, |document| document.draw(is_full))
}

fn explain(error: ContextError) -> CommandError {
    let hint = match error {
        ContextError::NotRecorded => "Claude Code records requests since version 2.1",
        ContextError::UnknownCall => "name a model call, one of its tool calls, or `last`",
        ContextError::Bundle(_) => "run `traj verify` for details",
        _ => "run `traj show` to see the conversation",
    };
    CommandError::new(ErrorKind::Failure, error.to_string()).hint(hint)
}

impl ContextDocument {
    /// The document of a context, without secrets. A secret that one message
    /// reveals is hidden in all of them.
    fn of(context: CallContext, hide: &dyn Fn(Json<'static>) -> Json<'static>) -> Self {
        let is_verified = context.is_verified();
        let kept = context.since.as_ref().map_or(0, |since| since.kept);
        let CallContext { request, answer, agent, at, settings, frame, messages, since, .. } =
            context;
        let (frame, frame_value) = split(frame);
        let (messages, values): (Vec<_>, Vec<_>) = messages.into_iter().map(split).unzip();
        let mut whole = Object::with_capacity(3);
        whole.push("settings", settings);
        whole.push("frame", frame_value);
        whole.push("messages", Json::Array(values));
        let mut whole = hide(Json::Object(whole));
        let mut take = |name: &str| {
            let member = whole.as_object_mut().and_then(|whole| whole.remove(name));
            member.unwrap_or_default()
        };
        let (settings, frame_value, values) = (take("settings"), take("frame"), take("messages"));
        let values = if let Json::Array(values) = values { values } else { Vec::new() };
        let has_new_frame = since.as_ref().is_none_or(|since| since.has_new_frame);
        let messages = (0_u64..).zip(messages).zip(values);
        Self {
            request,
            answer: answer.filter(|answer| !answer.is_empty()),
            agent,
            at: at.map(UnixMillis::to_iso),
            is_verified,
            settings,
            frame: PartDocument { value: frame_value, is_new: has_new_frame, ..frame },
            messages: messages
                .map(|((place, part), value)| PartDocument { value, is_new: place >= kept, ..part })
                .collect(),
            since: since.map(|since| ChangeDocument {
                request: since.request,
                kept: since.kept,
                dropped: since.dropped,
                added: since.added,
                has_new_frame: since.has_new_frame,
                has_new_settings: since.has_new_settings,
            }),
        }
    }

    fn draw(&self, is_full: bool) -> String {
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(&escape_control(line));
            text.push('\n');
        };
        line(&format!("request  {}", self.request));
        for (name, value) in [("answer", &self.answer), ("agent", &self.agent), ("at", &self.at)] {
            if let Some(value) = value {
                line(&format!("{name:<8} {value}"));
            }
        }
        if let Some(model) = self.settings.get("model").and_then(Json::as_str) {
            line(&format!("model    {model}"));
        }
        let parts = || self.messages.iter().chain(std::iter::once(&self.frame));
        let count = |check: &str| parts().filter(|part| part.check == check).count();
        let (all, verified, redacted) = (parts().count(), count("verified"), count("redacted"));
        let mut words = vec![if verified == all {
            format!("all {all} as recorded")
        } else {
            format!("{verified} of {all} as recorded")
        }];
        if redacted > 0 {
            words.push(format!("{redacted} redacted, which cannot be verified"));
        }
        if all > verified + redacted {
            words.push(format!("{} not as recorded", all - verified - redacted));
        }
        line(&format!("hashes   {}", words.join(", ")));
        if let Some(since) = &self.since {
            line(&format!("since    {}: {}", since.request, since.words()));
        }
        line("");
        self.draw_frame(is_full, &mut line);
        for (number, part) in (1..).zip(&self.messages) {
            let mark = if part.is_new && self.since.is_some() { '+' } else { ' ' };
            let role = part.value.get("role").and_then(Json::as_str).unwrap_or("message");
            line(&format!("{mark} {number} {role}{}", part.remark()));
            draw_content(part.value.get("content"), is_full, &mut line);
        }
        text
    }

    fn draw_frame(&self, is_full: bool, line: &mut dyn FnMut(&str)) {
        line(&format!("  system{}", self.frame.remark()));
        draw_content(self.frame.value.get("system"), is_full, line);
        let tools = self.frame.value.get("tools").and_then(Json::as_array).unwrap_or_default();
        let names: Vec<&str> =
            tools.iter().filter_map(|tool| tool.get("name").and_then(Json::as_str)).collect();
        line(&format!("  {} tools: {}", tools.len(), names.join(", ")));
    }
}

/// A part without its value, and the value.
fn split(part: ContextPart) -> (PartDocument, Json<'static>) {
    let ContextPart { hash, check, value, .. } = part;
    (PartDocument { hash, check: check.as_str(), is_new: false, value: Json::Null }, value)
}

impl PartDocument {
    fn remark(&self) -> String {
        if self.check == "verified" { String::new() } else { format!(" ({})", self.check) }
    }
}

impl ChangeDocument {
    fn words(&self) -> String {
        let mut words = vec![format!("{} kept", self.kept)];
        for (count, what) in [(self.dropped, "dropped"), (self.added, "new")] {
            if count > 0 {
                words.push(format!("{count} {what}"));
            }
        }
        if self.has_new_frame {
            words.push("another system prompt or other tools".to_owned());
        }
        if self.has_new_settings {
            words.push("other settings".to_owned());
        }
        words.join(", ")
    }
}

/// Draws the blocks of a message.
fn draw_content(content: Option<&Json<'static>>, is_full: bool, line: &mut dyn FnMut(&str)) {
    let Some(Json::Array(blocks)) = content else {
        return draw_text(&Content::of(content).to_text(), is_full, line);
    };
    for block in blocks {
        let text = |name: &str| block.get(name).and_then(Json::as_str).unwrap_or_default();
        match text("type") {
            "tool_use" => {
                let input = block.get("input").map(Json::to_line).unwrap_or_default();
                line(&format!("    call {} {}", text("id"), text("name")));
                draw_text(&input, is_full, line);
            }
            "tool_result" => {
                line(&format!("    result {}", text("tool_use_id")));
                draw_text(&Content::of(block.get("content")).to_text(), is_full, line);
            }
            "thinking" => {
                line("    reasoning");
                draw_text(text("thinking"), is_full, line);
            }
            "image" => line("    [image]"),
            _ => draw_text(&Content::of(block.get("text")).to_text(), is_full, line),
        }
    }
}

fn draw_text(text: &str, is_full: bool, line: &mut dyn FnMut(&str)) {
    let most = if is_full { usize::MAX } else { MOST_LINES };
    for part in text.lines().take(most) {
        let part = if is_full { part.to_owned() } else { one_line(part, LONGEST_LINE) };
        line(&format!("    │ {part}"));
    }
    let more = text.lines().count().saturating_sub(most);
    if more > 0 {
        line(&format!("    │ … {more} more lines; --full shows them"));
    }
}
