//! The events that represent the entries of a branch.

mod plain;

pub use plain::gives_events;
use plain::plain_event;

use crate::json::Json;
use crate::redaction::{Redacted, RedactedText, RedactionReport, Redactor};
use crate::timestamp::UnixMillis;

/// What all transcript events of one export share, redacted once.
#[derive(Clone, Debug)]
pub struct EventFrame {
    session_id: Redacted<String>,
    /// `"sessionId":…` up to `"workspaceDir":…`, the same in every event.
    middle: Redacted<String>,
}

impl EventFrame {
    /// The frame of a session's events.
    #[must_use]
    pub fn new(
        redactor: &Redactor,
        report: &mut RedactionReport,
        session_id: &str,
        session_key: Option<&str>,
        workspace_dir: &str,
    ) -> Self {
        let mut facts = crate::json::Object::new();
        facts.push("sessionId", session_id);
        facts.push_some("sessionKey", session_key);
        facts.push("workspaceDir", workspace_dir);
        let facts = redactor.json(Json::Object(facts), report);
        let mut middle = RedactedText::new();
        for (name, lead) in [
            ("sessionId", ",\"sessionId\":"),
            ("sessionKey", ",\"sessionKey\":"),
            ("workspaceDir", ",\"workspaceDir\":"),
        ] {
            if let Some(value) = facts.view().get(name) {
                middle.push_static(lead).push_json(value);
            }
        }
        let mut literal = RedactedText::new();
        if let Some(id) = facts.view().get("sessionId") {
            literal.push_json(id);
        }
        Self { session_id: literal.finish(), middle: middle.finish() }
    }
}

/// Consecutive events, each complete except for its numbers.
#[derive(Clone, Debug, Default)]
pub struct TranscriptEvents {
    text: RedactedText,
    parts: Vec<EventParts>,
}

/// The lengths of an event's two parts; its numbers go between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventParts {
    /// Length of the part before the numbers.
    pub head: usize,
    /// Length of the part after them.
    pub tail: usize,
    /// Whether the event is a value that was redacted as a whole, such as the message
    /// of its entry, in the frame that all events share.
    pub is_whole: bool,
}

impl TranscriptEvents {
    /// No events yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No events yet, reusing these buffers.
    #[must_use]
    pub fn in_buffers(text: String, mut parts: Vec<EventParts>) -> Self {
        parts.clear();
        Self { text: RedactedText::in_buffer(text), parts }
    }

    /// Removes all events and keeps the capacity.
    pub fn clear(&mut self) {
        self.text.clear();
        self.parts.clear();
    }

    /// The capacity in bytes.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.text.capacity() + self.parts.capacity() * size_of::<EventParts>()
    }

    /// The text of all events and the parts it consists of, for reuse.
    #[must_use]
    pub fn into_parts(self) -> (Redacted<String>, Vec<EventParts>) {
        (self.text.finish(), self.parts)
    }

    /// The text of all events, in order.
    #[must_use]
    pub const fn text(&self) -> &RedactedText {
        &self.text
    }

    /// The parts of that text, in order.
    #[must_use]
    pub fn parts(&self) -> &[EventParts] {
        &self.parts
    }

    /// The number of events.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are no events.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Writes the numbers that go between the two parts: the position in the
    /// bundle and the position among the transcript's events.
    pub fn push_numbers(line: &mut RedactedText, seq: u64, source_seq: u64) {
        line.push_number(seq).push_static(",\"sourceSeq\":").push_number(source_seq);
    }

    /// Adds the events of one redacted entry, in order. Entries of unknown type
    /// have no events.
    pub fn add_entry(
        &mut self,
        frame: &EventFrame,
        entry: Redacted<&Json<'_>>,
        instant: UnixMillis,
    ) {
        let Some(kind) = entry.get("type").and_then(|kind| kind.value().as_str()) else {
            return;
        };
        let entry = TimedEntry { frame, entry, instant };
        if kind == "message" {
            self.add_message(&entry);
        } else if let Some((event_type, members)) = plain_event(kind) {
            self.add(
                &entry,
                |head| {
                    head.push_static(event_type);
                },
                |data| {
                    for (name, lead) in members {
                        push_member(data, entry.entry, name, lead);
                    }
                },
            );
        }
    }

    /// Adds an event made from a row of another program's file. `event` holds its
    /// redacted `type` and `data`, and `entry` the row's `id` and `parentId`.
    pub fn add_made(
        &mut self,
        frame: &EventFrame,
        entry: Redacted<&Json<'_>>,
        event: Redacted<&Json<'_>>,
        instant: UnixMillis,
    ) {
        let (Some(kind), Some(data)) = (event.get("type"), event.get("data")) else { return };
        let entry = TimedEntry { frame, entry, instant };
        let push = |value| {
            move |text: &mut RedactedText| {
                text.push_json(value);
            }
        };
        self.add_with(&entry, push(kind), push(data));
        if let Some(parts) = self.parts.last_mut() {
            parts.is_whole = has_plain_ids(entry.entry.value());
        }
    }

    fn add_message(&mut self, entry: &TimedEntry<'_, '_, '_>) {
        let Some(message) = entry.entry.get("message") else { return };
        let Some(role) = message.get("role") else { return };
        let name_type = |head: &mut RedactedText| match role.value().as_str() {
            Some("user") => drop(head.push_static("\"user.message\"")),
            Some("assistant") => drop(head.push_static("\"assistant.message\"")),
            Some("toolResult") => drop(head.push_static("\"tool.result\"")),
            _ => drop(head.push_prefixed("message.", role)),
        };
        self.add(entry, name_type, |data| {
            data.lead("\"message\":").push_json(message);
        });
        let is_named = matches!(role.value().as_str(), Some("user" | "assistant" | "toolResult"));
        if let Some(parts) = self.parts.last_mut() {
            parts.is_whole = is_named && has_plain_ids(entry.entry.value());
        }
        if role.value().as_str() != Some("assistant") {
            return;
        }
        let Some(blocks) = message.get("content").and_then(Redacted::items) else { return };
        for (index, block) in blocks.enumerate().filter(|(_, block)| is_tool_call(block.value())) {
            self.add(
                entry,
                |head| {
                    head.push_static("\"tool.call\"");
                },
                |data| push_tool_call(data, entry.entry, block, index),
            );
        }
    }

    fn add(
        &mut self,
        entry: &TimedEntry<'_, '_, '_>,
        name_type: impl FnOnce(&mut RedactedText),
        members: impl FnOnce(&mut MemberWriter<'_>),
    ) {
        self.add_with(entry, name_type, |text| {
            text.push_static("{");
            members(&mut MemberWriter { text, is_empty: true });
            text.push_static("}");
        });
    }

    fn add_with(
        &mut self,
        entry: &TimedEntry<'_, '_, '_>,
        name_type: impl FnOnce(&mut RedactedText),
        write_data: impl FnOnce(&mut RedactedText),
    ) {
        let TimedEntry { frame, entry, instant } = entry;
        let text = &mut self.text;
        let start = text.len();
        text.push_static(
            "{\"traceSchema\":\"openclaw-trajectory\",\"schemaVersion\":1,\"traceId\":",
        )
        .push_text(&frame.session_id)
        .push_static(",\"source\":\"transcript\",\"type\":");
        name_type(text);
        text.push_static(",\"ts\":").push_instant(*instant).push_static(",\"seq\":");
        let numbers = text.len();
        text.push_text(&frame.middle);
        if let Some(id) = entry.get("id") {
            text.push_static(",\"entryId\":").push_json(id);
        }
        if let Some(parent) = entry.get("parentId") {
            text.push_static(",\"parentEntryId\":").push_json(parent);
        }
        text.push_static(",\"data\":");
        write_data(text);
        text.push_static("}");
        let (head, tail) = (numbers - start, text.len() - numbers);
        self.parts.push(EventParts { head, tail, is_whole: false });
    }
}

