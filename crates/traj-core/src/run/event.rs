//! One fact, with its time, its place and the row that states it.

use super::Fact;
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// The kind of file that states a fact. A transcript and a sidecar often state
/// the same fact: they are two witnesses of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The recorder's sidecar, or the runtime events of a bundle.
    Runtime,
    /// The agent's own file: a transcript, a rollout, or the transcript events of
    /// a bundle.
    Transcript,
}

impl Origin {
    /// The other witness.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Runtime => Self::Transcript,
            Self::Transcript => Self::Runtime,
        }
    }
}

/// The position of a row in its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The line of the file, from 1; in a bundle, the event's number.
    pub line: u64,
    /// The index, from 0, of the bundle event that states the fact, among the
    /// events that the row becomes. An assistant message is one event; each of
    /// its calls is another.
    pub step: u32,
}

impl Place {
    /// The row on this line.
    #[must_use]
    pub const fn line(line: u64) -> Self {
        Self { line, step: 0 }
    }

    /// The same row, as its bundle event with this index.
    #[must_use]
    pub const fn step(self, step: u32) -> Self {
        Self { line: self.line, step }
    }
}

/// The conversation that a fact belongs to: the agent's own, or that of a
/// sub-agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Thread<'r> {
    /// The run's own conversation.
    #[default]
    Main,
    /// A sub-agent, by the id that the source gives it.
    SubAgent(&'r str),
}

/// A sub-agent, and the call that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct AgentStart<'r> {
    /// The id of the sub-agent.
    pub agent: &'r str,
    /// The id of the call.
    pub call: &'r str,
}

/// One fact about a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunEvent<'r> {
    /// When it happened; `None` if the source states no readable time.
    pub at: Option<UnixMillis>,
    /// The witness that states it.
    pub origin: Origin,
    /// The position of the row in its source.
    pub place: Place,
    /// The id of the entry.
    pub entry: Option<&'r str>,
    /// The id of the entry's parent.
    pub parent: Option<&'r str>,
    /// The run that a sidecar event belongs to: a session may have many.
    pub run: Option<&'r str>,
    /// The turn, if the source names it.
    pub turn: Option<&'r str>,
    /// The conversation that the fact belongs to.
    pub thread: Thread<'r>,
    /// The sub-agent that a call started, if the row says so.
    pub agent_start: Option<AgentStart<'r>>,
    /// The fact.
    pub fact: Fact<'r>,
    /// The whole row, for readers that need more than the fact.
    pub raw: &'r Json<'r>,
}

impl<'r> RunEvent<'r> {
    /// An event with only its origin, place, row and fact set.
    #[must_use]
    pub const fn new(origin: Origin, place: Place, raw: &'r Json<'r>, fact: Fact<'r>) -> Self {
        Self {
            at: None,
            origin,
            place,
            entry: None,
            parent: None,
            run: None,
            turn: None,
            thread: Thread::Main,
            agent_start: None,
            fact,
            raw,
        }
    }
}
