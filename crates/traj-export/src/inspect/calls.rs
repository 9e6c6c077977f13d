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

/// Who tells of a call. Both may tell of the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Teller {
    Runtime,
    Transcript,
}

impl Teller {
    fn of(event: &Json<'_>) -> Self {
        if text(event, "source") == Some("transcript") { Self::Transcript } else { Self::Runtime }
    }

    const fn other(self) -> Self {
        match self {
            Self::Runtime => Self::Transcript,
            Self::Transcript => Self::Runtime,
        }
    }
}

/// The calls of one tool under one id: models that number their calls anew in
/// every turn use an id again and again.
#[derive(Debug)]
struct Call {
    tool: String,
    /// How many of them each teller has told of; what one is behind the other
    /// is told twice.
    by_runtime: u64,
    by_transcript: u64,
    /// When the newest one began.
    started: Option<UnixMillis>,
    /// The newest one whose answer is known, counted from one.
    answered: u64,
    /// How many still wait for an answer.
    unanswered: u64,
}

impl Call {
    fn of(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            by_runtime: 0,
            by_transcript: 0,
            started: None,
            answered: 0,
            unanswered: 0,
        }
    }

    const fn told_by(&mut self, teller: Teller) -> &mut u64 {
        match teller {
            Teller::Runtime => &mut self.by_runtime,
            Teller::Transcript => &mut self.by_transcript,
        }
    }

    fn told(&self) -> u64 {
        self.by_runtime.max(self.by_transcript)
    }
}

/// The newest call that a teller has told of under an id.
#[derive(Clone, Copy, Debug)]
struct Newest {
    key: u64,
    is_open: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug)]
struct Answer {
    is_error: bool,
    /// When it came, if that counts.
    at: Option<UnixMillis>,
}

/// The calls so far. Ids and names may be of any length: hashes stand for them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    tools: BTreeMap<String, ToolSummary>,
    /// The calls of tools beyond those.
    others: u64,
    /// By id and tool.
    calls: HashMap<u64, Call>,
    /// By id.
    newest: HashMap<(u64, Teller), Newest>,
    /// Answers to calls that were not seen yet: a clock may go back.
    early: HashMap<(u64, Teller), Answer>,
    hasher: RandomState,
}

impl Calls {
    pub(super) fn take(&mut self, kind: &str, event: &Json<'_>, at: Option<UnixMillis>) {
        let Some(data) = event.get("data") else { return };
        let teller = Teller::of(event);
        match kind {
            "tool.call" => self.start(teller, data, at),
            "tool.result" => self.end(teller, data, at),
            "tool.timeout" => self.fail(teller, data),
            _ => {}
        }
    }

