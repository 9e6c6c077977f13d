//! Long texts of a session that no other session names.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use arrow_array::cast::AsArray as _;
use bytes::Bytes;
use traj_core::capture::BlobDigest;
use traj_core::port::{DatasetKey, DatasetStoreError};
use traj_export::{Pace, long_texts_in};

use super::SessionInDataset;
use crate::layout::{Table, TextKey};
use crate::ship::{DatasetError, Reach};
use crate::stored_file::open;

/// The sessions that name a text, by their trace ids.
type Naming = BTreeMap<BlobDigest, BTreeSet<String>>;

/// Adds to each session the texts that only it names. If none of its rows names a
/// text, no other file is read.
pub(super) fn find(
    found: &mut [SessionInDataset],
    reach: &mut Reach<'_>,
    pace: &mut dyn Pace,
) -> Result<(), DatasetError> {
    let mut naming = Naming::new();
    let own: BTreeSet<DatasetKey> = found
        .iter()
        .flat_map(|session| session.files.iter().chain(&session.compacted))
        .cloned()
        .collect();
    for key in own.iter().filter(|key| key.as_str().starts_with(&Table::Events.prefix())) {
        add(key, &mut naming, reach, pace)?;
    }
    if naming.is_empty() {
        return Ok(());
    }
    let mut others = Vec::new();
    reach.ask(pace, |dataset| {
        others.clear();
        dataset.list(&Table::Events.prefix(), &mut |file| {
            others.extend(Some(file.key).filter(|key| !own.contains(key)));
            ControlFlow::Continue(())
        })
    })?;
    for key in &others {
        add(key, &mut naming, reach, pace)?;
    }
    for (digest, sessions) in naming {
        let only = sessions.first().filter(|_| sessions.len() == 1);
        let session = found.iter_mut().find(|session| Some(&session.trace_id) == only);
        if let Some(session) = session {
            let key = TextKey(digest).to_dataset_key().map_err(DatasetStoreError::failed)?;
            session.texts.push(key);
        }
    }
    Ok(())
}

/// Adds the texts that a file names.
fn add(
    key: &DatasetKey,
    naming: &mut Naming,
    reach: &mut Reach<'_>,
    pace: &mut dyn Pace,
) -> Result<(), DatasetError> {
    let Some(content) = reach.ask(pace, |dataset| dataset.get(key))? else { return Ok(()) };
    let batches = open(Bytes::from(content)).ok().and_then(|opened| opened.build().ok());
    for batch in batches.into_iter().flatten().flatten() {
        let column = |name| batch.column_by_name(name)?.as_string_opt::<i32>();
        let (Some(payloads), Some(sessions)) = (column("data"), column("trace_id")) else {
            continue;
        };
        for (payload, session) in payloads.iter().zip(sessions.iter()) {
            for digest in payload.map(long_texts_in).unwrap_or_default() {
                naming.entry(digest).or_default().extend(session.map(str::to_owned));
            }
        }
    }
    Ok(())
}
