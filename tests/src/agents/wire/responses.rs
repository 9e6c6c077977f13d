//! The Responses API.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Answer, Asked, EventStream, Turn, text_of};
use crate::agents::tools::OfferedTool;
use crate::model_server::http::write_json;

pub(super) fn read(body: &Value) -> Asked {
    let mut turns = Vec::new();
    let mut tools = Vec::new();
    offer(&body["tools"], None, &mut tools);
    for item in body["input"].as_array().into_iter().flatten() {
        let kind = item["type"].as_str().unwrap_or("message");
        if kind.ends_with("_output") {
            turns.push(Turn::Results);
        } else if kind.ends_with("_call") {
            turns.push(Turn::Assistant { has_calls: true });
        } else if item["role"] == "user" {
            turns.push(Turn::User(text_of(&item["content"])));
        } else if item["role"] == "assistant" {
            turns.push(Turn::Assistant { has_calls: false });
        } else if kind == "additional_tools" {
            offer(&item["tools"], None, &mut tools);
        }
    }
    let newest = body["input"].as_array().and_then(|items| items.last());
    Asked {
        turns,
        tools,
        started: newest.and_then(started_by),
        is_streamed: body["stream"] == true,
        wants_reasoning: true,
        schema: None,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
    }
}

/// The id of the sub-agent that the output of a call names.
fn started_by(item: &Value) -> Option<String> {
    let output: Value = serde_json::from_str(item["output"].as_str()?).ok()?;
    output["agent_id"].as_str().map(str::to_owned)
}

/// Adds the tools of a list, and those in its namespaces.
fn offer(list: &Value, namespace: Option<&str>, tools: &mut Vec<OfferedTool>) {
    for tool in list.as_array().into_iter().flatten() {
        let name = tool["name"].as_str();
        if tool["type"] == "namespace" {
            offer(&tool["tools"], name, tools);
        } else if let Some(name) = name {
            let takes_text = tool["type"] == "custom";
            let schema = tool["parameters"].clone();
            let (name, namespace) = (name.to_owned(), namespace.map(str::to_owned));
            tools.push(OfferedTool { name, schema, takes_text, namespace });
        }
    }
}

fn items(answer: &Answer) -> Vec<Value> {
    let id = &answer.id;
    let mut items = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        items.push(json!({
            "type": "reasoning", "id": format!("rs_{id}"),
            "summary": [{"type": "summary_text", "text": reasoning}], "encrypted_content": "c2NyaXB0",
        }));
    }
    if let Some(text) = &answer.text {
        items.push(json!({
            "type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let mut item = if call.takes_text {
            json!({
                "type": "custom_tool_call", "id": format!("ctc_{id}_{index}"), "call_id": call.id,
                "name": call.tool, "input": call.arguments, "status": "completed",
            })
        } else {
            json!({
                "type": "function_call", "id": format!("fc_{id}_{index}"), "call_id": call.id,
                "name": call.tool, "arguments": call.arguments.to_string(), "status": "completed",
            })
        };
        if let Some(namespace) = &call.namespace {
            item["namespace"] = json!(namespace);
        }
        items.push(item);
    }
    items
}

pub(super) fn write(stream: &mut TcpStream, asked: &Asked, answer: &Answer) -> std::io::Result<()> {
    let tokens = &answer.tokens;
    let usage = json!({
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    });
    let response = |status: &str, output: Vec<Value>| {
        json!({
            "id": format!("resp_{}", answer.id), "object": "response", "created_at": 1_790_000_000_u64,
            "model": asked.model, "status": status, "output": output, "usage": usage,
        })
    };
    if !asked.is_streamed {
        return write_json(stream, 200, &response("completed", items(answer)));
    }
    let mut events = EventStream::open(stream)?;
    let mut created = response("in_progress", Vec::new());
    created["usage"] = Value::Null;
    events.named("response.created", json!({"response": created}))?;
    for (index, item) in items(answer).into_iter().enumerate() {
        if item["type"] == "message" {
            let mut added = item.clone();
            added["status"] = json!("in_progress");
            let content = std::mem::replace(&mut added["content"], json!([]));
            events.named(
                "response.output_item.added",
                json!({"output_index": index, "item": added}),
            )?;
            let place = |mut event: Value| {
                event["item_id"] = item["id"].clone();
                event["output_index"] = json!(index);
                event["content_index"] = json!(0);
                event
            };
            let part = json!({"part": {"type": "output_text", "text": "", "annotations": []}});
            events.named("response.content_part.added", place(part))?;
            let text = json!({"delta": content[0]["text"]});
            events.named("response.output_text.delta", place(text))?;
        }
        events.named("response.output_item.done", json!({"output_index": index, "item": item}))?;
    }
    events.named("response.completed", json!({"response": response("completed", items(answer))}))
}
