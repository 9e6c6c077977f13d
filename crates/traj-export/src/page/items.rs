//! The items of a page: every step of the story once, and every row that no
//! step is made of.

mod describe;
mod threads;

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::run::{Run, one_line};
use traj_core::timestamp::UnixMillis;

use super::files::RowTable;
use super::notes::{NO_ROW, TextPlaces};
use super::strings::StringTable;
use crate::inspect::story::{ModelUse, StoryStep, What};
use threads::Threads;

pub(super) use threads::PageThread;

/// No item.
pub(super) const NO_ITEM: u32 = u32::MAX;

/// No exit code.
pub(super) const NO_EXIT_CODE: i32 = i32::MAX;

/// Strings of the index have at most this many characters.
const LONGEST: usize = 199;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ItemKind {
    Prompt = 1,
    Text = 2,
    Reasoning = 3,
    Call = 4,
    ModelCall = 5,
    Approval = 6,
    Compaction = 7,
    Changed = 8,
    Error = 9,
    Lost = 10,
    Ended = 11,
    Started = 12,
    Context = 13,
    Attachment = 14,
    Hook = 15,
    Row = 16,
    TurnEnd = 17,
    Branches = 18,
}

/// What is special about an item.
pub(super) mod flag {
    pub(in crate::page) const FAILED: u16 = 1;
    pub(in crate::page) const DECLINED: u16 = 2;
    pub(in crate::page) const INTERRUPTED: u16 = 4;
    pub(in crate::page) const UNANSWERED: u16 = 8;
    pub(in crate::page) const REDACTED: u16 = 16;
    pub(in crate::page) const TRUNCATED: u16 = 32;
    pub(in crate::page) const EDIT: u16 = 64;
    pub(in crate::page) const FIRST_FAILURE: u16 = 128;
    pub(in crate::page) const RECOVERED: u16 = 256;
    pub(in crate::page) const SKIPPED: u16 = 512;
    pub(in crate::page) const IMAGES: u16 = 1024;
    pub(in crate::page) const STARTS_AGENT: u16 = 2048;
    pub(in crate::page) const TIMED_OUT: u16 = 4096;
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) start: f64,
    pub(super) duration: f64,
    pub(super) row: u32,
    pub(super) result_row: u32,
    pub(super) label: u32,
    pub(super) call_id: u32,
    pub(super) turn: u32,
    pub(super) words: u32,
    pub(super) exit_code: i32,
    pub(super) bytes: u32,
    pub(super) path: u16,
    pub(super) command_path: u16,
    pub(super) result_path: u16,
    pub(super) thread: u16,
    pub(super) flags: u16,
    pub(super) kind: ItemKind,
}

/// What one model call took.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelCallRow {
    pub(super) item: u32,
    pub(super) at: f64,
    pub(super) cached: u32,
    pub(super) fresh: u32,
    pub(super) output: u32,
    pub(super) cost: f64,
    pub(super) model: u32,
    pub(super) thread: u16,
}

impl ModelCallRow {
    /// The size of the context.
    pub(super) const fn context(&self) -> u64 {
        self.cached as u64 + self.fresh as u64 + self.output as u64
    }
}

/// A row as a separate item, if nothing else is made of it.
#[derive(Clone, Copy, Debug)]
struct PlainRow {
    at: f64,
    label: u32,
    thread: u16,
}

/// What went wrong first, and whether it went well later.
#[derive(Debug, Default)]
pub(super) struct FailedItem {
    pub(super) item: Option<u32>,
    pub(super) tool: Option<String>,
    pub(super) command: Option<String>,
    pub(super) outcome: Option<&'static str>,
    pub(super) in_words: Option<String>,
    pub(super) exit_code: Option<i64>,
    pub(super) error: Option<String>,
    pub(super) passed_later: Option<u32>,
}

/// The items of a page while they are collected.
#[derive(Debug, Default)]
pub(super) struct ItemList {
    pub(super) items: Vec<Item>,
    pub(super) calls: Vec<ModelCallRow>,
    pub(super) strings: StringTable,
    threads: Threads,
    rows: Vec<PlainRow>,
    pub(super) failure: FailedItem,
    /// Rows that could not be read.
    pub(super) omitted_rows: u64,
}

impl ItemList {
    /// Takes a row, before the steps that are made of it.
    pub(super) fn add_row(&mut self, row: Option<&Json<'_>>) {
        let Some(row) = row else {
            self.omitted_rows += 1;
            self.rows.push(PlainRow { at: f64::NAN, label: 0, thread: 0 });
            return;
        };
        let name = Dialect::Bundle.type_name(row).unwrap_or_default();
        let label = self.strings.shared(&one_line(&name, LONGEST));
        let at = millis(Dialect::Bundle.time_of(row));
        self.rows.push(PlainRow { at, label, thread: 0 });
    }

    /// Takes a step of the story.
    pub(super) fn add(&mut self, step: &StoryStep<TextPlaces>) {
        let thread = self.threads.number(step.sub_agent.as_deref());
        let note = &step.note;
        for row in [note.row, note.result_row] {
            if let Some(row) = self.rows.get_mut(row as usize) {
                row.thread = thread;
            }
        }
        let mut item = Item {
            start: millis(step.at),
            duration: f64::NAN,
            row: note.row,
            result_row: note.result_row,
            label: 0,
            call_id: 0,
            turn: u32::try_from(step.turn).unwrap_or(u32::MAX),
            words: 0,
            exit_code: NO_EXIT_CODE,
            bytes: narrow(note.bytes.saturating_add(note.result_bytes)),
            path: note.path,
            command_path: note.command_path,
            result_path: note.result_path,
            thread,
            flags: if note.has_images { flag::IMAGES } else { 0 },
            kind: ItemKind::Row,
        };
        self.describe(&step.what, note, &mut item);
        if step.is_first_failure {
            item.flags |= flag::FIRST_FAILURE;
            self.note_failure(&step.what);
        }
        self.threads.hand_over(&mut item);
        if let What::ModelCall(call) = &step.what {
            self.add_model_call(call, millis(step.at), &item);
        }
        self.items.push(item);
    }

