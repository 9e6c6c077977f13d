//! Tool calls, matched with their results.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};

use serde::Serialize;
use traj_core::json::Json;
use traj_core::timestamp::UnixMillis;

use super::tally;

/// How many calls are remembered to match results with.
const REMEMBERED: usize = 100_000;

/// What became of the calls of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolSummary {
    /// How often it was called.
    pub calls: u64,
    /// How often it failed.
    pub errors: u64,
    /// How often no answer is recorded.
    pub unanswered: u64,
    /// The time of all calls whose answer is recorded.
    pub total_millis: i64,
    /// The longest of them.
    pub longest_millis: i64,
}

#[derive(Debug, Default)]
struct Call {
    tool: String,
    started: Option<UnixMillis>,
    is_answered: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug)]
struct Answer {
    is_error: bool,
    /// When it came, if that counts.
    at: Option<UnixMillis>,
}

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    tools: BTreeMap<String, ToolSummary>,
    /// The calls of tools beyond those.
    others: u64,
    /// By the hash of their id, which may be of any length: sidecar and
    /// transcript may tell of the same call.
    calls: HashMap<u64, Call>,
    /// Answers to calls that were not seen yet: a clock may go back.
    early: HashMap<u64, Answer>,
    hasher: RandomState,
}

impl Calls {
    pub(super) fn take(&mut self, kind: &str, event: &Json<'_>, at: Option<UnixMillis>) {
        let Some(data) = event.get("data") else { return };
        match kind {
            "tool.call" => self.start(data, at),
            "tool.result" => self.end(data, at),
            "tool.timeout" => self.fail(data),
            _ => {}
        }
    }

    fn start(&mut self, data: &Json<'_>, at: Option<UnixMillis>) {
        let tool = tally::short(text(data, "name").unwrap_or("unnamed"));
        let Some(id) = self.id(data) else {
            self.count(&tool);
            return;
        };
        if self.calls.contains_key(&id) {
            return;
        }
        self.count(&tool);
        if self.calls.len() < REMEMBERED {
            self.calls.insert(id, Call { tool, started: at, is_answered: false });
            if let Some(answer) = self.early.remove(&id) {
                self.answer(id, answer);
            }
        }
    }

    fn count(&mut self, tool: &str) {
        match tally::entry(&mut self.tools, tool) {
            Some(tool) => tool.calls += 1,
            None => self.others += 1,
        }
    }

    fn id(&self, data: &Json<'_>) -> Option<u64> {
        text(data, "toolCallId").map(|id| self.hasher.hash_one(id))
    }

    fn end(&mut self, data: &Json<'_>, at: Option<UnixMillis>) {
        // The transcript puts the result into a message, the sidecar does not.
        let result = data.get("message").unwrap_or(data);
        let flag = |name| result.get(name).and_then(Json::as_bool);
        let is_error = flag("isError") == Some(true) || flag("success") == Some(false);
        if let Some(id) = self.id(result) {
            self.answer(id, Answer { is_error, at });
        }
    }

    fn fail(&mut self, data: &Json<'_>) {
        if let Some(id) = self.id(data) {
            self.answer(id, Answer { is_error: true, at: None });
        }
    }

    fn answer(&mut self, id: u64, answer: Answer) {
        let Some(call) = self.calls.get_mut(&id) else {
            if self.early.len() < REMEMBERED {
                self.early.entry(id).or_insert(answer);
            }
            return;
        };
        if std::mem::replace(&mut call.is_answered, true) {
            return;
        }
        // One of the others is not told of.
        let Some(tool) = self.tools.get_mut(&call.tool) else { return };
        tool.errors += u64::from(answer.is_error);
        if let (Some(started), Some(at)) = (call.started, answer.at) {
            let millis = at.as_millis().saturating_sub(started.as_millis()).max(0);
            tool.total_millis = tool.total_millis.saturating_add(millis);
            tool.longest_millis = tool.longest_millis.max(millis);
        }
    }

    /// What became of the calls of each tool, and how many those of the other
    /// tools were.
    pub(super) fn finish(mut self) -> (BTreeMap<String, ToolSummary>, u64) {
        for call in self.calls.into_values().filter(|call| !call.is_answered) {
            if let Some(tool) = self.tools.get_mut(&call.tool) {
                tool.unanswered += 1;
            }
        }
        (self.tools, self.others)
    }
}

fn text<'e>(value: &'e Json<'_>, name: &str) -> Option<&'e str> {
    value.get(name)?.as_str()
}
