//! Removes a session from a dataset.
//!
//! A note stays in the dataset, so that no host ships the session again.
//!
//! - `compacted`: files that hold many sessions;
//! - `texts`: long texts that only this session has.

mod compacted;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use bytes::Bytes;
use traj_core::port::{DatasetFile, DatasetKey, DatasetStore, DatasetStoreError};
use traj_export::{Pace, trace_id};

use crate::layout::{LAYOUT, SegmentKey, Table};
use crate::ship::{DatasetError, Reach};
use crate::stored_file::SegmentFacts;

/// The files of a session in a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInDataset {
    /// The program, as in the names of directories.
    pub agent: String,
    /// Names the session across hosts.
    pub trace_id: String,
    /// Its own files. The totals come first: without them, the others do not
    /// count.
    pub files: Vec<DatasetKey>,
    /// How many bytes they have.
    pub bytes: u64,
    /// Long texts that its rows name, and those of no other session.
    pub texts: Vec<DatasetKey>,
    /// Compacted files with rows of the session. They are replaced by files without
    /// these rows.
    pub compacted: Vec<DatasetKey>,
}

/// Where the notes about removed sessions are.
pub(crate) fn forgotten_prefix() -> String {
    format!("{LAYOUT}/_ship/forgotten/")
}

/// Finds the files of the sessions with an id, of any host: one session for each
/// program that has one.
///
/// # Errors
/// If the dataset cannot be read.
pub fn find_in_dataset(
    dataset: &dyn DatasetStore,
    session_id: &str,
    pace: &mut dyn Pace,
) -> Result<Vec<SessionInDataset>, DatasetError> {
    let mut search = Search { reach: Reach::new(dataset), session_id, found: BTreeMap::new() };
    for table in [Table::Sessions, Table::Events] {
        let mut files: Vec<DatasetFile> = Vec::new();
        search.reach.ask(pace, |dataset| {
            files.clear();
            dataset.list(&table.prefix(), &mut |file| {
                files.push(file);
                ControlFlow::Continue(())
            })
        })?;
        for file in files {
            match SegmentKey::parse(file.key.as_str()) {
                Some(key) => search.look_at_segment(&key, file, pace)?,
                None => search.look_at_compacted(file.key, pace)?,
            }
        }
    }
    let mut found: Vec<SessionInDataset> = search.found.into_values().collect();
    texts::find(&mut found, &mut search.reach, pace)?;
    Ok(found)
}

/// A search for the files of a session.
struct Search<'a> {
    reach: Reach<'a>,
    session_id: &'a str,
    /// By trace id.
    found: BTreeMap<String, SessionInDataset>,
}

impl Search<'_> {
    fn look_at_segment(
        &mut self,
        key: &SegmentKey,
        file: DatasetFile,
        pace: &mut dyn Pace,
    ) -> Result<(), DatasetError> {
        let wanted = trace_id(Some(&key.agent), self.session_id);
        if !wanted.starts_with(&key.name.session) {
            return Ok(());
        }
        let content = self.reach.ask(pace, |dataset| dataset.get(&file.key))?;
        let facts = content.map(|content| SegmentFacts::of(&Bytes::from(content)));
        // One that cannot be read has its name at least.
        if !matches!(facts, Some(Ok(facts)) if facts.trace_id != wanted) {
            let session = self.session(wanted, &key.agent);
            session.bytes += file.bytes;
            session.files.push(file.key);
        }
        Ok(())
    }

    fn look_at_compacted(
        &mut self,
        key: DatasetKey,
        pace: &mut dyn Pace,
    ) -> Result<(), DatasetError> {
        let Some(content) = self.reach.ask(pace, |dataset| dataset.get(&key))? else {
            return Ok(());
        };
        for (trace_id, agent) in compacted::sessions_in(content, self.session_id) {
            self.session(trace_id, &agent).compacted.push(key.clone());
        }
        Ok(())
    }

    fn session(&mut self, trace_id: String, agent: &str) -> &mut SessionInDataset {
        let session = self.found.entry(trace_id.clone()).or_default();
        if session.trace_id.is_empty() {
            (session.trace_id, session.agent) = (trace_id, agent.to_owned());
        }
        session
    }
}

/// Stores a note that a session must not be shipped again, takes its rows out of
/// compacted files, and deletes its own files.
///
/// # Errors
/// If the dataset cannot be used; what was deleted stays deleted.
pub fn forget_in_dataset(
    dataset: &dyn DatasetStore,
    found: &SessionInDataset,
    pace: &mut dyn Pace,
) -> Result<(), DatasetError> {
    let mut reach = Reach::new(dataset);
    let note = DatasetKey::parse(format!("{}{}", forgotten_prefix(), found.trace_id))
        .map_err(DatasetStoreError::failed)?;
    reach.ask(pace, |dataset| dataset.put_if_absent(&note, b""))?;
    for key in &found.compacted {
        let Some(content) = reach.ask(pace, |dataset| dataset.get(key))? else { continue };
        // Until the old file is deleted, rows are in both, and count once.
        if let Some((key, rest)) = compacted::without(key, content, &found.trace_id)? {
            reach.ask(pace, |dataset| dataset.put_if_absent(&key, &rest))?;
        }
        reach.ask(pace, |dataset| dataset.delete(key))?;
    }
    for key in found.files.iter().chain(&found.texts) {
        reach.ask(pace, |dataset| dataset.delete(key))?;
    }
    Ok(())
}

/// The trace ids of the sessions that must not be shipped again.
pub(crate) fn forgotten(dataset: &dyn DatasetStore) -> Result<BTreeSet<String>, DatasetStoreError> {
    let prefix = forgotten_prefix();
    let mut found = BTreeSet::new();
    dataset.list(&prefix, &mut |file| {
        found.extend(file.key.as_str().strip_prefix(&prefix).map(str::to_owned));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
