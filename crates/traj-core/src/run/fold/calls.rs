//! Tool calls, each counted once, however many witnesses state it.

mod early;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use super::examples::{CallExample, Examples};
use super::names;
use super::taken::{ByOrigin, CallKey, CallState};
use crate::run::{Origin, Outcome, ToolCallFact, ToolResultFact, command_of, one_line};
use crate::timestamp::UnixMillis;
use early::EarlyResult;

/// How many calls are remembered, to match them with results and second
/// witnesses. A second witness after more calls than this counts as another call.
const REMEMBERED: usize = 16_384;

/// Calls by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallTotals {
    /// The number of calls.
    pub calls: u64,
    /// Calls that succeeded.
    pub ok: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that timed out.
    pub timed_out: u64,
    /// Calls that a person or a policy declined.
    pub declined: u64,
    /// Calls that somebody stopped.
    pub interrupted: u64,
    /// Calls without a recorded result.
    pub unanswered: u64,
    /// The total time of all calls whose end is recorded, in milliseconds.
    pub total_millis: i64,
    /// The longest call, in milliseconds.
    pub longest_millis: i64,
}

impl CallTotals {
    /// Calls that failed or timed out.
    #[must_use]
    pub const fn errors(&self) -> u64 {
        self.failed.saturating_add(self.timed_out)
    }

    fn add(&mut self, outcome: &Outcome<'_>, millis: Option<i64>) {
        self.calls += 1;
        *match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::Declined => &mut self.declined,
            Outcome::Interrupted => &mut self.interrupted,
            Outcome::Unanswered => &mut self.unanswered,
        } += 1;
        if let Some(millis) = millis {
            self.total_millis = self.total_millis.saturating_add(millis);
            self.longest_millis = self.longest_millis.max(millis);
        }
    }
}

/// One call.
#[derive(Clone, Debug)]
struct CallRecord {
    number: u64,
    id: Option<String>,
    command: Option<String>,
    output: Option<String>,
    order: u64,
    failed_order: u64,
    started: ByOrigin<Option<UnixMillis>>,
    ended: ByOrigin<Option<UnixMillis>>,
    stated: ByOrigin<bool>,
    answered: ByOrigin<bool>,
    stated_millis: Option<u64>,
    outcome: Option<Outcome<'static>>,
}

impl CallRecord {
    /// The best clock wins: a stated duration, the recorder's, the transcript's,
    /// or as a last resort one end from each.
    fn millis(&self) -> Option<i64> {
        if let Some(millis) = self.stated_millis {
            return i64::try_from(millis).ok();
        }
        let span = |start: Option<UnixMillis>, end: Option<UnixMillis>| {
            Some(end?.as_millis().saturating_sub(start?.as_millis()).max(0))
        };
        let (started, ended) = (self.started, self.ended);
        span(started.runtime, ended.runtime)
            .or_else(|| span(started.transcript, ended.transcript))
            .or_else(|| span(started.runtime, ended.transcript))
            .or_else(|| span(started.transcript, ended.runtime))
    }

    fn state(&self) -> CallState<'_> {
        let (stated, answered) = (self.stated, self.answered);
        let is_settled = (answered.runtime || !stated.runtime)
            && (answered.transcript || !stated.transcript)
            && (answered.runtime || answered.transcript);
        CallState { outcome: self.outcome.as_ref(), millis: self.millis(), is_settled }
    }
}

/// The calls of one tool under one id. Models that restart numbering in every
/// turn reuse ids: the n-th call that one witness states is the n-th of the
/// other.
#[derive(Clone, Debug)]
struct CallGroup {
    tool: String,
    stated: ByOrigin<usize>,
    records: Vec<CallRecord>,
}

/// The newest call that a witness has stated under an id.
#[derive(Clone, Copy, Debug)]
struct NewestCall {
    key: u64,
    index: usize,
    is_open: bool,
}

/// The parts of a result that are kept.
#[derive(Clone, Debug)]
struct KeptResult {
    id: Option<String>,
    outcome: Outcome<'static>,
    output: Option<String>,
    millis: Option<u64>,
    at: Option<UnixMillis>,
    order: u64,
}