/// Whether the ids of an entry are strings or missing.
fn has_plain_ids(entry: &Json<'_>) -> bool {
    let is_plain = |id: &Json<'_>| matches!(id, Json::String(_) | Json::Null);
    ["id", "parentId"].iter().all(|name| entry.get(name).is_none_or(is_plain))
}

/// An entry from which events are made.
struct TimedEntry<'f, 'e, 'a> {
    frame: &'f EventFrame,
    entry: Redacted<&'e Json<'a>>,
    instant: UnixMillis,
}

/// Writes the members of an event's data.
struct MemberWriter<'t> {
    text: &'t mut RedactedText,
    is_empty: bool,
}

impl MemberWriter<'_> {
    /// Begins a member with its name and a colon.
    fn lead(&mut self, name: &'static str) -> &mut RedactedText {
        if !std::mem::take(&mut self.is_empty) {
            self.text.push_static(",");
        }
        self.text.push_static(name)
    }
}

fn push_member(
    data: &mut MemberWriter<'_>,
    entry: Redacted<&Json<'_>>,
    name: &str,
    lead: &'static str,
) {
    match entry.get(name) {
        // Readers rely on this member being a boolean.
        None if name == "fromHook" => drop(data.lead(lead).push_static("false")),
        Some(value) if name == "fromHook" && value.value().is_null() => {
            data.lead(lead).push_static("false");
        }
        Some(value) => drop(data.lead(lead).push_json(value)),
        None => {}
    }
}

/// Whether a content block is a tool call, however its type is spelled.
#[must_use]
pub fn is_tool_call(block: &Json<'_>) -> bool {
    crate::dialect::shape::call::is_call(block)
}

/// The arguments of a tool call, under any of the names that blocks use.
#[must_use]
pub fn tool_call_arguments<'e, 'a>(block: &'e Json<'a>) -> Option<&'e Json<'a>> {
    block.get(argument_member(block)?)
}

/// The first member that is present and not null; else `parameters`, even if
/// null.
fn argument_member(block: &Json<'_>) -> Option<&'static str> {
    let is_given = |name: &&str| block.get(name).is_some_and(|value| !value.is_null());
    ["arguments", "input", "parameters"]
        .into_iter()
        .find(is_given)
        .or_else(|| block.get("parameters").map(|_| "parameters"))
}

fn push_tool_call(
    data: &mut MemberWriter<'_>,
    entry: Redacted<&Json<'_>>,
    block: Redacted<&Json<'_>>,
    index: usize,
) {
    let text = |name| block.get(name).filter(|value| value.value().as_str().is_some());
    if let Some(id) = text("id") {
        data.lead("\"toolCallId\":").push_json(id);
    }
    if let Some(name) = text("name") {
        data.lead("\"name\":").push_json(name);
    }
    if let Some(arguments) = argument_member(block.value()).and_then(|name| block.get(name)) {
        data.lead("\"arguments\":").push_json(arguments);
    }
    if let Some(id) = entry.get("id") {
        data.lead("\"assistantEntryId\":").push_json(id);
    }
    data.lead("\"blockIndex\":").push_number(index as u64);
}

#[cfg(test)]
mod tests;
