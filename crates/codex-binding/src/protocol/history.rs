//! The messages of a thread: how the server lists them, and how it takes them.

use traj_core::binding::{PastMessage, Speaker};
use traj_core::id::ThreadId;
use traj_core::json::{Json, Object};

/// The messages in the answer to `thread/read`, oldest first. Tool calls and reasoning are not
/// messages.
pub(crate) fn past_messages(result: &Json<'_>) -> Vec<PastMessage> {
    let turns = result.get("thread").and_then(|thread| thread.get("turns"));
    let turns = turns.and_then(Json::as_array).unwrap_or_default();
    let items = turns.iter().filter_map(|turn| turn.get("items").and_then(Json::as_array));
    items.flatten().filter_map(past_message).collect()
}

fn past_message(item: &Json<'_>) -> Option<PastMessage> {
    match item.get("type")?.as_str()? {
        "userMessage" => {
            let content = item.get("content")?.as_array()?;
            let texts: Vec<&str> =
                content.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            Some(PastMessage::new(Speaker::Person, texts.join("\n")))
        }
        "agentMessage" => {
            let text = item.get("text")?.as_str()?.to_owned();
            Some(PastMessage::new(Speaker::Model, text))
        }
        _ => None,
    }
}

/// The parameters of `thread/inject_items`: items in the form of the model's own interface.
pub(crate) fn history_params(thread: &ThreadId, messages: &[PastMessage]) -> Json<'static> {
    let items: Vec<Json<'static>> = messages.iter().map(response_item).collect();
    let mut params = Object::new();
    params.push("threadId", thread.as_str().to_owned());
    params.push("items", items);
    params.into()
}

fn response_item(message: &PastMessage) -> Json<'static> {
    let (role, kind) = match message.speaker {
        Speaker::Person => ("user", "input_text"),
        Speaker::Model => ("assistant", "output_text"),
    };
    let mut part = Object::new();
    part.push("type", kind);
    part.push("text", message.text.clone());
    let mut item = Object::new();
    item.push("type", "message");
    item.push("role", role);
    item.push("content", vec![Json::Object(part)]);
    item.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_given_back_in_the_other_form() {
        let answer = r#"{"thread":{"id":"t","turns":[{"items":[
            {"type":"userMessage","content":[{"type":"text","text":"a"},{"type":"localImage","path":"/p"},{"type":"text","text":"b"}]},
            {"type":"commandExecution","command":"ls"},
            {"type":"agentMessage","text":"c","phase":"final_answer"}]},{"items":7},{}]}}"#;
        let messages = past_messages(&Json::parse(answer).unwrap());
        let params = history_params(&ThreadId::parse("t").unwrap(), &messages);
        insta::assert_snapshot!(params.to_line(), @r#"{"threadId":"t","items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a\nb"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]}]}"#);
        assert_eq!(past_messages(&Json::Null), []);
    }
}
