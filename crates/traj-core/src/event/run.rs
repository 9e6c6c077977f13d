//! The start, the end and the metadata of a run.

use super::{Event, EventKind};
use crate::json::{Json, Object};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunStatus {
    /// It succeeded.
    Success,
    /// It failed with an error.
    Error,
    /// It was stopped from outside or by a timeout.
    Interrupted,
    /// The host cleaned it up after losing track of it.
    Cleanup,
}

impl RunStatus {
    /// The name used in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
            Self::Cleanup => "cleanup",
        }
    }
}

/// Data of `session.started`. Members are written in the order of the fields.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
pub struct SessionStarted {
    /// Why the run started.
    pub trigger: Option<String>,
    /// The transcript file.
    pub session_file: Option<String>,
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The credentials profile, by name.
    pub auth_profile_id: Option<String>,
    /// The directory the agent works in.
    pub workspace_dir: Option<String>,
    /// The agent's id.
    pub agent_id: Option<String>,
    /// Where the message came from.
    pub message_provider: Option<String>,
    /// The channel it came through.
    pub message_channel: Option<String>,
    /// Tools the model may call.
    pub tool_count: Option<u64>,
    /// Tools that the client provides.
    pub client_tool_count: Option<u64>,
}

impl SessionStarted {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push_some("trigger", self.trigger);
        data.push_some("sessionFile", self.session_file);
        data.push_some("threadId", self.thread_id);
        data.push_some("authProfileId", self.auth_profile_id);
        data.push_some("workspaceDir", self.workspace_dir);
        data.push_some("agentId", self.agent_id);
        data.push_some("messageProvider", self.message_provider);
        data.push_some("messageChannel", self.message_channel);
        data.push_some("toolCount", self.tool_count);
        data.push_some("clientToolCount", self.client_tool_count);
        Event::new(EventKind::SessionStarted, Some(data))
    }
}

/// Data of `trace.metadata`: the sections that readers look for, as the host
/// describes them.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
pub struct TraceMetadata {
    /// When it was captured, as ISO 8601.
    pub captured_at: Option<String>,
    /// The harness: type, name, version, system.
    pub harness: Option<Object<'static>>,
    /// The model: provider, name, API, levels.
    pub model: Option<Object<'static>>,
    /// Configuration, already stripped of secrets.
    pub config: Option<Object<'static>>,
    /// Active plugins.
    pub plugins: Option<Object<'static>>,
    /// Available skills.
    pub skills: Option<Object<'static>>,
    /// The parts of the prompt.
    pub prompting: Option<Object<'static>>,
    /// What was redacted before capture.
    pub redaction: Option<Object<'static>>,
    /// Anything else.
    pub metadata: Option<Object<'static>>,
}

impl TraceMetadata {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push_some("capturedAt", self.captured_at);
        data.push_some("harness", self.harness);
        data.push_some("model", self.model);
        data.push_some("config", self.config);
        data.push_some("plugins", self.plugins);
        data.push_some("skills", self.skills);
        data.push_some("prompting", self.prompting);
        data.push_some("redaction", self.redaction);
        data.push_some("metadata", self.metadata);
        Event::new(EventKind::TraceMetadata, Some(data))
    }
}

/// Data of `trace.artifacts`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
pub struct TraceArtifacts {
    /// When it was captured, as ISO 8601.
    pub captured_at: Option<String>,
    /// How the run ended.
    pub final_status: Option<RunStatus>,
    /// Tokens and cost, as the provider reports them.
    pub usage: Option<Object<'static>>,
    /// The assistant's texts.
    pub assistant_texts: Vec<String>,
    /// Further members, appended in order.
    pub more: Object<'static>,
}

impl TraceArtifacts {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push_some("capturedAt", self.captured_at);
        data.push_some("finalStatus", self.final_status.map(RunStatus::as_str));
        data.push_some("usage", self.usage);
        data.push("assistantTexts", self.assistant_texts);
        data.insert_all(self.more);
        Event::new(EventKind::TraceArtifacts, Some(data))
    }
}

/// Data of `trace.truncated`: how much is missing and why.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct TraceTruncated {
    /// Why events are missing.
    pub reason: &'static str,
    /// How many events were dropped.
    pub dropped_events: u64,
    /// The size of the dropped events in bytes, as far as is known.
    pub dropped_event_bytes: u64,
    /// The limit that was reached.
    pub limit_bytes: u64,
}

impl TraceTruncated {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::with_capacity(4);
        data.push("reason", self.reason);
        data.push("droppedEvents", self.dropped_events);
        data.push("droppedEventBytes", self.dropped_event_bytes);
        data.push("limitBytes", self.limit_bytes);
        Event::new(EventKind::TraceTruncated, Some(data))
    }
}

/// Data of `session.ended`.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct SessionEnded {
    /// How the run ended.
    pub status: RunStatus,
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The last turn.
    pub turn_id: Option<String>,
    /// Whether a timeout ended it.
    pub timed_out: bool,
    /// Whether it was aborted.
    pub aborted: bool,
    /// The error of the prompt; `None` is written as null.
    pub prompt_error: Option<String>,
}

impl SessionEnded {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push("status", self.status.as_str());
        data.push_some("threadId", self.thread_id);
        data.push_some("turnId", self.turn_id);
        data.push("timedOut", self.timed_out);
        data.push("aborted", self.aborted);
        data.push("promptError", self.prompt_error.map_or(Json::Null, Json::from));
        Event::new(EventKind::SessionEnded, Some(data))
    }
}
