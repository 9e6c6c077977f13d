//! Rows of tables, as `gather` writes them: the name of the table, the columns,
//! and the time as `timestamp`, in milliseconds since 1970.

use super::{said, text};
use crate::dialect::transcript::entry_instant;
use crate::json::Json;
use crate::run::{AgentStart, Fact, Origin, Place, RunEvent, Thread};
use crate::timestamp::UnixMillis;

/// The table that a row is from.
pub(super) fn table_of<'r>(row: &'r Json<'r>) -> Option<&'r str> {
    text(row, "table")
}

/// Whether the row is from one of these tables and has this column.
pub(super) fn is_of(row: &Json<'_>, tables: &[(&str, &str)]) -> bool {
    let Some(table) = table_of(row) else { return false };
    tables.iter().any(|(name, column)| *name == table && row.get(column).is_some())
}

/// The time of a row.
pub(super) fn time_of(row: &Json<'_>) -> Option<UnixMillis> {
    Some(entry_instant(row)).filter(|at| *at != UnixMillis::EPOCH)
}

/// Emits facts of one row, each with what the row states about all of them: its
/// time, its id, and the sub-agent's session that it was gathered from.
pub(super) struct RowFacts<'r, 'e> {
    row: &'r Json<'r>,
    place: Place,
    step: u32,
    entry: Option<&'r str>,
    turn: Option<&'r str>,
    /// The sub-agent that a call started, if the row says so.
    pub(super) agent_start: Option<AgentStart<'r>>,
    emit: &'e mut dyn FnMut(RunEvent<'r>),
}

impl<'r, 'e> RowFacts<'r, 'e> {
    pub(super) fn new(
        row: &'r Json<'r>,
        place: Place,
        emit: &'e mut dyn FnMut(RunEvent<'r>),
    ) -> Self {
        let (entry, turn, agent_start) = (said(row, "id"), None, None);
        Self { row, place, step: 0, entry, turn, agent_start, emit }
    }

    /// Emits the next fact.
    pub(super) fn push(&mut self, fact: Fact<'r>) {
        let mut event =
            RunEvent::new(Origin::Transcript, self.place.step(self.step), self.row, fact);
        self.step += 1;
        event.at = time_of(self.row);
        event.entry = self.entry;
        event.turn = self.turn;
        event.agent_start = self.agent_start;
        event.thread = said(self.row, "thread").map_or(Thread::Main, Thread::SubAgent);
        (self.emit)(event);
    }

    /// Whether nothing was emitted yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.step == 0
    }
}
