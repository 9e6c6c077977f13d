//! The chat completions API.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Answer, Asked, EventStream, Turn, halves, text_of};
use crate::agents::tools::OfferedTool;
use crate::model_server::http::write_json;

pub(super) fn read(body: &Value) -> Asked {
    let messages = body["messages"].as_array().into_iter().flatten();
    let turns = messages.filter_map(|message| {
        Some(match message["role"].as_str()? {
            "user" => Turn::User(text_of(&message["content"])),
            "tool" => Turn::Results,
            "assistant" => {
                let calls = message["tool_calls"].as_array();
                Turn::Assistant { has_calls: calls.is_some_and(|calls| !calls.is_empty()) }
            }
            _ => return None,
        })
    });
    let tools = body["tools"].as_array().into_iter().flatten().filter_map(|tool| {
        let function = tool.get("function")?;
        let name = function["name"].as_str()?.to_owned();
        Some(OfferedTool {
            name,
            schema: function["parameters"].clone(),
            takes_text: false,
            namespace: None,
        })
    });
    Asked {
        started: None,
        turns: turns.collect(),
        tools: tools.collect(),
        is_streamed: body["stream"] == true,
        wants_reasoning: true,
        schema: None,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
    }
}

fn calls(answer: &Answer) -> Vec<Value> {
    let call = |(index, call): (usize, &crate::agents::tools::ServedCall)| {
        json!({
            "index": index, "id": call.id, "type": "function",
            "function": {"name": call.tool, "arguments": call.arguments.to_string()},
        })
    };
    answer.calls.iter().enumerate().map(call).collect()
}

fn usage(answer: &Answer) -> Value {
    let tokens = &answer.tokens;
    json!({
        "prompt_tokens": tokens.input, "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    })
}

pub(super) fn write(stream: &mut TcpStream, asked: &Asked, answer: &Answer) -> std::io::Result<()> {
    let id = format!("chatcmpl-{}", answer.id);
    let finish = if answer.calls.is_empty() { "stop" } else { "tool_calls" };
    if !asked.is_streamed {
        let mut message = json!({"role": "assistant", "content": answer.text});
        if !answer.calls.is_empty() {
            message["tool_calls"] = json!(calls(answer));
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let body = json!({
            "id": id, "object": "chat.completion", "created": 1_790_000_000_u64,
            "model": asked.model, "choices": [choice], "usage": usage(answer),
        });
        return write_json(stream, 200, &body);
    }
    let chunk = |choices: Value| {
        json!({
            "id": id, "object": "chat.completion.chunk", "created": 1_790_000_000_u64,
            "model": asked.model, "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut events = EventStream::open(stream)?;
    events.data(&delta(json!({"role": "assistant", "content": ""})))?;
    for piece in halves(answer.reasoning.as_deref().unwrap_or_default()) {
        events.data(&delta(json!({"reasoning_content": piece})))?;
    }
    for piece in halves(answer.text.as_deref().unwrap_or_default()) {
        events.data(&delta(json!({"content": piece})))?;
    }
    for mut call in calls(answer) {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default().to_owned();
        let index = call["index"].clone();
        call["function"]["arguments"] = json!("");
        events.data(&delta(json!({"tool_calls": [call]})))?;
        for piece in halves(&arguments) {
            let part = json!({"index": index, "function": {"arguments": piece}});
            events.data(&delta(json!({"tool_calls": [part]})))?;
        }
    }
    events.data(&chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}])))?;
    let mut last = chunk(json!([]));
    last["usage"] = usage(answer);
    events.data(&last)?;
    events.done()
}
