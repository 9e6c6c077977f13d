//! Notes for each step of the story: the rows that state it, and where in them
//! its texts are.

use std::borrow::Cow;

use traj_core::run::{
    CommandPlace, Content, Fact, FirstFailure, Outcome, Run, RunEvent, ToolCallFact,
    ToolResultFact, command_of, command_place, is_edit,
};

use super::paths::{Node, PathStep, PathTable};
use crate::inspect::story::StepNotes;

/// No row.
pub(super) const NO_ROW: u32 = u32::MAX;

/// How many lines of the failing output are shown first.
const LAST_LINES: usize = 40;

/// A line of them has at most this many characters.
const LONGEST_LINE: usize = 400;

/// Where the texts of a step are.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPlaces {
    pub(super) row: u32,
    pub(super) result_row: u32,
    pub(super) path: u16,
    pub(super) command_path: u16,
    pub(super) result_path: u16,
    pub(super) bytes: u64,
    pub(super) result_bytes: u64,
    command_bytes: usize,
    pub(super) kind: FactKind,
    pub(super) is_edit: bool,
    pub(super) has_images: bool,
    pub(super) is_failed: bool,
}

impl Default for TextPlaces {
    fn default() -> Self {
        Self {
            row: NO_ROW,
            result_row: NO_ROW,
            path: 0,
            command_path: 0,
            result_path: 0,
            bytes: 0,
            result_bytes: 0,
            command_bytes: 0,
            kind: FactKind::Plain,
            is_edit: false,
            has_images: false,
            is_failed: false,
        }
    }
}

/// What kind of fact a step begins with, where the step does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FactKind {
    Plain,
    Started,
    Context,
    Attachment,
    Hook,
    Branches,
}

/// The last lines of the output of the call that failed first.
#[derive(Debug, Default)]
pub(super) struct FailureOutput {
    bytes: u64,
    pub(super) last_lines: Vec<String>,
    pub(super) lines: u64,
}

/// Finds the texts of steps.
#[derive(Debug, Default)]
pub(super) struct PageNotes {
    pub(super) paths: PathTable,
    /// The position of the call that failed first.
    failed_call: Option<u64>,
    pub(super) failure: FailureOutput,
}

impl PageNotes {
    pub(super) fn new(run: &Run) -> Self {
        let failed_call = match &run.first_failure {
            Some(FirstFailure::Call(call)) => Some(call.seq),
            _ => None,
        };
        Self { failed_call, ..Self::default() }
    }

    fn content(&mut self, note: &mut TextPlaces, content: &Content<'_>, event: &RunEvent<'_>) {
        note.path = self.paths.find(event.raw, Node::of_content(content));
        note.bytes = content.bytes();
        note.has_images = content.images() > 0;
    }

    fn text(&mut self, note: &mut TextPlaces, text: Option<&Cow<'_, str>>, event: &RunEvent<'_>) {
        let Some(text) = text else { return };
        note.bytes = text.len() as u64;
        // A text that was put together is nowhere in the row.
        if let Cow::Borrowed(text) = text {
            note.path = self.paths.find(event.raw, Some(Node::Text(text)));
        }
    }

    fn call(&mut self, note: &mut TextPlaces, call: &ToolCallFact<'_>, event: &RunEvent<'_>) {
        note.row = row_of(event);
        note.path = self.paths.find(event.raw, Node::of_arguments(&call.arguments));
        note.is_edit = is_edit(call);
        note.command_bytes = command_of(call).map_or(0, |command| command.len());
        let is_text = matches!(Node::of_arguments(&call.arguments), Some(Node::Text(_)));
        let name = |name: &str| PathStep::Name(name.to_owned());
        let steps = match command_place(call) {
            Some(CommandPlace::Member(member)) => vec![name(member)],
            Some(CommandPlace::Script { member, word }) => {
                member.map(name).into_iter().chain([PathStep::Index(word)]).collect()
            }
            _ => Vec::new(),
        };
        note.command_path = if steps.is_empty() {
            0
        } else {
            self.paths.below(note.path, is_text.then_some(PathStep::Json).into_iter().chain(steps))
        };
    }

