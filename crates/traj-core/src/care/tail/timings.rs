//! Durations, from the events at both ends.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::TailEvent;
use crate::run::{Fact, RunEvent, UsageScope};
use crate::timestamp::UnixMillis;

/// This many starts without an end are remembered.
const OPEN_STARTS: usize = 4_096;

/// A start further before its end than this is ignored: 64 MiB.
pub const FARTHEST_START: u64 = 64 * 1024 * 1024;

/// The same limit for calls, whose results follow within a few rows: 8 MiB. A
/// result without a call never causes more than that to be read.
const FARTHEST_CALL: u64 = 8 * 1024 * 1024;

/// Something that takes time: a call, a prompt, a turn or a run, identified by
/// its kind and the hash of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SpanKey {
    kind: SpanKind,
    id: u64,
}

/// One end of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanEdge {
    Start(SpanKey),
    End(SpanKey),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SpanKind {
    Call,
    Prompt,
    Turn,
    Run,
}

impl SpanKey {
    fn of(kind: SpanKind, id: Option<&str>) -> Self {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        Self { kind, id: hasher.finish() }
    }

    /// How many bytes may lie between its start and its end. The same limit
    /// applies in both reading directions, so that a duration does not depend on
    /// where reading began.
    const fn reach(self) -> u64 {
        match self.kind {
            SpanKind::Call => FARTHEST_CALL,
            SpanKind::Prompt | SpanKind::Turn | SpanKind::Run => FARTHEST_START,
        }
    }

    /// Its duration in milliseconds, unless its ends are too far apart.
    fn taken(self, start: SpanMark, end: SpanMark) -> Option<u64> {
        let is_near = start.position.abs_diff(end.position) <= self.reach();
        let taken = end.at.as_millis().saturating_sub(start.at.as_millis());
        u64::try_from(taken).ok().filter(|_| is_near)
    }
}

impl SpanEdge {
    /// The edge that a fact states. A result that states its own duration is not
    /// an edge.
    pub(super) fn of(event: &RunEvent<'_>) -> Option<Self> {
        Some(match &event.fact {
            Fact::ToolCall(call) => Self::Start(SpanKey::of(SpanKind::Call, Some(call.id?))),
            Fact::ToolResult(result) if result.duration.is_none() => {
                Self::End(SpanKey::of(SpanKind::Call, Some(result.id?)))
            }
            Fact::Prompt(prompt) if prompt.skipped.is_none() => {
                Self::Start(SpanKey::of(SpanKind::Prompt, event.run))
            }
            Fact::ModelCall(call) if call.scope == UsageScope::Turn && call.latency.is_none() => {
                Self::End(SpanKey::of(SpanKind::Prompt, event.run))
            }
            Fact::TurnStarted => Self::Start(SpanKey::of(SpanKind::Turn, event.turn)),
            Fact::TurnEnded(_) => Self::End(SpanKey::of(SpanKind::Turn, event.turn)),
            Fact::SessionStarted(started) if started.begins_run => {
                Self::Start(SpanKey::of(SpanKind::Run, event.run))
            }
            Fact::SessionEnded(ended) if ended.is_final => {
                Self::End(SpanKey::of(SpanKind::Run, event.run))
            }
            _ => return None,
        })
    }
}

/// When and where a span began or ended.
#[derive(Clone, Copy, Debug)]
struct SpanMark {
    at: UnixMillis,
    /// Bytes from a fixed position.
    position: u64,
}

impl TailEvent {
    /// Records the duration of a span that ends here; the longest counts.
    fn took(&mut self, millis: u64) {
        self.duration = self.duration.max(Some(millis));
    }
}

/// Pairs starts with ends, in file order. The first end takes the start.
#[derive(Debug, Default)]
pub(super) struct Timings {
    starts: HashMap<SpanKey, SpanMark>,
    order: VecDeque<(SpanKey, u64)>,
}

impl Timings {
    /// Adds durations to an event that ends spans. Its line begins at `position`.
    pub(super) fn annotate(&mut self, event: &mut TailEvent, position: u64) {
        for edge in std::mem::take(&mut event.edges) {
            match (edge, event.at.map(|at| SpanMark { at, position })) {
                (SpanEdge::Start(span), Some(start)) => self.start(span, start),
                (SpanEdge::Start(_), None) => {}
                (SpanEdge::End(span), end) => {
                    let start = self.starts.remove(&span);
                    let taken = start.zip(end).and_then(|(start, end)| span.taken(start, end));
                    taken.into_iter().for_each(|taken| event.took(taken));
                }
            }
        }
    }

    fn start(&mut self, span: SpanKey, start: SpanMark) {
        self.starts.insert(span, start);
        self.order.push_back((span, start.position));
        if self.order.len() > OPEN_STARTS
            && let Some((oldest, position)) = self.order.pop_front()
            && self.starts.get(&oldest).is_some_and(|start| start.position == position)
        {
            self.starts.remove(&oldest);
        }
    }

    /// The file begins again: forgets all open spans.
    pub(super) fn begin_anew(&mut self) {
        self.starts.values_mut().for_each(|start| start.position = 0);
        self.order.iter_mut().for_each(|(_, position)| *position = 0);
    }
}

/// Ends whose start is yet to be found, for reading backwards.
#[derive(Debug, Default)]
pub(super) struct OpenEnds {
    /// The end of each span, and the index of its event.
    ends: HashMap<SpanKey, (SpanMark, usize)>,
}

