//! What the columns of an item say about a step.

use traj_core::run::{ApprovalOutcome, Outcome, one_line};

use super::{Item, ItemKind, ItemList, LONGEST, NO_EXIT_CODE, flag, span};
use crate::inspect::story::{ShownCall, What};
use crate::page::notes::{FactKind, NO_ROW, TextPlaces};
use crate::page::strings::StringTable;

impl ItemList {
    pub(super) fn describe(&mut self, what: &What, note: &TextPlaces, item: &mut Item) {
        let label =
            |strings: &mut StringTable, text: &str| strings.shared(&one_line(text, LONGEST));
        let strings = &mut self.strings;
        item.kind = match what {
            What::Prompt { skipped, .. } => {
                if let Some(reason) = skipped {
                    item.flags |= flag::SKIPPED;
                    item.words = label(strings, reason);
                }
                ItemKind::Prompt
            }
            What::Text { .. } => ItemKind::Text,
            What::Reasoning { .. } => ItemKind::Reasoning,
            What::Call(call) => {
                self.describe_call(call, note, item);
                ItemKind::Call
            }
            What::ModelCall(call) => {
                item.label = label(strings, call.model.as_deref().unwrap_or_default());
                end_at_start(item, call.duration_millis);
                ItemKind::ModelCall
            }
            What::Turn { duration_millis, .. } => {
                end_at_start(item, *duration_millis);
                ItemKind::TurnEnd
            }
            What::Approval { subject, decision, decider, reason, waited_millis } => {
                item.label = label(strings, subject.as_deref().unwrap_or_default());
                let by = decider.as_deref().map(|decider| format!("by {decider}"));
                let words = [*decision, by.as_deref(), reason.as_deref()].into_iter().flatten();
                item.words = label(strings, &words.collect::<Vec<_>>().join(": "));
                item.duration = span(*waited_millis);
                let is_denied = *decision == Some(ApprovalOutcome::Denied.as_str());
                item.flags |= if is_denied { flag::DECLINED } else { 0 };
                ItemKind::Approval
            }
            What::Compaction { tokens_before, .. } => {
                let before = tokens_before.map(|tokens| format!("at {tokens} tokens"));
                item.label = label(strings, &before.unwrap_or_default());
                ItemKind::Compaction
            }
            What::Changed { about } => {
                item.label = label(strings, about);
                ItemKind::Changed
            }
            What::Error { text, is_recovered } => {
                item.label = label(strings, text);
                item.flags |= if *is_recovered { flag::RECOVERED } else { flag::FAILED };
                ItemKind::Error
            }
            What::Lost { about } => {
                item.label = label(strings, about);
                ItemKind::Lost
            }
            What::Ended { status, error, is_failure } => {
                item.label = label(strings, status);
                item.words = label(strings, error.as_deref().unwrap_or_default());
                item.flags |= if *is_failure { flag::FAILED } else { 0 };
                ItemKind::Ended
            }
            What::Aside { about } => {
                item.label = label(strings, about);
                item.flags |= if note.is_failed { flag::FAILED } else { 0 };
                match note.kind {
                    FactKind::Started => ItemKind::Started,
                    FactKind::Context => ItemKind::Context,
                    FactKind::Attachment => ItemKind::Attachment,
                    FactKind::Hook => ItemKind::Hook,
                    FactKind::Branches => ItemKind::Branches,
                    FactKind::Plain => ItemKind::Row,
                }
            }
        };
    }

    fn describe_call(&mut self, call: &ShownCall, note: &TextPlaces, item: &mut Item) {
        item.label = self.strings.shared(&one_line(&call.tool, LONGEST));
        let id = call.id.as_deref().unwrap_or_default();
        item.call_id = self.strings.single(&one_line(id, LONGEST));
        item.words = self.strings.shared(&one_line(&call.in_words, LONGEST));
        item.duration = span(call.duration_millis);
        // Only its end is recorded.
        if note.row == NO_ROW && item.duration.is_finite() {
            item.start -= item.duration;
        }
        let code = call.exit_code.and_then(|code| i32::try_from(code).ok());
        item.exit_code = code.unwrap_or(NO_EXIT_CODE);
        let outcomes = [
            (Outcome::TimedOut, flag::TIMED_OUT),
            (Outcome::Declined, flag::DECLINED),
            (Outcome::Interrupted, flag::INTERRUPTED),
            (Outcome::Unanswered, flag::UNANSWERED),
        ];
        for (outcome, flag) in outcomes {
            if call.outcome == outcome.name() {
                item.flags |= flag;
            }
        }
        for (is_set, flag) in [
            (call.is_failure, flag::FAILED),
            (call.is_truncated, flag::TRUNCATED),
            (note.is_edit, flag::EDIT),
        ] {
            item.flags |= if is_set { flag } else { 0 };
        }
        let failed = &mut self.failure;
        let is_same = failed.tool.as_deref() == Some(call.tool.as_str())
            && failed.command.is_some()
            && failed.command == call.command;
        if is_same && failed.passed_later.is_none() && call.outcome == Outcome::Ok.name() {
            failed.passed_later = u32::try_from(self.items.len()).ok();
        }
    }
}

/// Moves the start back: the row was written at the end of what it states.
fn end_at_start(item: &mut Item, millis: Option<u64>) {
    item.duration = span(millis);
    if item.duration.is_finite() {
        item.start -= item.duration;
    }
}
