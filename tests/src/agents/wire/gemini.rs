//! The Gemini API.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Answer, Asked, EventStream, Turn, text_of};
use crate::agents::tools::OfferedTool;
use crate::model_server::http::write_json;

pub(super) fn read(body: &Value, is_streamed: bool) -> Asked {
    let mut turns = Vec::new();
    for content in body["contents"].as_array().into_iter().flatten() {
        let parts = &content["parts"];
        let has = |name: &str| {
            parts.as_array().is_some_and(|parts| parts.iter().any(|part| part.get(name).is_some()))
        };
        if content["role"] == "model" {
            turns.push(Turn::Assistant { has_calls: has("functionCall") });
        } else {
            if has("functionResponse") {
                turns.push(Turn::Results);
            }
            let text = text_of(parts);
            if !text.is_empty() {
                turns.push(Turn::User(text));
            }
        }
    }
    let declared = body["tools"].as_array().into_iter().flatten();
    let declared =
        declared.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
    let tools = declared.filter_map(|function| {
        let name = function["name"].as_str()?.to_owned();
        let schema = function.get("parametersJsonSchema").or_else(|| function.get("parameters"));
        let schema = schema.cloned().unwrap_or_default();
        Some(OfferedTool { name, schema, takes_text: false, namespace: None })
    });
    let settings = &body["generationConfig"];
    let schema = settings.get("responseJsonSchema").or_else(|| settings.get("responseSchema"));
    Asked {
        started: None,
        turns,
        tools: tools.collect(),
        is_streamed,
        wants_reasoning: true,
        schema: schema.cloned(),
        model: "scripted".to_owned(),
    }
}

pub(super) fn write(stream: &mut TcpStream, asked: &Asked, answer: &Answer) -> std::io::Result<()> {
    // This API counts reasoning separately from the answer.
    let tokens = &answer.tokens;
    let usage = json!({
        "promptTokenCount": tokens.input,
        "cachedContentTokenCount": tokens.cached,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.output,
    });
    let mut parts = Vec::new();
    if let Some(reasoning) = &answer.reasoning {
        parts.push(json!({"thought": true, "text": reasoning}));
    }
    if let Some(text) = &answer.text {
        parts.push(json!({"text": text}));
    }
    for call in &answer.calls {
        parts.push(json!({
            "functionCall": {"name": call.tool, "args": call.arguments}, "thoughtSignature": "c2NyaXB0",
        }));
    }
    let body = |parts: Vec<Value>, finish: Option<&str>| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        json!({
            "candidates": [candidate], "usageMetadata": usage,
            "modelVersion": "scripted", "responseId": answer.id,
        })
    };
    if !asked.is_streamed {
        return write_json(stream, 200, &body(parts, Some("STOP")));
    }
    let mut events = EventStream::open(stream)?;
    for part in parts {
        events.data(&body(vec![part], None))?;
    }
    events.data(&body(vec![json!({"text": ""})], Some("STOP")))
}
