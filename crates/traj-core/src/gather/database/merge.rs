//! Merges the rows of a session and of its sub-agents in chronological order.

use std::collections::BTreeMap;

use super::DatabaseSession;
use crate::gather::GatherError;
use crate::json::Object;

/// The most rows of a session: their keys are held in memory.
const MOST_ROWS: usize = 1_000_000;

/// The most sub-agents of a session.
const MOST_THREADS: usize = 10_000;

/// The key of a row.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The session that it is from: 0 is the main one.
    pub(super) stream: u32,
    /// What kind of row it is, in the terms of its program.
    pub(super) kind: u8,
    pub(super) id: String,
    /// The row that it is a part of.
    pub(super) parent: Option<String>,
    /// When it happened, but never before the row above it in its stream.
    pub(super) at: Option<i64>,
}

impl Slot {
    pub(super) const fn new(stream: u32, kind: u8, id: String, at: Option<i64>) -> Self {
        Self { stream, kind, id, parent: None, at }
    }

    pub(super) fn part_of(mut self, parent: &str) -> Self {
        self.parent = Some(parent.to_owned());
        self
    }
}

/// Rows of several streams, each in its own order.
#[derive(Debug, Default)]
pub(super) struct Merge {
    slots: Vec<Slot>,
    clocks: BTreeMap<u32, i64>,
}

impl Merge {
    /// Adds the next row of a stream.
    pub(super) fn push(&mut self, mut slot: Slot) -> Result<(), GatherError> {
        if self.slots.len() >= MOST_ROWS {
            return Err(GatherError::TooLarge);
        }
        let clock = self.clocks.entry(slot.stream).or_insert(i64::MIN);
        *clock = slot.at.unwrap_or(*clock).max(*clock);
        slot.at = (*clock > i64::MIN).then_some(*clock);
        self.slots.push(slot);
        Ok(())
    }

    /// All rows: each stream in its order, and the streams by time.
    fn into_order(mut self) -> Vec<Slot> {
        self.slots.sort_by_key(|slot| (slot.at, slot.stream));
        self.slots
    }
}

/// The ids of a session and of all its sub-agents.
#[derive(Debug)]
pub(super) struct SessionThreads<'s>(Vec<&'s str>);

impl<'s> SessionThreads<'s> {
    /// The session and its sub-agents, nested ones included, by their stated parents.
    pub(super) fn of(all: &'s [DatabaseSession], session: &'s DatabaseSession) -> Self {
        let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for child in all {
            if let Some(parent) = &child.parent {
                children.entry(parent).or_default().push(&child.id);
            }
        }
        let mut threads = vec![session.id.as_str()];
        let mut next = 0;
        while let Some(thread) = threads.get(next).copied() {
            next += 1;
            // Each is taken once: parents may form a cycle.
            let mut own = children.remove(thread).unwrap_or_default();
            own.sort_unstable();
            own.retain(|child| *child != session.id);
            own.truncate(MOST_THREADS.saturating_sub(threads.len()));
            threads.extend(own);
        }
        Self(threads)
    }

    /// The rows of all of them in chronological order. `collect` adds those of one,
    /// given its id and its stream.
    pub(super) fn merged(
        &self,
        mut collect: impl FnMut(&str, u32, &mut Merge) -> Result<(), GatherError>,
    ) -> Result<Vec<Slot>, GatherError> {
        let mut merge = Merge::default();
        for (stream, id) in self.0.iter().enumerate() {
            let stream = u32::try_from(stream).map_err(|_| GatherError::TooLarge)?;
            collect(id, stream, &mut merge)?;
        }
        Ok(merge.into_order())
    }

    /// The members that every row gets: `timestamp`, and `thread` if it belongs to a
    /// sub-agent.
    pub(super) fn members_of(&self, slot: &Slot) -> Object<'s> {
        let thread = self.0.get(slot.stream as usize).filter(|_| slot.stream > 0);
        let mut members = Object::new();
        members.push_some("timestamp", slot.at);
        members.push_some("thread", thread.copied());
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, parent: Option<&str>) -> DatabaseSession {
        let parent = parent.map(str::to_owned);
        DatabaseSession { id: id.to_owned(), parent, ..DatabaseSession::default() }
    }

    #[test]
    fn streams_keep_their_order_and_are_merged_by_time() {
        let mut merge = Merge::default();
        for (stream, id, at) in [
            (0, "a", Some(1)),
            (0, "b", Some(9)),
            (0, "c", Some(4)),
            (0, "d", None),
            (1, "x", Some(5)),
            (1, "y", Some(12)),
        ] {
            merge.push(Slot::new(stream, 0, id.to_owned(), at)).unwrap();
        }
        let order: Vec<_> = merge.into_order().into_iter().map(|slot| slot.id).collect();
        assert_eq!(order.concat(), "axbcdy");
    }

    #[test]
    fn sub_agents_of_sub_agents_belong_to_the_session_and_rings_end() {
        let all = [
            session("a", Some("c")),
            session("b", Some("a")),
            session("c", Some("b")),
            session("other", None),
        ];
        assert_eq!(SessionThreads::of(&all, &all[0]).0, ["a", "b", "c"]);
    }
}
