//! Writes the facts of any run as rows of an OpenClaw session: a transcript of
//! version 3, and a sidecar for what a transcript cannot state.
//!
//! Facts of a recorder go to the sidecar and all others to the transcript, so
//! that a run with two sources keeps both. What neither file can state is
//! counted.

mod rows;

use crate::json::{Json, Object};
use crate::run::{
    Arguments, ErrorFact, Fact, ModelCall, Origin, Outcome, Prompt, Run, RunEvent, RunState,
    SessionEnd, SessionStart, Taken, Thread, ToolCallFact, ToolResultFact, Usage, UsageScope,
};
use crate::timestamp::UnixMillis;
use rows::{content_of, failure_members, usage_object};

/// A row of one of the two files.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a session has two files")]
pub enum TranscribedRow<'r> {
    /// A row of the transcript.
    Transcript(Json<'r>),
    /// A row of the sidecar.
    Sidecar(Json<'r>),
}

/// Writes facts as rows, one fact after the other.
#[derive(Debug)]
pub struct Transcriber {
    session: String,
    workspace: Option<String>,
    agent: Option<String>,
    agent_version: Option<String>,
    parent: Option<String>,
    scope: UsageScope,
    /// How the run ended, if only its turns say so.
    ended: Option<String>,
    /// The time of the last row.
    at: UnixMillis,
    entries: u32,
    events: u64,
    /// The last reading of a counter.
    reading: Option<Usage>,
    has_end: bool,
    left_out: u64,
}

impl Transcriber {
    /// For a run that was read as a whole before.
    #[must_use]
    pub fn new(run: &Run, session: &str) -> Self {
        let ended = match &run.status {
            Some(RunState::Ended(status)) => Some(status.clone()),
            _ => None,
        };
        Self {
            session: session.to_owned(),
            workspace: run.workspace.clone(),
            agent: run.agent.clone(),
            agent_version: run.agent_version.clone(),
            parent: None,
            scope: run.usage_scope,
            ended,
            at: run.started_at.unwrap_or_default(),
            entries: 0,
            events: 0,
            reading: None,
            has_end: false,
            left_out: 0,
        }
    }

    /// How many facts neither file can state.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The first rows: the header, and where the run comes from.
    pub fn begin(&mut self, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        let mut header = Object::new();
        header.push("type", "session");
        header.push("version", 3_u64);
        header.push("id", self.session.clone());
        header.push("timestamp", self.at.to_iso());
        header.push_some("cwd", self.workspace.clone());
        emit(TranscribedRow::Transcript(Json::Object(header)));
        let mut harness = Object::new();
        harness.push_some("type", self.agent.clone());
        harness.push_some("version", self.agent_version.clone());
        harness.push_some("workspaceDir", self.workspace.clone());
        let mut data = Object::new();
        data.push("harness", Json::Object(harness));
        self.record("trace.metadata", data, emit);
    }

    /// The rows of a fact. `taken` is what the fold of the run made of it.
    pub fn push(
        &mut self,
        event: &RunEvent<'_>,
        taken: &Taken,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        self.at = event.at.unwrap_or(self.at);
        if event.origin == Origin::Runtime {
            self.push_recorded(event, emit);
        } else {
            self.push_written(event, taken, emit);
        }
    }

    /// The last rows. `missing` are tokens that the program counted for calls that
    /// no row states.
    pub fn end(&mut self, missing: Usage, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        if !missing.is_zero() {
            let call = ModelCall { usage: Some(missing), ..ModelCall::default() };
            self.model_call(&call, emit);
        }
        if let Some(status) = self.ended.take().filter(|_| !self.has_end) {
            let mut data = Object::new();
            data.push("status", status);
            self.record("session.ended", data, emit);
        }
    }

    /// A fact of the program's own file.
    fn push_written(
        &mut self,
        event: &RunEvent<'_>,
        taken: &Taken,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        let is_main = event.thread == Thread::Main;
        match &event.fact {
            Fact::Prompt(prompt) if is_main && prompt.skipped.is_none() => {
                self.message("user", content_of(prompt.content), emit);
            }
            // Its parent prompts a sub-agent, not a person.
            Fact::Prompt(Prompt { content, .. }) => self.note("prompt", content_of(*content), emit),
            Fact::AssistantText(text) => {
                let mut block = Object::new();
                block.push("type", "text");
                block.push("text", text.to_text());
                self.message("assistant", Json::Array(vec![Json::Object(block)]), emit);
            }
            Fact::Reasoning(text) => {
                let mut block = Object::new();
                block.push("type", "thinking");
                block.push("thinking", text.to_text());
                self.message("assistant", Json::Array(vec![Json::Object(block)]), emit);
            }
            Fact::ToolCall(call) => {
                let block = tool_call(call);
                self.message("assistant", Json::Array(vec![block]), emit);
            }
            Fact::ToolResult(result) => self.tool_result(result, emit),
            Fact::ModelCall(call) => self.counted_call(call, taken, emit),
            Fact::Compaction(compaction) => {
                let mut entry = self.entry("compaction");
                entry.push("summary", content_of(compaction.summary));
                entry.push_some("tokensBefore", compaction.tokens_before);
                emit(TranscribedRow::Transcript(Json::Object(entry)));
            }
            Fact::ModelChanged(change) => {
                let mut entry = self.entry("model_change");
                entry.push_some("provider", change.provider);
                entry.push_some("modelId", change.model);
                emit(TranscribedRow::Transcript(Json::Object(entry)));
            }
            Fact::Rewind(rewind) => {
                let mut entry = self.entry("branch_summary");
                entry.push_some("fromId", rewind.to);
                entry.push("summary", content_of(rewind.summary));
                emit(TranscribedRow::Transcript(Json::Object(entry)));
            }
            Fact::Attachment(attachment) => {
                let kind = attachment.kind.as_deref().unwrap_or("attachment").to_owned();
                self.note(&kind, content_of(attachment.content), emit);
            }
            Fact::SessionStarted(SessionStart { begins_run: true, .. })
            | Fact::SessionEnded(_)
            | Fact::ContextCompiled(_)
            | Fact::ApprovalAsked(_)
            | Fact::ApprovalDecided(_)
            | Fact::Error(_)
            | Fact::Lost(_) => self.push_recorded(event, emit),
            Fact::TurnEnded(SessionEnd { error: Some(error), .. }) => {
                let text = error.clone();
                self.error(&ErrorFact { text, kind: None, is_recovered: false }, emit);
            }
            Fact::SessionStarted(_) | Fact::TurnStarted | Fact::TurnEnded(_) => {}
            _ => self.left_out += 1,
        }
    }

    /// A fact of a recorder, or one that only a recorder's file can state.
    fn push_recorded(&mut self, event: &RunEvent<'_>, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        let mut data = Object::new();
        match &event.fact {
            Fact::SessionStarted(SessionStart { begins_run: true, .. }) => {
                self.record("session.started", data, emit);
            }
            Fact::SessionEnded(ended) => {
                self.has_end |= ended.is_final;
                let (kind, status) = if ended.is_final {
                    ("session.ended", "status")
                } else {
                    ("trace.artifacts", "finalStatus")
                };
                data.push(status, ended.status.as_str().to_owned());
                data.push_some("error", ended.error.as_deref());
                self.record(kind, data, emit);
            }
            Fact::ContextCompiled(context) => {
                data.push("systemPrompt", content_of(context.system));
                data.push_some("tools", context.tools.cloned());
                self.record("context.compiled", data, emit);
            }
            Fact::Prompt(prompt) => {
                data.push("prompt", content_of(prompt.content));
                data.push("imagesCount", prompt.images);
                data.push_some("reason", prompt.skipped);
                let kind = prompt.skipped.map_or("prompt.submitted", |_| "prompt.skipped");
                self.record(kind, data, emit);
            }
            Fact::AssistantText(text) => {
                data.push("assistantTexts", Json::Array(vec![Json::from(text.to_text())]));
                self.record("model.completed", data, emit);
            }
            Fact::ToolCall(call) => {
                data.push_some("toolCallId", call.id);
                data.push("name", call.name);
                data.push_some("arguments", arguments_of(call.arguments));
                self.record("tool.call", data, emit);
            }
            Fact::ToolResult(result) if result.outcome != Outcome::Unanswered => {
                data.push_some("toolCallId", result.id);
                data.push_some("name", result.name);
                data.push("success", !result.outcome.is_failure());
                failure_members(&result.outcome, &mut data);
                data.push("output", content_of(result.content));
                data.push_some("durationMs", result.duration);
                self.record("tool.result", data, emit);
            }
            Fact::ModelCall(call) => {
                data.push_some("usage", call.usage.map(|usage| usage_object(&usage, call.cost)));
                data.push_some("promptError", call.error.as_deref());
                data.push_some("durationMs", call.latency);
                self.record_of_model("model.completed", data, call, emit);
            }
            Fact::ApprovalAsked(_) | Fact::ApprovalDecided(_) => {
                let (kind, members) = super::encode_event(event);
                self.record(kind, members, emit);
            }
            Fact::Error(error) => self.error(error, emit),
            Fact::Lost(loss) => {
                data.push_some("reason", loss.reason.as_deref());
                data.push_some("droppedEvents", loss.events);
                data.push_some("droppedEventBytes", loss.bytes);
                self.record("trace.truncated", data, emit);
            }
            Fact::SessionStarted(_) => {}
            _ => self.left_out += 1,
        }
    }

    fn tool_result(
        &mut self,
        result: &ToolResultFact<'_>,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        // A call without a row for its result has no answer.
        if result.outcome == Outcome::Unanswered {
            return;
        }
        let mut details = Object::new();
        failure_members(&result.outcome, &mut details);
        details.push_some("durationMs", result.duration);
        let mut message = Object::new();
        message.push("role", "toolResult");
        message.push_some("toolCallId", result.id);
        message.push_some("toolName", result.name);
        message.push("isError", result.outcome.is_failure());
        message.push("content", content_of(result.content));
        message.push("details", Json::Object(details));
        self.put_message(message, emit);
    }

    /// A model call, if it is of the kind by which the run counts them.
    fn counted_call(
        &mut self,
        call: &ModelCall<'_>,
        taken: &Taken,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        let is_of_kind = call.scope == self.scope;
        let usage = match call.scope {
            _ if !is_of_kind => None,
            UsageScope::Counter => {
                let before = call.usage.and_then(|usage| self.reading.replace(usage));
                let is_same = before.is_some() && before == call.usage;
                let counted = taken.model_call.as_ref().map(|counted| counted.usage);
                counted.filter(|_| !is_same)
            }
            _ => call.usage,
        };
        if usage.is_some() || call.error.is_some() {
            self.model_call(&ModelCall { usage, ..call.clone() }, emit);
        }
    }

    fn model_call(&mut self, call: &ModelCall<'_>, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        let mut message = Object::new();
        message.push("role", "assistant");
        message.push("content", Json::Array(Vec::new()));
        message.push_some("responseId", call.id);
        message.push_some("provider", call.provider);
        message.push_some("model", call.model);
        message.push_some("usage", call.usage.map(|usage| usage_object(&usage, call.cost)));
        message.push_some("stopReason", call.stop_reason.as_deref());
        message.push_some("errorMessage", call.error.as_deref());
        self.put_message(message, emit);
    }

    /// An error outside a tool.
    fn error(&mut self, error: &ErrorFact<'_>, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        let mut data = Object::new();
        data.push("error", error.text.clone());
        data.push_some("kind", error.kind);
        self.record("agent.error", data, emit);
    }

    fn note(&mut self, kind: &str, content: Json<'_>, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        let mut entry = self.entry("custom_message");
        entry.push("customType", kind.to_owned());
        entry.push("content", content);
        entry.push("display", true);
        emit(TranscribedRow::Transcript(Json::Object(entry)));
    }

    fn message(
        &mut self,
        role: &'static str,
        content: Json<'_>,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        let mut message = Object::new();
        message.push("role", role);
        message.push("content", content);
        self.put_message(message, emit);
    }

    fn put_message(&mut self, message: Object<'_>, emit: &mut dyn FnMut(TranscribedRow<'_>)) {
        let mut entry = self.entry("message");
        entry.push("message", Json::Object(message));
        emit(TranscribedRow::Transcript(Json::Object(entry)));
    }

    /// A new entry below the last one.
    fn entry<'r>(&mut self, kind: &'static str) -> Object<'r> {
        self.entries = self.entries.saturating_add(1);
        let id = format!("{:08x}", self.entries);
        let mut entry = Object::new();
        entry.push("type", kind);
        entry.push("id", id.clone());
        entry.push("parentId", self.parent.replace(id).map_or(Json::Null, Json::from));
        entry.push("timestamp", self.at.to_iso());
        entry
    }

    fn record(
        &mut self,
        kind: &'static str,
        data: Object<'_>,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        self.record_of_model(kind, data, &ModelCall::default(), emit);
    }

    fn record_of_model(
        &mut self,
        kind: &'static str,
        data: Object<'_>,
        call: &ModelCall<'_>,
        emit: &mut dyn FnMut(TranscribedRow<'_>),
    ) {
        self.events += 1;
        let mut row = Object::new();
        row.push("traceSchema", crate::event::TRACE_SCHEMA);
        row.push("schemaVersion", crate::event::SCHEMA_VERSION);
        row.push("traceId", self.session.clone());
        row.push("source", "runtime");
        row.push("type", kind);
        row.push("ts", self.at.to_iso());
        row.push("seq", self.events);
        row.push("sourceSeq", self.events);
        row.push("sessionId", self.session.clone());
        row.push_some("provider", call.provider);
        row.push_some("modelId", call.model);
        row.push("data", Json::Object(data));
        emit(TranscribedRow::Sidecar(Json::Object(row)));
    }
}

fn tool_call<'r>(call: &ToolCallFact<'r>) -> Json<'r> {
    let mut block = Object::new();
    block.push("type", "toolCall");
    block.push_some("id", call.id);
    block.push("name", call.name);
    block.push_some("arguments", arguments_of(call.arguments));
    Json::Object(block)
}

fn arguments_of(arguments: Arguments<'_>) -> Option<Json<'_>> {
    match arguments {
        Arguments::None => None,
        Arguments::Value(value) => Some(value.clone()),
        Arguments::Text(text) => Some(Json::from(text)),
    }
}
