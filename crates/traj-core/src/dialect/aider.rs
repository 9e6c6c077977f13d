//! aider: a history in Markdown. Each paragraph becomes a row.
//!
//! The history has no ids. It states a time only where a chat begins: the local
//! time, without a zone.

use std::borrow::Cow;

use super::{Dialect, said, text};
use crate::json::{Json, Object};
use crate::run::{
    Attachment, Content, ErrorFact, Fact, ModelCall, ModelChange, Origin, Place, Prompt, RunEvent,
    SessionStart, StatedCost, Usage,
};

/// What a paragraph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AiderParagraph {
    /// The beginning of a chat, with its time.
    Start,
    /// What a person typed.
    User,
    /// What the model said.
    Assistant,
    /// What the program said.
    Program,
}

impl AiderParagraph {
    const ALL: [Self; 4] = [Self::Start, Self::User, Self::Assistant, Self::Program];

    const fn row_type(self) -> &'static str {
        match self {
            Self::Start => "aider/start",
            Self::User => "aider/user",
            Self::Assistant => "aider/assistant",
            Self::Program => "aider/program",
        }
    }

    /// The row of a paragraph.
    pub(crate) fn row(self, number: u64, words: &str) -> Object<'_> {
        let mut row = Object::with_capacity(4);
        row.push("type", self.row_type());
        row.push("number", number);
        if self == Self::Start {
            let time = words.trim().replacen(' ', "T", 1);
            row.push("session", format!("aider-{}", time.replace(':', "-")));
            row.push("timestamp", format!("{time}Z"));
        } else {
            row.push("text", words);
        }
        row
    }
}

fn paragraph_of(row: &Json<'_>) -> Option<AiderParagraph> {
    let kind = text(row, "type")?;
    AiderParagraph::ALL.into_iter().find(|paragraph| paragraph.row_type() == kind)
}

/// Whether a row is a paragraph.
pub(super) fn recognises(row: &Json<'_>) -> bool {
    paragraph_of(row).is_some()
}

/// Emits the facts of a row.
pub(super) fn decode<'r>(row: &'r Json<'r>, place: Place, emit: &mut dyn FnMut(RunEvent<'r>)) {
    let content = Content::of(row.get("text"));
    let fact = match paragraph_of(row) {
        Some(AiderParagraph::Start) => Fact::SessionStarted(SessionStart {
            session: said(row, "session"),
            agent: Some(Cow::Borrowed("aider")),
            ..SessionStart::default()
        }),
        Some(AiderParagraph::User) => Fact::Prompt(Prompt { content, images: 0, skipped: None }),
        Some(AiderParagraph::Assistant) => Fact::AssistantText(content),
        Some(AiderParagraph::Program) => program(text(row, "text").unwrap_or_default()),
        None => other(text(row, "type").unwrap_or_default(), false),
    };
    let mut event = RunEvent::new(Origin::Transcript, place, row, fact);
    event.at = Dialect::Aider.time_of(row);
    emit(event);
}

fn other(name: &str, is_known: bool) -> Fact<'_> {
    Fact::Other { name: Cow::Borrowed(name), is_known }
}

/// What the program said.
fn program(words: &str) -> Fact<'_> {
    let line = words.lines().next().unwrap_or_default().trim();
    if let Some(tokens) = line.strip_prefix("Tokens: ") {
        return tokens_of(tokens).unwrap_or_else(|| other("tokens", true));
    }
    if let Some(version) = line.strip_prefix("Aider v") {
        return Fact::SessionStarted(SessionStart {
            agent: Some(Cow::Borrowed("aider")),
            agent_version: Some(version),
            ..SessionStart::default()
        });
    }
    let model = ["Model: ", "Main model: "].iter().find_map(|lead| line.strip_prefix(lead));
    if let Some(model) = model.and_then(|model| model.split_whitespace().next()) {
        return Fact::ModelChanged(ModelChange { model: Some(model), ..ModelChange::default() });
    }
    if let Some(file) = line.strip_prefix("Applied edit to ") {
        let kind = Some(Cow::Borrowed("edit"));
        return Fact::Attachment(Attachment { kind, name: Some(file), content: Content::None });
    }
    if is_error(line) {
        let text = Cow::Borrowed(words.trim());
        return Fact::Error(ErrorFact { text, kind: None, is_recovered: false });
    }
    other("note", true)
}

fn is_error(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    name.starts_with("litellm.") && name.ends_with("Error")
}

/// `2.4k sent, 1.2k cache hit, 43 received. Cost: $0.01 message, $0.02 session.`
fn tokens_of<'r>(line: &str) -> Option<Fact<'r>> {
    let (counts, cost) = line.split_once(". ").unwrap_or((line.trim_end_matches('.'), ""));
    let mut usage = Usage::default();
    for count in counts.split(", ") {
        let (number, what) = count.split_once(' ')?;
        let number = number_of(number)?;
        match what.trim_end_matches('.') {
            "sent" => usage.input = usage.input.saturating_add(number),
            "received" => usage.output = number,
            "cache hit" => usage.cached = number,
            "cache write" => usage.cache_write = number,
            _ => {}
        }
    }
    let cost = cost.strip_prefix("Cost: $").and_then(|cost| cost.split_whitespace().next());
    let cost = cost.and_then(|cost| cost.parse().ok()).map(|dollars| StatedCost { dollars });
    Some(Fact::ModelCall(ModelCall { usage: Some(usage), cost, ..ModelCall::default() }))
}

/// A count such as `43` or `2.4k`: larger ones are rounded.
fn number_of(text: &str) -> Option<u64> {
    let (digits, zeros) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(digits), _) => (digits, 3),
        (_, Some(digits)) => (digits, 6),
        _ => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let padded = format!("{whole}{part:0<zeros$}");
    (part.len() <= zeros).then(|| padded.replace(',', "").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_costs_are_read_from_prose() {
        let read = |line: &'static str| match program(line) {
            Fact::ModelCall(call) => {
                let usage = call.usage.unwrap();
                Some((
                    [usage.input, usage.cached, usage.output],
                    call.cost.map(|cost| cost.dollars),
                ))
            }
            _ => None,
        };
        assert_eq!(read("Tokens: 2.4k sent, 43 received."), Some(([2_400, 0, 43], None)));
        assert_eq!(
            read(
                "Tokens: 12k sent, 10k cache hit, 1.1k received. Cost: $0.02 message, $0.05 session."
            ),
            Some(([12_000, 10_000, 1_100], Some(0.02)))
        );
        assert_eq!(read("Tokens: many"), None);
        assert!(matches!(program("litellm.BadRequestError: no"), Fact::Error(_)));
        assert!(matches!(program("Repo-map: disabled"), Fact::Other { is_known: true, .. }));
    }
}