    fn start(&mut self, teller: Teller, data: &Json<'_>, at: Option<UnixMillis>) {
        let tool = tally::short(text(data, "name").unwrap_or("unnamed"));
        let Some(id) = self.id(data) else {
            self.count(&tool);
            return;
        };
        let key = self.hasher.hash_one((id, &tool));
        let newest = self.newest.get(&(id, teller));
        if newest.is_some_and(|newest| newest.is_open && newest.key == key) {
            return;
        }
        if !self.calls.contains_key(&key) && self.calls.len() >= REMEMBERED {
            // Its answer must not be taken for that of the call before it.
            self.newest.remove(&(id, teller));
            self.count(&tool);
            return;
        }
        let call = self.calls.entry(key).or_insert_with(|| Call::of(&tool));
        let known = call.told();
        *call.told_by(teller) += 1;
        if call.told() > known {
            call.started = at;
            call.unanswered += 1;
            self.count(&tool);
        }
        self.newest.insert((id, teller), Newest { key, is_open: true });
        if let Some(answer) = self.early.remove(&(id, teller)) {
            self.answer(id, teller, answer);
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

    fn end(&mut self, teller: Teller, data: &Json<'_>, at: Option<UnixMillis>) {
        // The transcript puts the result into a message, the sidecar does not.
        let result = data.get("message").unwrap_or(data);
        let flag = |name| result.get(name).and_then(Json::as_bool);
        let is_error = flag("isError") == Some(true) || flag("success") == Some(false);
        if let Some(id) = self.id(result) {
            self.answer(id, teller, Answer { is_error, at });
        }
    }

    fn fail(&mut self, teller: Teller, data: &Json<'_>) {
        if let Some(id) = self.id(data) {
            self.answer(id, teller, Answer { is_error: true, at: None });
        }
    }

    /// Takes an answer: to the call that its teller told of last, else to the
    /// one that the other did.
    fn answer(&mut self, id: u64, teller: Teller, answer: Answer) {
        let asked = if self.newest.contains_key(&(id, teller)) { teller } else { teller.other() };
        let newest = self.newest.get_mut(&(id, asked)).filter(|newest| newest.is_open);
        let Some(newest) = newest else {
            // After a timeout, for example, a second one may still come.
            if asked != teller && self.early.len() < REMEMBERED {
                self.early.entry((id, teller)).or_insert(answer);
            }
            return;
        };
        newest.is_open = false;
        let Some(call) = self.calls.get_mut(&newest.key) else { return };
        let number = *call.told_by(asked);
        if number <= call.answered {
            return;
        }
        call.answered = number;
        call.unanswered = call.unanswered.saturating_sub(1);
        // One of the others is not told of.
        let Some(tool) = self.tools.get_mut(&call.tool) else { return };
        tool.errors += u64::from(answer.is_error);
        let started = call.started.filter(|_| number == call.told());
        if let (Some(started), Some(at)) = (started, answer.at) {
            let millis = at.as_millis().saturating_sub(started.as_millis()).max(0);
            tool.total_millis = tool.total_millis.saturating_add(millis);
            tool.longest_millis = tool.longest_millis.max(millis);
        }
    }

    /// What became of the calls of each tool, and how many those of the other
    /// tools were.
    pub(super) fn finish(mut self) -> (BTreeMap<String, ToolSummary>, u64) {
        for call in self.calls.into_values() {
            if let Some(tool) = self.tools.get_mut(&call.tool) {
                tool.unanswered += call.unanswered;
            }
        }
        (self.tools, self.others)
    }
}

fn text<'e>(value: &'e Json<'_>, name: &str) -> Option<&'e str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a teller says at a second: a call by its tool, or an answer.
    #[derive(Clone, Copy)]
    enum Said {
        Call(&'static str),
        Result { is_error: bool },
        Timeout,
    }
    use Said::{Call, Result, Timeout};

    const FINE: Said = Result { is_error: false };
    const FAILED: Said = Result { is_error: true };

    /// Tools with their calls, errors, calls without an answer, and seconds.
    fn told(events: &[(&str, i64, Said)]) -> Vec<(String, [u64; 3], i64)> {
        let mut calls = Calls::default();
        for (source, second, said) in events {
            let (kind, data) = match said {
                Call(tool) => ("tool.call", format!(r#""name":"{tool}""#)),
                Result { is_error } => ("tool.result", format!(r#""isError":{is_error}"#)),
                Timeout => ("tool.timeout", r#""timeoutMs":1"#.to_owned()),
            };
            let data = format!(r#"{{"toolCallId":"call_0",{data}}}"#);
            let data = match (*source, said) {
                ("transcript", Result { .. }) => format!(r#"{{"message":{data}}}"#),
                _ => data,
            };
            let event = format!(r#"{{"source":"{source}","data":{data}}}"#);
            calls.take(kind, &Json::parse(&event).unwrap(), UnixMillis::new(second * 1_000));
        }
        let summaries = calls.finish().0.into_iter();
        summaries
            .map(|(name, tool)| {
                let counts = [tool.calls, tool.errors, tool.unanswered];
                (name, counts, tool.total_millis / 1_000)
            })
            .collect()
    }

    fn three_calls(source: &'static str, delay: i64) -> Vec<(&'static str, i64, Said)> {
        let said = [Call("read"), FINE, Call("shell"), FINE, Call("shell"), FAILED];
        let seconds = [0, 1, 10, 12, 20, 24];
        seconds.into_iter().zip(said).map(|(second, said)| (source, second + delay, said)).collect()
    }

    fn in_order(mut events: Vec<(&'static str, i64, Said)>) -> Vec<(&'static str, i64, Said)> {
        events.sort_by_key(|(_, second, _)| *second);
        events
    }

    #[test]
    fn an_id_may_be_used_again() {
        let expected = [("read".to_owned(), [1, 0, 0], 1), ("shell".to_owned(), [2, 1, 0], 6)];
        for source in ["runtime", "transcript"] {
            assert_eq!(told(&three_calls(source, 0)), expected, "{source}");
        }
        // Both tell of them: at the same time, a little later, or after the turn.
        for delay in [0, 1, 3, 100] {
            let [runtime, transcript] = ["runtime", "transcript"].map(|source| {
                let delay = if source == "runtime" { 0 } else { delay };
                three_calls(source, delay)
            });
            assert_eq!(told(&in_order([runtime, transcript].concat())), expected, "{delay}");
        }
        // One of them began to tell only with the second call.
        let late = three_calls("runtime", 0).split_off(2);
        let events = in_order([three_calls("transcript", 0), late].concat());
        assert_eq!(told(&events), expected);
    }

    #[test]
    fn a_call_is_open_until_it_is_answered() {
        let shell = |counts, seconds| vec![("shell".to_owned(), counts, seconds)];
        // Told twice before its answer, it is one.
        let twice = [("runtime", 0, Call("shell")), ("runtime", 1, Call("shell"))];
        assert_eq!(told(&twice), shell([1, 0, 1], 0));
        // What comes after a timeout does not belong to the next call.
        let late = [
            ("runtime", 0, Call("shell")),
            ("runtime", 1, Timeout),
            ("runtime", 2, FAILED),
            ("runtime", 3, Call("shell")),
            ("runtime", 5, FINE),
        ];
        assert_eq!(told(&late), shell([2, 1, 0], 2));
        // One tells of the calls, the other of the answers.
        let apart = [
            ("runtime", 0, Call("shell")),
            ("transcript", 1, FINE),
            ("runtime", 2, Call("shell")),
            ("transcript", 4, FAILED),
        ];
        assert_eq!(told(&apart), shell([2, 1, 0], 3));
        // Another tool under the same id leaves the first call open.
        let other =
            [("runtime", 0, Call("shell")), ("runtime", 1, Call("read")), ("runtime", 2, FINE)];
        let read = ("read".to_owned(), [1, 0, 0], 1);
        assert_eq!(told(&other), [vec![read], shell([1, 0, 1], 0)].concat());
    }
}
