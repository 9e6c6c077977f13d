//! The key of a segment's file: its table, its directory and its name.

use std::fmt;

use traj_core::port::{DatasetKey, DatasetKeyError};
use traj_export::agent_name;

use super::{Day, LAYOUT, SegmentName};

/// A table of the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Table {
    /// One row per event.
    Events,
    /// One row per segment, with the totals of the session up to its end.
    Sessions,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 2] = [Self::Events, Self::Sessions];

    /// The name of its directory.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Sessions => "sessions",
        }
    }

    /// The beginning of the keys of all its files.
    #[must_use]
    pub fn prefix(self) -> String {
        format!("{LAYOUT}/{}/", self.as_str())
    }
}

/// The directory of a segment's files, in each table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SegmentFolder {
    day: Day,
    agent: String,
}

impl SegmentFolder {
    /// The directory of segments of this program.
    pub(crate) fn new(day: Day, agent: Option<&str>) -> Self {
        Self { day, agent: agent_name(agent) }
    }

    /// Reads what [`fmt::Display`] writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (day, agent) = text.split_once('/')?;
        let day = Day::parse(day.strip_prefix("date=")?)?;
        let agent = agent.strip_prefix("agent=")?;
        (agent_name(Some(agent)) == agent).then(|| Self { day, agent: agent.to_owned() })
    }

    /// The program, as the directory is called.
    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    /// The key of a file in it.
    pub(crate) fn key(&self, table: Table, name: SegmentName) -> SegmentKey {
        SegmentKey { table, day: self.day, agent: self.agent.clone(), name }
    }

    /// The directory of a file.
    pub(crate) fn of(key: &SegmentKey) -> Self {
        Self { day: key.day, agent: key.agent.clone() }
    }
}

impl fmt::Display for SegmentFolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "date={}/agent={}", self.day, self.agent)
    }
}

/// The key of a segment's file in one table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SegmentKey {
    /// The table.
    pub table: Table,
    /// The day of the segment's first event.
    pub day: Day,
    /// The program, as the directory is called.
    pub agent: String,
    /// The name.
    pub name: SegmentName,
}

impl SegmentKey {
    /// The key of a segment of this program.
    #[must_use]
    pub fn new(table: Table, day: Day, agent: Option<&str>, name: SegmentName) -> Self {
        Self { table, day, agent: agent_name(agent), name }
    }

    /// The key of the same segment in another table.
    #[must_use]
    pub fn in_table(&self, table: Table) -> Self {
        Self { table, ..self.clone() }
    }

    /// The key of another revision of the same segment.
    #[must_use]
    pub fn in_revision(&self, revision: u32) -> Self {
        Self { name: self.name.in_revision(revision), ..self.clone() }
    }

    /// The beginning of the keys of all segments of the session in this
    /// directory.
    #[must_use]
    pub fn session_prefix(&self) -> String {
        format!("{}{}", self.folder(), self.name.session_prefix())
    }

    /// Reads a key; `None` if the file does not belong to a segment.
    #[must_use]
    pub fn parse(key: &str) -> Option<Self> {
        let (table, rest) = key.strip_prefix(LAYOUT)?.strip_prefix('/')?.split_once('/')?;
        let table = Table::ALL.into_iter().find(|known| known.as_str() == table)?;
        let (folder, name) = rest.rsplit_once('/')?;
        Some(SegmentFolder::parse(folder)?.key(table, SegmentName::parse(name)?))
    }

    /// The key for a store.
    ///
    /// # Errors
    /// Only if the public members of the key were changed to something invalid.
    pub fn to_dataset_key(&self) -> Result<DatasetKey, DatasetKeyError> {
        DatasetKey::parse(self.to_string())
    }

    fn folder(&self) -> String {
        format!("{}{}/", self.table.prefix(), SegmentFolder::of(self))
    }
}

impl fmt::Display for SegmentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.folder(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::HostId;

    fn key(agent: Option<&str>) -> SegmentKey {
        let name = SegmentName::new(&HostId::of(&[0; 32], "h"), "0123456789abcdef", 1, 1);
        SegmentKey::new(Table::Events, Day::default(), agent, name)
    }

    #[test]
    fn the_folder_of_a_program_is_plain() {
        let folder = |agent: &str| key(Some(agent)).agent;
        assert_eq!(folder("Claude Code"), "claude-code");
        assert_eq!(folder("../x//"), "x");
        assert_eq!(folder("猫"), "unknown");
        assert_eq!(key(None).agent, "unknown");
    }

    #[test]
    fn other_keys_are_no_segments() {
        let good = key(Some("codex")).to_string();
        assert!(SegmentKey::parse(&good).is_some());
        for (from, to) in [
            ("traj/v1", "traj/v2"),
            ("events", "other"),
            ("date=", ""),
            ("1970-01-01", "1970-13-01"),
            ("agent=codex", "agent=Codex"),
            ("agent=codex", "agent=codex/x"),
            ("agent=codex", "agent="),
        ] {
            let other = good.replace(from, to);
            assert_eq!(SegmentKey::parse(&other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_key_is_read_back_and_fits_a_store(
            agent in proptest::option::of(".{0,80}"),
            days in 0..2_932_897_i64,
            first in 1..u64::MAX,
            revision in 1..u32::MAX,
        ) {
            let at = traj_core::timestamp::UnixMillis::new(days * 86_400_000);
            let name = SegmentName::new(&HostId::of(&[0; 32], "h"), "0123456789abcdef", first, revision);
            for table in Table::ALL {
                let key = SegmentKey::new(table, Day::of(at), agent.as_deref(), name.clone());
                prop_assert_eq!(SegmentKey::parse(&key.to_string()), Some(key.clone()));
                prop_assert!(key.to_dataset_key().is_ok());
                prop_assert!(key.to_string().starts_with(&key.session_prefix()));
            }
        }
    }
}