/// The calls so far. Ids and names may have any length, so they are kept as
/// hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    pub(super) tools: BTreeMap<String, CallTotals>,
    pub(super) others: CallTotals,
    pub(super) totals: CallTotals,
    pub(super) examples: Examples,
    groups: HashMap<u64, CallGroup>,
    /// Keys of the groups, oldest first.
    order: VecDeque<u64>,
    newest: HashMap<(u64, Origin), NewestCall>,
    /// Results of calls that were not seen yet: a clock may go back, or the
    /// recording began later.
    early: HashMap<(u64, Origin), (u64, EarlyResult)>,
    /// How many calls have been numbered.
    numbered: u64,
    hasher: RandomState,
}

impl Calls {
    /// Takes a call; returns whether it is the first time that it is stated.
    pub(super) fn start(
        &mut self,
        origin: Origin,
        call: &ToolCallFact<'_>,
        at: Option<UnixMillis>,
        order: u64,
    ) -> (bool, CallKey) {
        let id = self.call_id(call);
        let key = self.hasher.hash_one((id, call.name));
        let newest = self.newest.get(&(id, origin)).copied();
        let is_remembered = self.groups.contains_key(&key);
        let is_repeated = |newest: &NewestCall| newest.is_open && newest.key == key;
        if let Some(newest) = newest.filter(is_repeated).filter(|_| is_remembered) {
            return (false, self.key_of(newest));
        }
        // One witness may state the calls, and the other the results.
        let early =
            [origin, origin.other()].map(|origin| (origin, self.early.remove(&(id, origin))));
        let known = early.iter().find_map(|(_, early)| early.as_ref().map(|(number, _)| *number));
        let number = known.unwrap_or(self.numbered + 1);
        if !is_remembered {
            self.make_room();
            self.order.push_back(key);
        }
        let group = self.groups.entry(key).or_insert_with(|| CallGroup {
            tool: names::short(call.name),
            stated: ByOrigin::default(),
            records: Vec::new(),
        });
        let index = *group.stated.of(origin);
        *group.stated.of(origin) += 1;
        let is_first = index >= group.records.len();
        if is_first {
            self.numbered = self.numbered.max(number);
            group.records.push(CallRecord {
                number,
                id: call.id.map(names::short),
                command: command_of(call).map(|command| one_line(&command, 200)),
                output: None,
                order,
                failed_order: u64::MAX,
                started: ByOrigin::default(),
                ended: ByOrigin::default(),
                stated: ByOrigin::default(),
                answered: ByOrigin::default(),
                stated_millis: None,
                outcome: None,
            });
        }
        if let Some(record) = group.records.get_mut(index) {
            *record.started.of(origin) = at;
            *record.stated.of(origin) = true;
        }
        let newest = NewestCall { key, index, is_open: true };
        self.newest.insert((id, origin), newest);
        for (origin, early) in early {
            if let Some((_, answer)) = early {
                self.answer(id, origin, answer.result);
            }
        }
        (is_first, self.key_of(newest))
    }

    /// Takes a result; returns whether it is the first of its call.
    pub(super) fn end(
        &mut self,
        origin: Origin,
        result: &ToolResultFact<'_>,
        at: Option<UnixMillis>,
        order: u64,
    ) -> (bool, CallKey) {
        let id = match result.id {
            Some(id) => self.hasher.hash_one(id),
            // A result without an id answers the call of the same tool without an
            // id.
            None => self.hasher.hash_one(("unnamed", result.name.unwrap_or("tool"))),
        };
        let is_failure = result.outcome.is_failure();
        let answer = KeptResult {
            id: result.id.map(names::short),
            outcome: result.outcome.clone().into_owned(),
            output: is_failure.then(|| last_lines(&result.content.to_text())),
            millis: result.duration,
            // A timeout states when the harness gave up, not when the tool ended.
            at: at.filter(|_| result.outcome != Outcome::TimedOut),
            order,
        };
        let tool = result.name.unwrap_or("tool");
        if !self.is_expected(id) {
            let tool = names::short(tool);
            return self.answer_early(id, origin, EarlyResult { tool, result: answer });
        }
        self.answer(id, origin, answer)
    }

    /// Whether a witness has stated a call under this id.
    fn is_expected(&self, id: u64) -> bool {
        [Origin::Runtime, Origin::Transcript]
            .into_iter()
            .any(|origin| self.newest.contains_key(&(id, origin)))
    }

