//! What to trim, and the tool with which an agent requests it.

use crate::id::{IdError, ToolCallId};
use crate::json::{Json, Object};

/// The name under which a host offers trimming to its agent.
pub const TOOL_NAME: &str = "dynamic-trim";

/// The text that marks a trimmed result.
pub const SENTINEL: &str = "[trimmed by self]";

/// One tool result to trim.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrimItem {
    /// The call whose result is trimmed.
    pub target: ToolCallId,
    /// The replacement text; if `None`, only the marker remains.
    pub replacement: Option<String>,
    /// The trim call itself, whose input is shortened.
    pub self_call: Option<ToolCallId>,
}

impl TrimItem {
    /// Checks the ids.
    ///
    /// # Errors
    /// When an id is empty or too long.
    pub fn parse(
        target: &str,
        replacement: Option<&str>,
        self_call: Option<&str>,
    ) -> Result<Self, IdError> {
        Ok(Self {
            target: ToolCallId::parse(target)?,
            replacement: replacement.map(str::to_owned),
            self_call: self_call.map(ToolCallId::parse).transpose()?,
        })
    }

    /// The text that replaces the result's text.
    #[must_use]
    pub fn text(&self) -> String {
        match self.replacement.as_deref() {
            None | Some("") => SENTINEL.to_owned(),
            Some(replacement) => format!("{SENTINEL} {replacement}"),
        }
    }

    /// The shortened input of the trim call.
    pub(super) fn compacted_input(&self) -> Object<'static> {
        let mut input = Object::with_capacity(2);
        input.push("tool_call_id", self.target.as_str().to_owned());
        input.push("_self_compacted", true);
        input
    }
}

/// The definition of the tool, for the host's list of tools.
#[must_use]
pub fn tool_definition() -> Json<'static> {
    let text = |description: &'static str| {
        Json::from(Object::from_iter([("type", "string"), ("description", description)]))
    };
    let mut properties = Object::with_capacity(2);
    properties.push(
        "tool_call_id",
        text("Id of the tool call whose result is no longer needed, as it appears in your earlier message."),
    );
    properties.push("replacement", text("A short summary to keep in place of the result."));
    let mut parameters = Object::with_capacity(3);
    parameters.push("type", "object");
    parameters.push("properties", properties);
    parameters.push("required", vec!["tool_call_id"]);
    let mut tool = Object::with_capacity(3);
    tool.push("name", TOOL_NAME);
    tool.push(
        "description",
        "Replaces the text of one of your earlier tool results with a short summary when this turn ends.",
    );
    tool.push("parameters", parameters);
    Json::Object(tool)
}
