//! The Messages API.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Answer, Asked, EventStream, Turn, halves, text_of};
use crate::agents::tools::OfferedTool;
use crate::model_server::http::write_json;

pub(super) fn read(body: &Value) -> Asked {
    let mut turns = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        let has = |kind: &str| {
            content
                .as_array()
                .is_some_and(|blocks| blocks.iter().any(|block| block["type"] == kind))
        };
        if message["role"] == "user" {
            if has("tool_result") {
                turns.push(Turn::Results);
            }
            let text = text_of(content);
            if !text.is_empty() {
                turns.push(Turn::User(text));
            }
        } else {
            turns.push(Turn::Assistant { has_calls: has("tool_use") });
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten().filter_map(|tool| {
        let name = tool["name"].as_str()?.to_owned();
        Some(OfferedTool {
            name,
            schema: tool["input_schema"].clone(),
            takes_text: false,
            namespace: None,
        })
    });
    let thinking = body["thinking"]["type"].as_str();
    Asked {
        started: None,
        turns,
        tools: tools.collect(),
        is_streamed: body["stream"] == true,
        wants_reasoning: matches!(thinking, Some("enabled" | "adaptive")),
        schema: None,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
    }
}

fn blocks(asked: &Asked, answer: &Answer) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(reasoning) = answer.reasoning.as_ref().filter(|_| asked.wants_reasoning) {
        blocks
            .push(json!({"type": "thinking", "thinking": reasoning, "signature": "c2NyaXB0ZWQ="}));
    }
    if let Some(text) = &answer.text {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for call in &answer.calls {
        blocks.push(json!({
            "type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments,
        }));
    }
    blocks
}

fn usage(answer: &Answer) -> Value {
    let tokens = &answer.tokens;
    json!({
        "input_tokens": tokens.input - tokens.cached - tokens.written,
        "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
        "service_tier": "standard",
    })
}

pub(super) fn write(stream: &mut TcpStream, asked: &Asked, answer: &Answer) -> std::io::Result<()> {
    let stop = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    let mut message = json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant",
        "model": asked.model, "content": blocks(asked, answer), "stop_reason": stop,
        "stop_sequence": null, "usage": usage(answer),
    });
    if !asked.is_streamed {
        return write_json(stream, 200, &message);
    }
    let blocks = std::mem::replace(&mut message["content"], json!([]));
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    let mut events = EventStream::open(stream)?;
    events.named("message_start", json!({"message": message}))?;
    for (index, block) in blocks.as_array().into_iter().flatten().enumerate() {
        let (start, deltas) = pieces(block);
        events.named("content_block_start", json!({"index": index, "content_block": start}))?;
        for delta in deltas {
            events.named("content_block_delta", json!({"index": index, "delta": delta}))?;
        }
        events.named("content_block_stop", json!({"index": index}))?;
    }
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    events.named("message_delta", json!({"delta": delta, "usage": usage(answer)}))?;
    events.named("message_stop", json!({}))
}

/// The beginning of a block, and the deltas that complete it.
fn pieces(block: &Value) -> (Value, Vec<Value>) {
    let mut start = block.clone();
    let deltas = match block["type"].as_str().unwrap_or_default() {
        "thinking" => {
            start["thinking"] = json!("");
            start["signature"] = json!("");
            let text = block["thinking"].as_str().unwrap_or_default();
            let mut deltas: Vec<Value> = halves(text)
                .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
                .collect();
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            deltas
        }
        "text" => {
            start["text"] = json!("");
            let text = block["text"].as_str().unwrap_or_default();
            halves(text).map(|piece| json!({"type": "text_delta", "text": piece})).collect()
        }
        _ => {
            start["input"] = json!({});
            let input = block["input"].to_string();
            halves(&input)
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect()
        }
    };
    (start, deltas)
}
