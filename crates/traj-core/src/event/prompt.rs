//! Prompts and context for the model.

use super::{Event, EventKind};
use crate::json::{Json, Object};

/// A tool as the model sees it.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct ToolDefinition {
    /// The tool's name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub parameters: Option<Json<'static>>,
}

/// Tools with a name, sorted by it: first ignoring case, then by case, so that
/// the same tools always make the same list.
fn tool_list(tools: Vec<ToolDefinition>) -> Json<'static> {
    let mut tools: Vec<ToolDefinition> = tools
        .into_iter()
        .map(|tool| ToolDefinition { name: tool.name.trim().to_owned(), ..tool })
        .filter(|tool| !tool.name.is_empty())
        .collect();
    tools.sort_by_cached_key(|tool| (tool.name.to_lowercase(), tool.name.clone()));
    let describe = |tool: ToolDefinition| {
        let mut object = Object::with_capacity(3);
        object.push("name", tool.name);
        object.push_some("description", tool.description);
        object.push_some("parameters", tool.parameters);
        Json::Object(object)
    };
    Json::Array(tools.into_iter().map(describe).collect())
}

/// Data of `context.compiled`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
pub struct ContextCompiled {
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The user's prompt.
    pub prompt: Option<String>,
    /// The messages before it.
    pub messages: Option<Vec<Json<'static>>>,
    /// Tools that the model may call; `None` if the host does not list them.
    pub tools: Option<Vec<ToolDefinition>>,
    /// The number of images in the prompt.
    pub images_count: u64,
    /// The transcript entry that it continues.
    pub transcript_leaf_id: Option<String>,
}

impl ContextCompiled {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push_some("systemPrompt", self.system_prompt);
        data.push_some("prompt", self.prompt);
        data.push_some("messages", self.messages);
        data.push_some("tools", self.tools.map(tool_list));
        data.push("imagesCount", self.images_count);
        data.push_some("transcriptLeafId", self.transcript_leaf_id);
        Event::new(EventKind::ContextCompiled, Some(data))
    }
}

/// Data of `prompt.submitted`.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
pub struct PromptSubmitted {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn that it started.
    pub turn_id: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// The messages before it.
    pub messages: Option<Vec<Json<'static>>>,
    /// The number of images in the prompt.
    pub images_count: u64,
}

impl PromptSubmitted {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push_some("threadId", self.thread_id);
        data.push_some("turnId", self.turn_id);
        data.push("prompt", self.prompt);
        data.push_some("systemPrompt", self.system_prompt);
        data.push_some("messages", self.messages);
        data.push("imagesCount", self.images_count);
        Event::new(EventKind::PromptSubmitted, Some(data))
    }
}

/// Data of `prompt.skipped`.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct PromptSkipped {
    /// Why it was not sent.
    pub reason: String,
    /// The prompt, if there was one.
    pub prompt: Option<String>,
    /// The number of images in the prompt.
    pub images_count: u64,
}

impl PromptSkipped {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let mut data = Object::new();
        data.push("reason", self.reason);
        data.push_some("prompt", self.prompt);
        data.push("imagesCount", self.images_count);
        Event::new(EventKind::PromptSkipped, Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_and_sorted() {
        let tool =
            |name: &str| ToolDefinition { name: name.into(), description: None, parameters: None };
        let tools = ["read", " padded ", "  ", "Read", "bash"].map(tool).to_vec();
        let event = ContextCompiled { tools: Some(tools), ..ContextCompiled::default() }.event();
        insta::assert_snapshot!(
            Json::Object(event.into_data().unwrap()).to_line(),
            @r#"{"tools":[{"name":"bash"},{"name":"padded"},{"name":"Read"},{"name":"read"}],"imagesCount":0}"#
        );
    }
}