    fn note_failure(&mut self, what: &What) {
        let item = u32::try_from(self.items.len()).ok();
        self.failure = match what {
            What::Call(call) => FailedItem {
                item,
                tool: Some(call.tool.clone()),
                command: call.command.clone(),
                outcome: Some(call.outcome),
                in_words: Some(call.in_words.clone()),
                exit_code: call.exit_code,
                error: call.error.clone(),
                passed_later: None,
            },
            What::Error { text, .. } => {
                FailedItem { item, error: Some(text.clone()), ..FailedItem::default() }
            }
            What::Ended { error, .. } => {
                FailedItem { item, error: error.clone(), ..FailedItem::default() }
            }
            _ => FailedItem { item, ..FailedItem::default() },
        };
    }

    fn add_model_call(&mut self, call: &ModelUse, at: f64, item: &Item) {
        let usage = &call.usage;
        self.calls.push(ModelCallRow {
            item: u32::try_from(self.items.len()).unwrap_or(NO_ITEM),
            at,
            cached: narrow(usage.cached_tokens),
            fresh: narrow(usage.input_tokens.saturating_sub(usage.cached_tokens)),
            output: narrow(usage.output_tokens),
            cost: usage.cost.unwrap_or(f64::NAN),
            model: item.label,
            thread: item.thread,
        });
    }

    /// Adds the rows that no step is made of, each before the first step of a
    /// later row; returns the threads.
    pub(super) fn finish(&mut self, table: &RowTable, run: &Run) -> Vec<PageThread> {
        let mut is_stated = vec![false; self.rows.len()];
        for row in self.items.iter().flat_map(|item| [item.row, item.result_row]) {
            if let Some(stated) = is_stated.get_mut(row as usize) {
                *stated = true;
            }
        }
        let mut left = (0_u32..).zip(&self.rows).zip(&is_stated);
        let mut left = left.by_ref().filter(|(_, stated)| !**stated).map(|(row, _)| row).peekable();
        let steps = std::mem::take(&mut self.items);
        let (mut items, mut moved) =
            (Vec::with_capacity(steps.len()), Vec::with_capacity(steps.len()));
        let mut turn = 0;
        for mut item in steps {
            let first = item.row.min(item.result_row);
            while let Some((row, plain)) = left.next_if(|(row, _)| first != NO_ROW && *row < first)
            {
                items.push(plain.item(row, turn));
            }
            turn = item.turn;
            if table.is_redacted(item.row) || table.is_redacted(item.result_row) {
                item.flags |= flag::REDACTED;
            }
            moved.push(u32::try_from(items.len()).unwrap_or(NO_ITEM));
            items.push(item);
        }
        items.extend(left.map(|(row, plain)| plain.item(row, turn)));
        for item in items.iter_mut().filter(|item| item.kind == ItemKind::Row) {
            if table.is_redacted(item.row) {
                item.flags |= flag::REDACTED;
            }
        }
        let new_place = |old: u32| moved.get(old as usize).copied();
        for call in &mut self.calls {
            call.item = new_place(call.item).unwrap_or(NO_ITEM);
        }
        let failure = &mut self.failure;
        failure.item = failure.item.and_then(new_place);
        failure.passed_later = failure.passed_later.and_then(new_place);
        self.items = items;
        self.rows = Vec::new();
        std::mem::take(&mut self.threads).finish(run, &mut self.items, &mut self.strings)
    }

    /// The first item of each turn, from turn 0.
    pub(super) fn turns(&self, turns: u64) -> Vec<u32> {
        let count = usize::try_from(turns).unwrap_or(usize::MAX).saturating_add(1);
        let mut first = vec![NO_ITEM; count.min(self.items.len().saturating_add(1))];
        for (number, item) in (0_u32..).zip(&self.items) {
            if let Some(slot) = first.get_mut(item.turn as usize).filter(|slot| **slot == NO_ITEM) {
                *slot = number;
            }
        }
        first
    }
}

impl PlainRow {
    const fn item(&self, row: u32, turn: u32) -> Item {
        Item {
            start: self.at,
            duration: f64::NAN,
            row,
            result_row: NO_ROW,
            label: self.label,
            call_id: 0,
            turn,
            words: 0,
            exit_code: NO_EXIT_CODE,
            bytes: 0,
            path: 0,
            command_path: 0,
            result_path: 0,
            thread: self.thread,
            flags: 0,
            kind: ItemKind::Row,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "times of runs are far below 2^53 milliseconds")]
fn millis(at: Option<UnixMillis>) -> f64 {
    at.map_or(f64::NAN, |at| at.as_millis() as f64)
}

#[expect(clippy::cast_precision_loss, reason = "durations of runs are far below 2^53 milliseconds")]
fn span(millis: Option<u64>) -> f64 {
    millis.map_or(f64::NAN, |millis| millis as f64)
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
