//! The APIs that agents speak to a model: what was asked, and how an answer is streamed.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::tools::{OfferedTool, ServedCall};

/// One part of the conversation that an agent sent.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    User(String),
    Assistant { has_calls: bool },
    Results,
}

/// A request to the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<OfferedTool>,
    pub(super) is_streamed: bool,
    /// Whether the agent asked for reasoning.
    pub(super) wants_reasoning: bool,
    /// The sub-agent that was started last, if its answer has to be waited for.
    pub(super) started: Option<String>,
    /// The schema of the answer, if the agent wants JSON.
    pub(super) schema: Option<Value>,
    pub(super) model: String,
}

/// The tokens of an answer, as the model counts them. `input` includes cached tokens and tokens
/// written to the cache; `output` includes reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain sum")]
pub struct Tokens {
    /// Tokens read.
    pub input: u64,
    /// Tokens read from a cache.
    pub cached: u64,
    /// Tokens written to a cache.
    pub written: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens of reasoning.
    pub reasoning: u64,
}

impl From<[u64; 5]> for Tokens {
    fn from([input, cached, written, output, reasoning]: [u64; 5]) -> Self {
        Self { input, cached, written, output, reasoning }
    }
}

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) id: String,
    pub(super) reasoning: Option<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<ServedCall>,
    pub(super) tokens: Tokens,
}

/// An API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Anthropic,
    Chat,
    Responses,
    Gemini { is_streamed: bool },
}

impl Api {
    /// The API that a path belongs to.
    pub(super) fn of(path: &str) -> Option<Self> {
        Some(if path.ends_with("/messages") {
            Self::Anthropic
        } else if path.ends_with("/chat/completions") {
            Self::Chat
        } else if path.ends_with("/responses") {
            Self::Responses
        } else if path.ends_with(":streamGenerateContent") {
            Self::Gemini { is_streamed: true }
        } else if path.ends_with(":generateContent") {
            Self::Gemini { is_streamed: false }
        } else {
            return None;
        })
    }

    /// Reads a request.
    pub(super) fn read(self, body: &Value) -> Asked {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Chat => chat::read(body),
            Self::Responses => responses::read(body),
            Self::Gemini { is_streamed } => gemini::read(body, is_streamed),
        }
    }

    /// The prefix of the ids that the model gives to calls.
    pub(super) const fn call_prefix(self) -> &'static str {
        match self {
            Self::Anthropic => "toolu_",
            _ => "call_",
        }
    }

    /// Sends an answer.
    pub(super) fn write(
        self,
        stream: &mut TcpStream,
        asked: &Asked,
        answer: &Answer,
    ) -> std::io::Result<()> {
        match self {
            Self::Anthropic => anthropic::write(stream, asked, answer),
            Self::Chat => chat::write(stream, asked, answer),
            Self::Responses => responses::write(stream, asked, answer),
            Self::Gemini { .. } => gemini::write(stream, asked, answer),
        }
    }

    /// The body of an error.
    pub(super) fn error(self, status: u16) -> Value {
        let message = "the scripted model refuses this request";
        match self {
            Self::Anthropic => json!({"type": "error", "error": {
                "type": "invalid_request_error", "message": message,
            }}),
            Self::Gemini { .. } => json!({"error": {
                "code": status, "message": message, "status": "INVALID_ARGUMENT",
            }}),
            Self::Chat | Self::Responses => json!({"error": {
                "message": message, "type": "invalid_request_error", "code": "scripted", "param": null,
            }}),
        }
    }
}

/// A stream of server-sent events.
struct EventStream<'s> {
    stream: &'s mut TcpStream,
}

impl<'s> EventStream<'s> {
    fn open(stream: &'s mut TcpStream) -> std::io::Result<Self> {
        stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        )?;
        Ok(Self { stream })
    }

    /// An event whose name is also the `type` of its data.
    fn named(&mut self, name: &str, mut data: Value) -> std::io::Result<()> {
        data["type"] = json!(name);
        write!(self.stream, "event: {name}\ndata: {data}\n\n")?;
        self.stream.flush()
    }

    fn data(&mut self, data: &Value) -> std::io::Result<()> {
        write!(self.stream, "data: {data}\n\n")?;
        self.stream.flush()
    }

    fn done(&mut self) -> std::io::Result<()> {
        self.stream.write_all(b"data: [DONE]\n\n")
    }
}

/// The text of a message: a string, or the text parts of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// A text in two pieces, as a model would stream it.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (first, second) = text.split_at(middle);
    [first, second].into_iter().filter(|piece| !piece.is_empty())
}
