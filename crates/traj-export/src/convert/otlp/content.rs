//! Messages in the form of the conventions: a role and a list of parts, as
//! JSON.

use traj_core::json::{Json, Object};

use crate::convert::notes::CallArguments;
use crate::convert::pieces::{Call, Message};

/// What an agent was given since its last model call.
#[derive(Debug, Default)]
pub(super) struct MessageLog(Vec<Json<'static>>);

impl MessageLog {
    pub(super) fn add_prompt(&mut self, text: String) {
        self.0.push(message("user", vec![part("text", "content", text.into())]));
    }

    pub(super) fn add_result(&mut self, call: &Call) {
        let mut response = Object::new();
        response.push("type", "tool_call_response");
        response.push_some("id", call.shown.id.clone());
        response.push("response", call.shown.output.text.clone());
        self.0.push(message("tool", vec![Json::Object(response)]));
    }

    /// The messages so far, which the next model call reads.
    pub(super) fn take_input(&mut self) -> Option<String> {
        let messages = std::mem::take(&mut self.0);
        (!messages.is_empty()).then(|| compact(&Json::Array(messages)))
    }
}

/// What the model said and asked for; `None` if only its tokens are known.
pub(super) fn output_messages(said: &Message) -> Option<String> {
    let mut parts = Vec::new();
    for text in &said.reasoning {
        parts.push(part("reasoning", "content", text.clone().into()));
    }
    for text in &said.texts {
        parts.push(part("text", "content", text.clone().into()));
    }
    for call in &said.calls {
        let mut asked = Object::new();
        asked.push("type", "tool_call");
        asked.push_some("id", call.shown.id.clone());
        asked.push("name", call.shown.tool.clone());
        match &call.note.arguments {
            CallArguments::None => {}
            CallArguments::Value(value) => asked.push("arguments", value.clone()),
            CallArguments::Text(text) => asked.push("arguments", text.clone()),
        }
        parts.push(Json::Object(asked));
    }
    if parts.is_empty() {
        return None;
    }
    let mut message = Object::new();
    message.push("role", "assistant");
    message.push("parts", Json::Array(parts));
    let reason = said.model.as_ref().and_then(|model| model.note.stop_reason.clone());
    message.push_some("finish_reason", reason);
    Some(compact(&Json::Array(vec![Json::Object(message)])))
}

/// A system prompt.
pub(super) fn instructions(text: &str) -> String {
    compact(&Json::Array(vec![part("text", "content", text.to_owned().into())]))
}

/// The tools that the agent was given: each with its type and its name. Providers
/// spell the rest in different ways. `None` if there are none.
pub(super) fn tool_definitions(tools: &Json<'static>) -> Option<String> {
    let tools = tools.as_array()?.iter().filter_map(tool_definition).collect::<Vec<_>>();
    (!tools.is_empty()).then(|| compact(&Json::Array(tools)))
}

fn tool_definition(tool: &Json<'static>) -> Option<Json<'static>> {
    let stated = |member: &str| tool.get(member).and_then(Json::as_str);
    // The interface for chats of OpenAI has the definition in a member.
    let inner = tool.get("function").filter(|inner| inner.as_object().is_some()).unwrap_or(tool);
    let name = inner.get("name").and_then(Json::as_str).or_else(|| stated("type"))?;
    let parameters = ["parameters", "input_schema", "inputSchema", "schema"];
    let parameters = parameters.iter().find_map(|member| inner.get(member));
    let mut definition = Object::new();
    definition.push("type", stated("type").unwrap_or("function").to_owned());
    definition.push("name", name.to_owned());
    definition.push_some("description", inner.get("description").cloned());
    definition.push_some("parameters", parameters.cloned());
    Some(Json::Object(definition))
}

pub(super) fn compact(value: &Json<'_>) -> String {
    let mut text = String::new();
    value.write_compact(&mut text);
    text
}

fn part(kind: &'static str, member: &'static str, value: Json<'static>) -> Json<'static> {
    let mut part = Object::new();
    part.push("type", kind);
    part.push(member, value);
    Json::Object(part)
}

fn message(role: &'static str, parts: Vec<Json<'static>>) -> Json<'static> {
    let mut message = Object::new();
    message.push("role", role);
    message.push("parts", Json::Array(parts));
    Json::Object(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_every_provider_have_a_type_and_a_name() {
        let tools = r#"[
            {"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}},
            {"name":"b","input_schema":{"type":"object"}},
            {"type":"custom","name":"c","format":{"type":"text"}},
            {"type":"web_search"},
            "no tool",
            {"description":"no name"}
        ]"#;
        let tools = Json::parse(tools).unwrap().into_owned();
        let expected = concat!(
            r#"[{"type":"function","name":"a","description":"d","parameters":{"type":"object"}},"#,
            r#"{"type":"function","name":"b","parameters":{"type":"object"}},"#,
            r#"{"type":"custom","name":"c"},{"type":"web_search","name":"web_search"}]"#,
        );
        assert_eq!(tool_definitions(&tools).as_deref(), Some(expected));
        assert_eq!(tool_definitions(&Json::Array(Vec::new())), None);
    }
}
