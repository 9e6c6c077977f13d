//! What to look at first: what went wrong, and a few places worth a look.

use serde::Serialize;
use traj_core::run::{Run, RunState};

use super::items::{Item, ItemKind, ItemList, flag};
use super::notes::FailureOutput;
use crate::inspect::{Summary, counted, duration_in_words, grouped};

/// The first screen of a page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overview {
    pub(super) failure: Option<ShownFailure>,
    pub(super) worth: Vec<WorthALook>,
    /// How the run ended, in a word.
    pub(super) ended_how: String,
    /// The same in a sentence.
    pub(super) ended_text: String,
}

/// What went wrong first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownFailure {
    item: Option<u32>,
    pub(super) tool: Option<String>,
    pub(super) command: Option<String>,
    outcome: Option<&'static str>,
    pub(super) in_words: Option<String>,
    exit_code: Option<i64>,
    pub(super) error: Option<String>,
    pub(super) last_lines: Vec<String>,
    pub(super) output_lines: u64,
    /// The same call, when it went well later.
    passed_later: Option<u32>,
}

/// A place worth a look.
#[derive(Debug, Serialize)]
pub(super) struct WorthALook {
    kind: &'static str,
    pub(super) text: String,
    item: Option<u32>,
}

/// How many places are listed.
const MOST_PLACES: usize = 7;

/// A text on the first screen has at most this many characters.
const LONGEST: usize = 2_000;

impl Overview {
    pub(super) fn of(summary: &Summary, run: &Run, list: &ItemList, output: FailureOutput) -> Self {
        let failure = shown_failure(list, output);
        let mut worth: Vec<WorthALook> = Vec::new();
        let mut add = |kind, item: Option<u32>, text: Option<String>| {
            if let Some(text) = text {
                worth.push(WorthALook { kind, text, item });
            }
        };
        let failed = failure.as_ref().map(ShownFailure::sentence);
        add("failure", failure.as_ref().and_then(|failure| failure.item), failed);
        if let Some((item, text)) = largest_jump(list) {
            add("contextJump", Some(item), Some(text));
        }
        if let Some((item, text)) = longest_wait(&list.items) {
            add("longestWait", Some(item), Some(text));
        }
        let compactions = counted_items(&list.items, |item| item.kind == ItemKind::Compaction);
        add("compaction", compactions.first, compactions.text("compaction"));
        let retries = counted_items(&list.items, |item| item.flags & flag::RECOVERED != 0);
        add("retry", retries.first, retries.text("error that the agent recovered from"));
        let losses = counted_items(&list.items, |item| item.kind == ItemKind::Lost);
        let lost = (run.lost_events > 0)
            .then(|| format!("{} not recorded", counted(run.lost_events, "event")))
            .or_else(|| run.gaps.first().cloned())
            .or_else(|| losses.text("gap in the record"));
        add("loss", losses.first, lost);
        add("unknown", None, unknown(summary));
        add("redaction", first(&list.items, |item| item.flags & flag::REDACTED != 0), {
            let hidden = summary.redaction.as_ref().filter(|hidden| hidden.total > 0);
            hidden.map(|hidden| format!("{} redacted", counted(hidden.total, "value")))
        });
        worth.truncate(MOST_PLACES);
        let (ended_how, ended_text) = ending(summary, run);
        Self { failure, worth, ended_how, ended_text }
    }
}

impl ShownFailure {
    /// What went wrong, on one line.
    pub(super) fn sentence(&self) -> String {
        let parts = [
            self.tool.as_deref(),
            self.command.as_deref(),
            self.in_words.as_deref().or(self.error.as_deref()),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        traj_core::run::one_line(&parts.join(" · "), 300)
    }
}

fn shown_failure(list: &ItemList, output: FailureOutput) -> Option<ShownFailure> {
    let failure = &list.failure;
    let short =
        |text: &Option<String>| text.as_deref().map(|text| traj_core::run::cut(text, LONGEST));
    failure.item.map(|item| ShownFailure {
        item: Some(item),
        tool: failure.tool.clone(),
        command: short(&failure.command),
        outcome: failure.outcome,
        in_words: failure.in_words.clone(),
        exit_code: failure.exit_code,
        error: short(&failure.error),
        last_lines: output.last_lines,
        output_lines: output.lines,
        passed_later: failure.passed_later,
    })
}

/// The model call whose context grew most.
fn largest_jump(list: &ItemList) -> Option<(u32, String)> {
    const WORTH_SAYING: u64 = 10_000;
    let mut largest: Option<(u64, u32)> = None;
    let mut before: std::collections::BTreeMap<u16, u64> = std::collections::BTreeMap::new();
    for call in &list.calls {
        let context = call.context();
        if let Some(before) = before.insert(call.thread, context) {
            let grown = context.saturating_sub(before);
            if grown >= WORTH_SAYING && largest.is_none_or(|(most, _)| grown > most) {
                largest = Some((grown, call.item));
            }
        }
    }
    largest.map(|(grown, item)| {
        (item, format!("the context grew by {} tokens in one call", grouped(grown)))
    })
}

/// The approval that the run waited for longest.
fn longest_wait(items: &[Item]) -> Option<(u32, String)> {
    let waits = (0_u32..).zip(items).filter(|(_, item)| {
        item.kind == ItemKind::Approval && item.duration.is_finite() && item.duration > 0.0
    });
    let (number, item) =
        waits.max_by(|(_, one), (_, other)| one.duration.total_cmp(&other.duration))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a u64")]
    let millis = item.duration as u64;
    Some((number, format!("waited {} for an approval", duration_in_words(millis))))
}

/// Items of one sort.
struct CountedItems {
    first: Option<u32>,
    count: u64,
}

impl CountedItems {
    fn text(&self, thing: &str) -> Option<String> {
        (self.count > 0).then(|| counted(self.count, thing))
    }
}

fn counted_items(items: &[Item], is_one: impl Fn(&Item) -> bool + Copy) -> CountedItems {
    let count = items.iter().filter(|item| is_one(item)).count() as u64;
    CountedItems { first: first(items, is_one), count }
}

fn first(items: &[Item], is_one: impl Fn(&Item) -> bool) -> Option<u32> {
    (0_u32..).zip(items).find(|(_, item)| is_one(item)).map(|(number, _)| number)
}

/// What is not known about the run.
fn unknown(summary: &Summary) -> Option<String> {
    let rows: u64 = summary.unknown.values().sum();
    if rows > 0 {
        return Some(format!("{} of an unknown type", counted(rows, "row")));
    }
    let has_cost = summary.usage.cost.is_some() || summary.usage.calls == 0;
    (!has_cost).then(|| "the cost is unknown: a model has no known price".to_owned())
}

/// How the run ended, in a word and in a sentence.
fn ending(summary: &Summary, run: &Run) -> (String, String) {
    let took = u64::try_from(summary.duration_millis).unwrap_or_default();
    let after =
        if took > 0 { format!(" after {}", duration_in_words(took)) } else { String::new() };
    let (how, text) = match &run.status {
        Some(RunState::Open) => ("open".to_owned(), "did not end".to_owned()),
        Some(state) => {
            let state = state.as_str();
            (state.to_owned(), format!("ended: {state}"))
        }
        None => return ("unknown".to_owned(), "the end is not recorded".to_owned()),
    };
    let error = run.end_error.as_deref().map(|error| format!(" ({error})")).unwrap_or_default();
    (how, format!("{text}{after}{error}"))
}
