//! Removes a session from a dataset.
//!
//! A note stays in the dataset, so that no host ships the session again.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use bytes::Bytes;
use traj_core::port::{DatasetKey, DatasetStore, DatasetStoreError};
use traj_export::{Pace, trace_id};

use crate::layout::{LAYOUT, SegmentKey, Table};
use crate::ship::{DatasetError, Reach};
use crate::stored_file::SegmentFacts;

/// The files of a session in a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInDataset {
    /// Names the session across hosts.
    pub trace_id: String,
    /// Its own files. The totals come first: without them, the others do not
    /// count.
    pub files: Vec<DatasetKey>,
    /// How many bytes they have.
    pub bytes: u64,
    /// Compacted files with rows of the session. They are not removed.
    pub compacted: Vec<DatasetKey>,
}

/// Where the notes about removed sessions are.
pub(crate) fn forgotten_prefix() -> String {
    format!("{LAYOUT}/_ship/forgotten/")
}

/// Finds the files of a session of any host.
///
/// # Errors
/// If the dataset cannot be read.
pub fn find_in_dataset(
    dataset: &dyn DatasetStore,
    session_id: &str,
    pace: &mut dyn Pace,
) -> Result<SessionInDataset, DatasetError> {
    let trace_id = trace_id(session_id);
    let mut reach = Reach::new(dataset);
    let mut found = SessionInDataset { trace_id: trace_id.clone(), ..SessionInDataset::default() };
    for table in [Table::Sessions, Table::Events] {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        reach.ask(pace, |dataset| {
            (own, others) = (Vec::new(), Vec::new());
            dataset.list(&table.prefix(), &mut |file| {
                match SegmentKey::parse(file.key.as_str()) {
                    Some(key) if trace_id.starts_with(&key.name.session) => own.push(file),
                    Some(_) => {}
                    None => others.push(file.key),
                }
                ControlFlow::Continue(())
            })
        })?;
        for file in own {
            let content = reach.ask(pace, |dataset| dataset.get(&file.key))?;
            let facts = content.map(|content| SegmentFacts::of(&Bytes::from(content)));
            // One that cannot be read has its name at least.
            if !matches!(facts, Some(Ok(facts)) if facts.trace_id != trace_id) {
                found.bytes += file.bytes;
                found.files.push(file.key);
            }
        }
        for key in others {
            let content = reach.ask(pace, |dataset| dataset.get(&key))?;
            let has_rows = content.is_some_and(|content| {
                SegmentFacts::open_compacted(Bytes::from(content)).is_ok_and(|mut batches| {
                    batches.any(|batch| batch.is_ok_and(|batch| has_session(&batch, &trace_id)))
                })
            });
            if has_rows {
                found.compacted.push(key);
            }
        }
    }
    Ok(found)
}

fn has_session(batch: &arrow_array::RecordBatch, trace_id: &str) -> bool {
    use arrow_array::cast::AsArray as _;
    let column = batch.column_by_name("trace_id");
    let texts = column.and_then(|column| column.as_string_opt::<i32>());
    texts.is_some_and(|texts| texts.iter().any(|text| text == Some(trace_id)))
}

/// Stores a note that a session must not be shipped again, and deletes its
/// files.
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
    for key in &found.files {
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