    fn result(&mut self, note: &mut TextPlaces, result: &ToolResultFact<'_>, event: &RunEvent<'_>) {
        let bytes = result.content.bytes();
        note.has_images |= result.content.images() > 0;
        if note.result_row != NO_ROW && bytes <= note.result_bytes {
            return;
        }
        note.result_row = row_of(event);
        note.result_path = self.paths.find(event.raw, Node::of_content(&result.content));
        note.result_bytes = bytes;
        let failed = self.failed_call.map(|seq| u32::try_from(seq.saturating_sub(1)));
        let is_first_failure = |row: u32| failed.is_some_and(|failed| failed == Ok(row));
        if (is_first_failure(note.row) || is_first_failure(note.result_row))
            && (self.failure.bytes < bytes || self.failure.lines == 0)
        {
            self.failure = FailureOutput::of(&result.content, bytes);
        }
    }
}

impl FailureOutput {
    fn of(content: &Content<'_>, bytes: u64) -> Self {
        let text = content.to_text();
        let text = text.trim_end();
        let lines = text.lines().count();
        let last = text.lines().skip(lines.saturating_sub(LAST_LINES));
        let last_lines = last.map(|line| traj_core::run::cut(line, LONGEST_LINE)).collect();
        Self { bytes, last_lines, lines: lines as u64 }
    }
}

/// The row that states an event, from 0.
pub(super) fn row_of(event: &RunEvent<'_>) -> u32 {
    event.place.line.checked_sub(1).and_then(|row| u32::try_from(row).ok()).unwrap_or(NO_ROW)
}

impl StepNotes for PageNotes {
    type Note = TextPlaces;

    fn begin(&mut self, event: &RunEvent<'_>) -> TextPlaces {
        let mut note = TextPlaces { row: row_of(event), ..TextPlaces::default() };
        match &event.fact {
            Fact::Prompt(prompt) => {
                self.content(&mut note, &prompt.content, event);
                note.has_images |= prompt.images > 0;
            }
            Fact::AssistantText(content) | Fact::Reasoning(content) => {
                self.content(&mut note, content, event);
            }
            Fact::ToolCall(call) => self.call(&mut note, call, event),
            Fact::ToolResult(result) => {
                note.row = NO_ROW;
                self.result(&mut note, result, event);
            }
            Fact::ApprovalAsked(approval) | Fact::ApprovalDecided(approval) => {
                self.text(&mut note, approval.subject.as_ref(), event);
            }
            Fact::Compaction(compaction) => self.content(&mut note, &compaction.summary, event),
            Fact::Rewind(rewind) => self.content(&mut note, &rewind.summary, event),
            Fact::Error(error) => self.text(&mut note, Some(&error.text), event),
            Fact::ModelCall(call) => self.text(&mut note, call.error.as_ref(), event),
            Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => {
                self.text(&mut note, ended.error.as_ref(), event);
            }
            Fact::SessionStarted(_) => note.kind = FactKind::Started,
            Fact::Branches(_) => note.kind = FactKind::Branches,
            Fact::ContextCompiled(context) => {
                note.kind = FactKind::Context;
                self.content(&mut note, &context.system, event);
                if let Some(tools) = context.tools {
                    note.result_row = note.row;
                    note.result_path = self.paths.find(event.raw, Some(Node::Value(tools)));
                }
            }
            Fact::Attachment(attachment) => {
                note.kind = FactKind::Attachment;
                self.content(&mut note, &attachment.content, event);
            }
            Fact::Hook(hook) => {
                note.kind = FactKind::Hook;
                note.is_failed = hook.outcome.is_failure() && hook.outcome != Outcome::Unanswered;
                self.content(&mut note, &hook.content, event);
            }
            _ => {}
        }
        note
    }

    fn join(&mut self, note: &mut TextPlaces, event: &RunEvent<'_>) {
        match &event.fact {
            Fact::ToolResult(result) => self.result(note, result, event),
            Fact::ToolCall(call) => {
                let command = command_of(call).map_or(0, |command| command.len());
                let has_arguments = Node::of_arguments(&call.arguments).is_some();
                // The fuller witness wins.
                if note.row == NO_ROW
                    || (note.path == 0 && has_arguments)
                    || command > note.command_bytes
                {
                    self.call(note, call, event);
                }
            }
            Fact::ApprovalDecided(_) => note.result_row = row_of(event),
            _ => {}
        }
    }
}