    fn call_id(&self, call: &ToolCallFact<'_>) -> u64 {
        match call.id {
            Some(id) => self.hasher.hash_one(id),
            None => self.hasher.hash_one(("unnamed", call.name)),
        }
    }

    /// Answers the newest call of the same witness, else that of the other one.
    fn answer(&mut self, id: u64, origin: Origin, answer: KeptResult) -> (bool, CallKey) {
        let asked = if self.newest.contains_key(&(id, origin)) { origin } else { origin.other() };
        let Some(newest) = self.newest.get_mut(&(id, asked)) else {
            return (false, CallKey { number: 0, place: None });
        };
        let is_open = std::mem::replace(&mut newest.is_open, false);
        let (key, index) = (newest.key, newest.index);
        let group = self.groups.get_mut(&key);
        let Some(record) = group.and_then(|group| group.records.get_mut(index)) else {
            // The call was counted and then dropped from memory.
            return (false, CallKey { number: 0, place: None });
        };
        *record.answered.of(asked) = true;
        let is_first = record.outcome.is_none();
        if is_open {
            *record.ended.of(origin) = answer.at;
        }
        record.stated_millis = record.stated_millis.or(answer.millis);
        // A second row of the same witness may be more informative.
        let known = record.outcome.as_ref().map_or(0, Outcome::weight);
        if record.outcome.is_none() || answer.outcome.weight() > known {
            if answer.outcome.is_failure() {
                record.failed_order = record.failed_order.min(answer.order);
            }
            record.outcome = Some(answer.outcome);
        }
        record.output = record.output.take().filter(|text| !text.is_empty()).or(answer.output);
        (is_first, CallKey { number: record.number, place: Some((key, index)) })
    }

    fn key_of(&self, newest: NewestCall) -> CallKey {
        let group = self.groups.get(&newest.key);
        let record = group.and_then(|group| group.records.get(newest.index));
        let number = record.map_or(0, |record| record.number);
        CallKey { number, place: Some((newest.key, newest.index)) }
    }

    /// What is known about a call; `None` if it is no longer remembered, or was
    /// not seen yet.
    pub(super) fn state(&self, call: CallKey) -> Option<CallState<'_>> {
        let (key, index) = call.place?;
        let record = self.groups.get(&key)?.records.get(index)?;
        (record.number == call.number).then(|| record.state())
    }

    fn make_room(&mut self) {
        if self.order.len() < REMEMBERED {
            return;
        }
        if let Some(group) = self.order.pop_front().and_then(|key| self.groups.remove(&key)) {
            self.settle(group);
        }
        if self.newest.len() > 4 * REMEMBERED {
            let groups = &self.groups;
            self.newest.retain(|_, newest| groups.contains_key(&newest.key));
        }
    }

    fn count(&mut self, tool: &str, outcome: &Outcome<'_>, millis: Option<i64>) {
        self.totals.add(outcome, millis);
        match names::entry(&mut self.tools, tool) {
            Some(tool) => tool.add(outcome, millis),
            None => self.others.add(outcome, millis),
        }
    }

    fn settle(&mut self, group: CallGroup) {
        for record in group.records {
            let millis = record.millis();
            let outcome = record.outcome.unwrap_or(Outcome::Unanswered);
            self.count(&group.tool, &outcome, millis);
            self.examples.take(CallExample {
                number: record.number,
                seq: record.order,
                id: record.id,
                tool: group.tool.clone(),
                command: record.command,
                exit_code: outcome.exit_code(),
                outcome: outcome.name(),
                millis,
                output: record.output,
                failed_at: record.failed_order,
                started_at: record.started.runtime.or(record.started.transcript),
            });
        }
    }

    /// Counts the calls that are still remembered.
    pub(super) fn finish(&mut self) {
        while let Some(key) = self.order.pop_front() {
            if let Some(group) = self.groups.remove(&key) {
                self.settle(group);
            }
        }
        self.finish_early();
    }
}

/// How many lines of a failed call's output are kept.
const LAST_LINES: usize = 6;

/// The last lines of an output, each truncated to a readable length.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().rev().filter(|line| !line.trim().is_empty()).take(LAST_LINES).collect();
    let lines: Vec<String> = lines.into_iter().rev().map(|line| one_line(line, 200)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests;