impl OpenEnds {
    /// Notes an event whose line begins `position` bytes before the end of the
    /// file. A start completes the span of an event in `later`. An end waits for
    /// its start if `is_kept`, which means that the event becomes the next
    /// element of `later`.
    pub(super) fn meet(
        &mut self,
        event: &mut TailEvent,
        position: u64,
        is_kept: bool,
        later: &mut [TailEvent],
    ) {
        let mark = event.at.map(|at| SpanMark { at, position });
        for edge in std::mem::take(&mut event.edges).into_iter().rev() {
            match edge {
                SpanEdge::Start(span) => {
                    let Some(start) = mark else { continue };
                    let Some((end, index)) = self.ends.remove(&span) else { continue };
                    if let (Some(taken), Some(event)) =
                        (span.taken(start, end), later.get_mut(index))
                    {
                        event.took(taken);
                    }
                }
                SpanEdge::End(span) => {
                    // The start that this end takes is not available to a later
                    // end.
                    self.ends.remove(&span);
                    if let Some(end) = mark.filter(|_| is_kept) {
                        self.ends.insert(span, (end, later.len()));
                    }
                }
            }
        }
    }

    /// Whether a start more than `position` bytes before the end of the file
    /// could still count.
    pub(super) fn is_waiting(&self, position: u64) -> bool {
        self.ends
            .iter()
            .any(|(span, (end, _))| position.saturating_sub(end.position) <= span.reach())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::care::tail::tests::{Everything, read_back};
    use crate::care::tail::{FileState, Follow, LastEvents};
    use crate::run::Origin;

    /// Calls, results, prompts and replies, some of them repeated or missing.
    fn line(number: usize, what: u8) -> String {
        let id = what / 4 % 3;
        let (kind, data) = match what % 4 {
            0 => ("tool.call", format!(r#"{{"toolCallId":"c{id}","name":"x"}}"#)),
            1 => ("tool.result", format!(r#"{{"toolCallId":"c{id}","success":true}}"#)),
            2 => ("prompt.submitted", "{}".to_owned()),
            _ => ("model.completed", "{}".to_owned()),
        };
        let second = number * number % 3_000;
        format!(
            "{{\"traceSchema\":\"openclaw-trajectory\",\"schemaVersion\":1,\"type\":\"{kind}\",\"ts\":\"2026-06-01T10:{:02}:{:02}.000Z\",\"seq\":{number},\"sessionId\":\"s\",\"data\":{data}}}\n",
            second / 60,
            second % 60
        )
    }

    fn last(bytes: &[u8], wanted: usize, block: usize) -> Vec<Option<u64>> {
        let mut last = LastEvents::new(Origin::Runtime, wanted);
        read_back(&mut last, bytes, block).into_iter().map(|event| event.duration).collect()
    }

    proptest! {
        #[test]
        fn durations_do_not_depend_on_where_reading_begins(
            whats in prop::collection::vec(any::<u8>(), 1..40),
            wanted in 1_usize..40,
            block in 50_usize..900,
        ) {
            let lines: Vec<_> = whats.iter().enumerate().map(|(n, what)| line(n, *what)).collect();
            let text = lines.concat();
            let mut forward = Vec::new();
            let mut follow = Follow::new(Origin::Runtime);
            let state = FileState { key: (1, 1), length: text.len() as u64 };
            follow.look(state, &Everything, &mut |_| {});
            let mut note = |event: TailEvent| forward.push(event.duration);
            assert!(follow.feed(0, text.as_bytes(), &Everything, &mut note));
            let first = forward.len().saturating_sub(wanted);
            prop_assert_eq!(&last(text.as_bytes(), wanted, block), &forward[first..]);
            // A follower that begins in the middle asks for the earlier part.
            let middle: usize = lines[..first].iter().map(String::len).sum();
            let none = LastEvents::new(Origin::Runtime, 0);
            let mut later = Follow::from_middle((1, 1), middle as u64, &[], &none);
            if let Some(range) = later.to_time() {
                let mut earlier = Follow::from_middle((1, 1), range.from, &[], &none);
                let before = &text.as_bytes()[range.from as usize..range.to as usize];
                earlier.feed(range.from, before, &Everything, &mut |_| {});
                later.time_from(earlier);
            }
            let mut followed = Vec::new();
            let rest = &text.as_bytes()[middle..];
            later.feed(middle as u64, rest, &Everything, &mut |event| followed.push(event.duration));
            prop_assert_eq!(&followed, &forward[first..]);
        }
    }

    #[test]
    fn a_start_too_far_before_its_end_does_not_count_either_way() {
        let at = |millis| UnixMillis::from_f64(millis).unwrap();
        let start = SpanMark { at: at(1_000.0), position: 0 };
        let end = |position| SpanMark { at: at(3_000.0), position };
        for kind in [SpanKind::Call, SpanKind::Prompt, SpanKind::Turn, SpanKind::Run] {
            let span = SpanKey::of(kind, None);
            assert_eq!(span.taken(start, end(span.reach())), Some(2_000));
            assert_eq!(span.taken(start, end(span.reach() + 1)), None);
            let mut ends = OpenEnds::default();
            ends.ends.insert(span, (end(10), 0));
            assert!(ends.is_waiting(10 + span.reach()));
            assert!(!ends.is_waiting(11 + span.reach()));
            assert!(span.reach() <= FARTHEST_START);
        }
    }
}
