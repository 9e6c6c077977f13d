//! Tool calls and their results.

use super::{Event, EventKind};
use crate::json::{Json, Object};

/// Data of `tool.call`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<String>,
    /// The item of the turn.
    pub item_id: Option<String>,
    /// The call's id.
    pub tool_call_id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Json<'static>,
}

impl ToolCall {
    /// A call without arguments.
    #[must_use]
    pub fn new(tool_call_id: impl Into<String>, name: impl Into<String>) -> Self {
        let (tool_call_id, name) = (tool_call_id.into(), name.into());
        let arguments = Json::Object(Object::new());
        Self { thread_id: None, turn_id: None, item_id: None, tool_call_id, name, arguments }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: impl Into<Json<'static>>) -> Self {
        self.arguments = arguments.into();
        self
    }

    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let place = [self.thread_id, self.turn_id, self.item_id];
        let mut data = of_call(place, self.tool_call_id, self.name);
        data.push("arguments", self.arguments);
        Event::new(EventKind::ToolCall, Some(data))
    }
}

/// Data of `tool.result`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolResult {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<String>,
    /// The item of the turn.
    pub item_id: Option<String>,
    /// The call it answers.
    pub tool_call_id: String,
    /// The tool.
    pub name: String,
    /// Whether it succeeded.
    pub success: bool,
    /// The result.
    pub result: Json<'static>,
}

impl ToolResult {
    /// The result of a successful call.
    #[must_use]
    pub fn new(
        tool_call_id: impl Into<String>,
        name: impl Into<String>,
        result: impl Into<Json<'static>>,
    ) -> Self {
        Self {
            thread_id: None,
            turn_id: None,
            item_id: None,
            tool_call_id: tool_call_id.into(),
            name: name.into(),
            success: true,
            result: result.into(),
        }
    }

    /// Marks the call as failed.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.success = false;
        self
    }

    /// The result recorded for a call that was never answered.
    #[must_use]
    pub fn missing(tool_call_id: impl Into<String>, name: impl Into<String>) -> Self {
        let reason = Object::from_iter([("status", "failed"), ("reason", "missing_tool_result")]);
        Self::new(tool_call_id, name, reason).failed()
    }

    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let place = [self.thread_id, self.turn_id, self.item_id];
        let mut data = of_call(place, self.tool_call_id, self.name);
        data.push("success", self.success);
        data.push("isError", !self.success);
        data.push("result", self.result);
        Event::new(EventKind::ToolResult, Some(data))
    }
}

/// Data of `tool.timeout`.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct ToolTimeout {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<String>,
    /// The call that was not answered.
    pub tool_call_id: String,
    /// The tool.
    pub name: String,
    /// How long the host waited.
    pub timeout_ms: u64,
}

impl ToolTimeout {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let place = [self.thread_id, self.turn_id, None];
        let mut data = of_call(place, self.tool_call_id, self.name);
        data.push("timeoutMs", self.timeout_ms);
        Event::new(EventKind::ToolTimeout, Some(data))
    }
}

/// The members that identify a call; `place` is thread, turn and item.
fn of_call(place: [Option<String>; 3], tool_call_id: String, name: String) -> Object<'static> {
    let mut data = Object::new();
    for (member, id) in ["threadId", "turnId", "itemId"].into_iter().zip(place) {
        data.push_some(member, id);
    }
    data.push("toolCallId", tool_call_id);
    data.push("name", name);
    data
}
