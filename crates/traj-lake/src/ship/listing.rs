//! Finds out what a dataset has, if the log does not say so.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use bytes::Bytes;
use traj_core::port::{DatasetKey, DatasetStoreError, Stored};
use traj_export::Pace;

use super::known::KnownSegment;
use super::log::{LISTED, LogLine, LoggedSession};
use super::reach::NoAnswer;
use super::{ShipError, Shipper};
use crate::layout::{LAYOUT, SegmentFolder, SegmentKey, SegmentName, Table};
use crate::stored_file::SegmentFacts;

/// The digest that a file states; `None` for other files.
pub(super) fn digest_in(content: Vec<u8>) -> Option<String> {
    SegmentFacts::of(&Bytes::from(content)).ok().map(|facts| facts.digest)
}

impl Shipper<'_> {
    /// A session as it is called in file names.
    pub(super) fn short(&self, trace_id: &str) -> String {
        SegmentName::new(&self.host, trace_id, 1, 1).session
    }

    /// Checks that the log is about this dataset, and begins a new one if it is
    /// not: the dataset was replaced, or the log was lost.
    pub(super) fn look_at_dataset(&mut self, pace: &mut dyn Pace) -> Result<(), ShipError> {
        match self.compare_log(pace) {
            Ok(()) | Err(NoAnswer::Away) => Ok(()),
            Err(NoAnswer::Failed(error)) => Err(error),
        }
    }

    fn compare_log(&mut self, pace: &mut dyn Pace) -> Result<(), NoAnswer> {
        let id = self.dataset_id(pace)?;
        if id.as_deref().is_some_and(|id| self.log.is_of(id)) {
            return Ok(());
        }
        let sessions = self.list_host(pace)?;
        Ok(self.log.replace(&id.unwrap_or_default(), sessions)?)
    }

    /// A name that this dataset has for this host; `None` if it has none and must
    /// not be changed.
    fn dataset_id(&mut self, pace: &mut dyn Pace) -> Result<Option<String>, NoAnswer> {
        let name = SegmentName::new(&self.host, "", 1, 1).host;
        let key = DatasetKey::parse(format!("{LAYOUT}/_ship/{name}/id"))
            .map_err(DatasetStoreError::failed)?;
        loop {
            if let Some(id) = self.reach.call(pace, |dataset| dataset.get(&key))? {
                return Ok(Some(String::from_utf8_lossy(&id).trim().to_owned()));
            }
            if self.is_dry {
                return Ok(None);
            }
            let id = format!("{:016x}{:016x}\n", pace.random(), pace.random());
            let stored =
                self.reach.call(pace, |dataset| dataset.put_if_absent(&key, id.as_bytes()))?;
            if stored == Stored::New {
                return Ok(Some(id.trim().to_owned()));
            }
        }
    }

    /// The directories of each session of this host.
    fn list_host(
        &mut self,
        pace: &mut dyn Pace,
    ) -> Result<BTreeMap<String, BTreeSet<SegmentFolder>>, NoAnswer> {
        let host = SegmentName::new(&self.host, "", 1, 1).host;
        let mut sessions: BTreeMap<String, BTreeSet<SegmentFolder>> = BTreeMap::new();
        for table in Table::ALL {
            for key in self.list(&table.prefix(), pace)? {
                if key.name.host == host {
                    let folders = sessions.entry(key.name.session.clone()).or_default();
                    folders.insert(SegmentFolder::of(&key));
                }
            }
        }
        Ok(sessions)
    }

    /// What the log says of a session, and which attempts at it are over: those of
    /// processes that have ended. What one of them did last may have been written
    /// since the log was read, so it is read again.
    pub(super) fn read_logged(&mut self, short: &str) -> Result<LoggedSession, ShipError> {
        let own = self.processes.own();
        let is_over = |attempt: &u64| {
            *attempt == own || *attempt == LISTED || !self.processes.is_running(*attempt)
        };
        let ended: BTreeSet<u64> =
            self.log.session(short).attempts.into_iter().filter(is_over).collect();
        if ended.iter().any(|attempt| ![own, LISTED].contains(attempt)) {
            self.log.read_again()?;
        }
        Ok(LoggedSession { ended, ..self.log.session(short) })
    }

    /// The files of segments whose key begins like this.
    fn list(&mut self, prefix: &str, pace: &mut dyn Pace) -> Result<Vec<SegmentKey>, NoAnswer> {
        self.reach.call(pace, |dataset| {
            let mut found = Vec::new();
            dataset.list(prefix, &mut |file| {
                found.extend(SegmentKey::parse(file.key.as_str()));
                ControlFlow::Continue(())
            })?;
            Ok(found)
        })
    }

    /// The rows of totals of a session, in the directories that it uses.
    fn list_session(
        &mut self,
        trace_id: &str,
        folders: &BTreeSet<SegmentFolder>,
        pace: &mut dyn Pace,
    ) -> Result<Vec<SegmentKey>, NoAnswer> {
        let name = SegmentName::new(&self.host, trace_id, 1, 1);
        let mut found = Vec::new();
        for folder in folders {
            let prefix = folder.key(Table::Sessions, name.clone()).session_prefix();
            found.extend(self.list(&prefix, pace)?);
        }
        Ok(found)
    }

    /// Finds out what the dataset has of a session. If it cannot be reached,
    /// the log has to suffice.
    pub(super) fn refresh(
        &mut self,
        trace_id: &str,
        logged: &mut LoggedSession,
        pace: &mut dyn Pace,
    ) -> Result<(), ShipError> {
        match self.learn(trace_id, logged, pace) {
            Ok(()) | Err(NoAnswer::Away) => Ok(()),
            Err(NoAnswer::Failed(error)) => Err(error),
        }
    }

    fn learn(
        &mut self,
        trace_id: &str,
        logged: &mut LoggedSession,
        pace: &mut dyn Pace,
    ) -> Result<(), NoAnswer> {
        let stored = self.list_session(trace_id, &logged.folders, pace)?;
        let mut learned = Vec::new();
        for (first, key) in newest(stored) {
            logged.known.note_used(first, key.name.revision);
            let known = logged.known.segments.get(&first);
            let is_known = known.is_some_and(|known| {
                (known.revision, &known.folder) == (key.name.revision, &SegmentFolder::of(&key))
            });
            if is_known {
                continue;
            }
            let name = key.to_dataset_key().map_err(DatasetStoreError::failed)?;
            let Some(found) = self.reach.call(pace, |dataset| dataset.get(&name))? else {
                continue;
            };
            // A damaged file has no digest, so it gets a revision.
            let facts = SegmentFacts::of(&Bytes::from(found)).ok();
            let segment = KnownSegment {
                last: facts.as_ref().map_or(first - 1, |facts| facts.last),
                revision: key.name.revision,
                digest: facts.map(|facts| facts.digest).unwrap_or_default(),
                folder: SegmentFolder::of(&key),
            };
            learned.push(LogLine::Segment {
                session: key.name.session.clone(),
                first,
                last: segment.last,
                revision: segment.revision,
                digest: segment.digest.clone(),
                folder: segment.folder.to_string(),
            });
            logged.known.put(first, segment);
        }
        Ok(self.log.append(learned)?)
    }

    /// Whether the dataset has unknown files of a session. If so, they become
    /// known.
    pub(super) fn is_contested(
        &mut self,
        logged: &mut LoggedSession,
        trace_id: &str,
        pace: &mut dyn Pace,
    ) -> Result<bool, ShipError> {
        if self.is_dry {
            return Ok(false);
        }
        let before = logged.known.segments.clone();
        self.refresh(trace_id, logged, pace)?;
        Ok(before != logged.known.segments)
    }
}

/// The file that counts for each segment: the highest revision, and within it
/// the key that sorts last.
fn newest(keys: Vec<SegmentKey>) -> BTreeMap<u64, SegmentKey> {
    let mut newest: BTreeMap<u64, SegmentKey> = BTreeMap::new();
    for key in keys {
        let rank = |key: &SegmentKey| (key.name.revision, key.to_string());
        let known = newest.get(&key.name.first);
        if known.is_none_or(|known| rank(known) < rank(&key)) {
            newest.insert(key.name.first, key);
        }
    }
    newest
}
