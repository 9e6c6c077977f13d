//! What converters need of a step besides what people are shown.

use traj_core::json::Json;
use traj_core::run::{Arguments, Fact, RunEvent};

use crate::inspect::story::StepNotes;

/// What is noted of a step.
#[derive(Debug, Default)]
pub(super) struct FactNote {
    /// The number of its first event.
    pub(super) seq: u64,
    /// The transcript entry that states it.
    pub(super) entry: Option<String>,
    /// The arguments of a call.
    pub(super) arguments: CallArguments,
    /// Of a model call: the id of the response, and the provider.
    pub(super) response: Option<String>,
    pub(super) provider: Option<String>,
    /// Why the model stopped.
    pub(super) stop_reason: Option<String>,
    /// The name of the model that the source states, without the provider.
    pub(super) model: Option<String>,
    /// How many images the output or the prompt has.
    pub(super) images: u64,
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum CallArguments {
    #[default]
    None,
    /// A value.
    Value(Json<'static>),
    /// Text that is not a JSON object, such as a patch.
    Text(String),
}

impl CallArguments {
    fn of(arguments: Arguments<'_>) -> Self {
        match arguments {
            Arguments::Value(value) => Self::Value(value.clone().into_owned()),
            Arguments::Text(text) => arguments.with_value(|value| match value {
                Some(value) => Self::Value(value.clone().into_owned()),
                None => Self::Text(text.to_owned()),
            }),
            _ => Self::None,
        }
    }

    /// About how many bytes of text they have.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Value(value) => text_bytes(value, DEEPEST),
            Self::Text(text) => text.len(),
        }
    }

    /// As JSON text; empty if there are none.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Value(value) => {
                let mut text = String::new();
                value.write_compact(&mut text);
                text
            }
            Self::Text(text) => text.clone(),
        }
    }
}

/// Texts that are nested deeper are not counted.
const DEEPEST: usize = 64;

fn text_bytes(value: &Json<'_>, depth: usize) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) if depth > 0 => {
            items.iter().map(|item| text_bytes(item, depth - 1)).sum()
        }
        Json::Object(object) if depth > 0 => {
            object.iter().map(|(_, member)| text_bytes(member, depth - 1)).sum()
        }
        _ => 0,
    }
}

/// Takes the notes.
#[derive(Debug)]
pub(super) struct FactNotes;

impl StepNotes for FactNotes {
    type Note = FactNote;

    fn begin(&mut self, event: &RunEvent<'_>) -> FactNote {
        let mut note = FactNote { seq: event.place.line, ..FactNote::default() };
        self.join(&mut note, event);
        note
    }

    fn bytes(note: &FactNote) -> usize {
        note.arguments.bytes()
    }

    fn join(&mut self, note: &mut FactNote, event: &RunEvent<'_>) {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        if note.entry.is_none() {
            note.entry = owned(event.entry);
        }
        match &event.fact {
            Fact::ToolCall(call) => {
                let arguments = CallArguments::of(call.arguments);
                // The recorder may have cut what the transcript has whole.
                if note.arguments.to_text().len() < arguments.to_text().len() {
                    note.arguments = arguments;
                }
            }
            Fact::ToolResult(result) => note.images = note.images.max(result.content.images()),
            Fact::Prompt(prompt) => note.images = note.images.max(prompt.images),
            Fact::ModelCall(call) => {
                note.response = owned(call.id).or(note.response.take());
                note.provider = owned(call.provider).or(note.provider.take());
                note.model = owned(call.model).or(note.model.take());
                let reason = call.stop_reason.as_deref();
                note.stop_reason = owned(reason).or(note.stop_reason.take());
            }
            _ => {}
        }
    }
}
