//! The parts of a message in the form of the Gemini API, which several programs
//! store.

use std::borrow::Cow;

use super::{is_set, said, text};
use crate::json::Json;
use crate::run::{Arguments, Content, Fact, Failure, Outcome, ToolCallFact, Usage};

/// The parts of a message.
pub(super) fn parts_of<'r>(message: &'r Json<'r>) -> &'r [Json<'r>] {
    message.get("parts").and_then(Json::as_array).unwrap_or_default()
}

/// What the model thought, said and called.
pub(super) fn answer<'r>(parts: &'r [Json<'r>], emit: &mut dyn FnMut(Fact<'r>)) {
    for part in parts {
        let content = Content::of(part.get("text"));
        if let Some(call) = part.get("functionCall") {
            emit(Fact::ToolCall(call_of(call)));
        } else if content.is_blank() {
        } else if is_set(part, "thought") {
            emit(Fact::Reasoning(content));
        } else {
            emit(Fact::AssistantText(content));
        }
    }
}

/// A call.
pub(super) fn call_of<'r>(call: &'r Json<'r>) -> ToolCallFact<'r> {
    let name = said(call, "name").unwrap_or("tool");
    ToolCallFact { id: said(call, "id"), name, arguments: Arguments::of(call.get("args")) }
}

/// The number of images in a message.
pub(super) fn images(parts: &[Json<'_>]) -> u64 {
    let is_image = |part: &&Json<'_>| {
        let media = part.get("inlineData").or_else(|| part.get("fileData"));
        let kind = media.and_then(|media| text(media, "mimeType"));
        kind.is_some_and(|kind| kind.starts_with("image/"))
    };
    parts.iter().filter(is_image).count() as u64
}

/// The first result among parts.
pub(super) fn response_in<'r>(parts: &'r [Json<'r>]) -> Option<&'r Json<'r>> {
    parts.iter().find_map(|part| part.get("functionResponse"))
}

/// What a tool returned, or its error.
pub(super) fn returned<'r>(response: &'r Json<'r>) -> Content<'r> {
    let inner = response.get("response").unwrap_or(&Json::Null);
    let member = ["output", "error", "content", "result"].iter().find_map(|name| inner.get(name));
    Content::of(member)
}

/// The outcome of a command that its text states: `Exit Code: 1`.
pub(super) fn exit_in<'r>(content: Content<'r>) -> Option<Outcome<'r>> {
    let text = content.last_text()?;
    // The command's own output comes first.
    let last = text.lines().rev().take(8);
    let code = last.filter_map(|line| line.trim().strip_prefix("Exit Code: ")).next()?;
    let code = code.trim().parse::<i64>().ok()?;
    Some(if code == 0 { Outcome::Ok } else { Outcome::Failed(Failure::exit(code)) })
}

/// A failure with an error text, if any.
pub(super) fn failed<'r>(error: Option<&'r str>) -> Outcome<'r> {
    let error = error.map(Cow::Borrowed);
    Outcome::Failed(Failure { error, ..Failure::default() })
}

/// Tokens as the Gemini API states them. Some programs count thoughts as part of
/// the candidates; the total says whether.
pub(super) fn usage(stated: &Json<'_>) -> Option<Usage> {
    let number = |name: &str| stated.get(name).and_then(Json::as_u64);
    tokens(
        number("promptTokenCount")?,
        number("cachedContentTokenCount"),
        number("candidatesTokenCount"),
        number("thoughtsTokenCount"),
        number("totalTokenCount"),
    )
}

/// Tokens of one response.
pub(super) fn tokens(
    input: u64,
    cached: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    total: Option<u64>,
) -> Option<Usage> {
    let output = output.unwrap_or_default();
    let reasoning = reasoning.unwrap_or_default();
    let written = total.and_then(|total| total.checked_sub(input));
    let output = written.filter(|written| *written >= output).unwrap_or(output);
    let cached = cached.unwrap_or_default();
    Some(Usage { input, cached, cache_write: 0, output, reasoning })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_counted_once() {
        let usage = |stated: &str| {
            let usage = usage(&Json::parse(stated).unwrap()).unwrap();
            [usage.input, usage.cached, usage.output, usage.reasoning]
        };
        let within = r#"{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":8,"totalTokenCount":120,"cachedContentTokenCount":40}"#;
        assert_eq!(usage(within), [100, 40, 20, 8]);
        let beside = within.replace("\"totalTokenCount\":120", "\"totalTokenCount\":128");
        assert_eq!(usage(&beside), [100, 40, 28, 8]);
        assert_eq!(usage(r#"{"promptTokenCount":5,"candidatesTokenCount":2}"#), [5, 0, 2, 0]);
    }

    #[test]
    fn the_last_lines_state_an_exit_code() {
        let exit = |text: &'static str| {
            exit_in(Content::Text(text)).map(|outcome| (outcome.name(), outcome.exit_code()))
        };
        assert_eq!(exit("Output: x\nExit Code: 3\nSignal: (none)"), Some(("failed", Some(3))));
        assert_eq!(exit("Output: x\nExit Code: 0"), Some(("ok", None)));
        assert_eq!(exit("Exit Code: (none)"), None);
        assert_eq!(exit("plain"), None);
    }
}
