//! Files that a compaction wrote: they hold many sessions, so they are written
//! again without one.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, RecordBatch};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use sha2::{Digest as _, Sha256};
use traj_core::port::{DatasetKey, DatasetStoreError};
use traj_export::agent_name;

use crate::stored_file::{DamagedFile, open};

/// The ending of the files.
const ENDING: &str = ".parquet";

/// What the name of a file gains that was written again, before a digest.
const AGAIN: &str = "-again-";

/// The trace ids of the sessions with this id in a file, each with its program.
/// None, if it is not a file of a compaction.
pub(super) fn sessions_in(content: Vec<u8>, session_id: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let batches = open(Bytes::from(content)).ok().and_then(|opened| opened.build().ok());
    for batch in batches.into_iter().flatten().flatten() {
        for row in 0..batch.num_rows() {
            if text(&batch, "session_id", row) == Some(session_id)
                && let Some(trace_id) = text(&batch, "trace_id", row)
                && !found.contains_key(trace_id)
            {
                let agent = agent_name(text(&batch, "agent", row));
                found.insert(trace_id.to_owned(), agent);
            }
        }
    }
    found
}

/// A file without the rows of a session, and its key: the name states a digest, so
/// that the same file is written once. `None` if no row is left.
pub(super) fn without(
    key: &DatasetKey,
    content: Vec<u8>,
    trace_id: &str,
) -> Result<Option<(DatasetKey, Vec<u8>)>, DatasetStoreError> {
    let rest = rows_without(Bytes::from(content), trace_id).map_err(DatasetStoreError::failed)?;
    let Some(rest) = rest else { return Ok(None) };
    let digest = Sha256::digest(&rest);
    let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let name = key.as_str().strip_suffix(ENDING).unwrap_or(key.as_str());
    let name = name.rsplit_once(AGAIN).map_or(name, |(name, _)| name);
    let key = DatasetKey::parse(format!("{name}{AGAIN}{digest}{ENDING}"));
    Ok(Some((key.map_err(DatasetStoreError::failed)?, rest)))
}

/// Why a file could not be written again.
#[derive(Debug, thiserror::Error)]
enum RewriteError {
    #[error(transparent)]
    Damaged(#[from] DamagedFile),
    #[error("a file of a compaction cannot be written again")]
    Parquet(#[from] ParquetError),
    #[error("the rows of a compaction cannot be read")]
    Rows(#[from] arrow_schema::ArrowError),
}

fn rows_without(content: Bytes, trace_id: &str) -> Result<Option<Vec<u8>>, RewriteError> {
    let mut kept: Vec<RowSelector> = Vec::new();
    for batch in open(content.clone())?.build()? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            let skips = text(&batch, "trace_id", row) == Some(trace_id);
            match kept.last_mut() {
                Some(last) if last.skip == skips => last.row_count += 1,
                _ if skips => kept.push(RowSelector::skip(1)),
                _ => kept.push(RowSelector::select(1)),
            }
        }
    }
    if kept.iter().all(|rows| rows.skip) {
        return Ok(None);
    }
    let rest = open(content)?.with_row_selection(RowSelection::from(kept)).build()?;
    let properties = WriterProperties::builder()
        .set_created_by("traj".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut written = Vec::new();
    let schema = arrow_array::RecordBatchReader::schema(&rest);
    let mut writer = ArrowWriter::try_new_with_options(&mut written, schema, options)?;
    for batch in rest {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(Some(written))
}

fn text<'b>(batch: &'b RecordBatch, name: &str, row: usize) -> Option<&'b str> {
    let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
    column.is_valid(row).then(|| column.value(row))
}

#[cfg(test)]
mod tests {
    use traj_export::{EventRow, EventTable, trace_id};

    use super::*;

    fn compacted(sessions: &[(&str, &str, i64)]) -> Vec<u8> {
        let mut content = Vec::new();
        let mut table = EventTable::new(&mut content, &[]).unwrap();
        for (agent, session, events) in sessions {
            for seq in 1..=*events {
                let row = EventRow {
                    trace_id: trace_id(Some(agent), session),
                    session_id: (*session).to_owned(),
                    agent: Some((*agent).to_owned()),
                    seq,
                    data: format!("{{\"n\":{seq}}}"),
                    ..EventRow::default()
                };
                table.push(row).unwrap();
            }
        }
        table.finish().unwrap();
        content
    }

    fn rows(content: Vec<u8>) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for batch in open(Bytes::from(content)).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let of = |name, row| text(&batch, name, row).unwrap().to_owned();
            rows.extend((0..batch.num_rows()).map(|row| (of("session_id", row), of("data", row))));
        }
        rows
    }

    #[test]
    fn a_file_is_written_again_without_one_session_and_with_all_other_rows() {
        let content = compacted(&[("codex", "a", 3), ("codex", "s", 5_000), ("pi", "s", 2)]);
        let found = sessions_in(content.clone(), "s");
        assert_eq!(found.values().collect::<Vec<_>>().len(), 2, "{found:?}");
        let codex = trace_id(Some("codex"), "s");
        assert_eq!(found.get(&codex).map(String::as_str), Some("codex"));
        let key = DatasetKey::parse("traj/v1/events/date=2026-11-18/agent=x/compact-1.parquet");
        let key = key.unwrap();
        let (again, rest) = without(&key, content, &codex).unwrap().unwrap();
        let left: Vec<String> = rows(rest.clone()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(left, ["a", "a", "a", "s", "s"]);
        assert_eq!(sessions_in(rest.clone(), "s").len(), 1, "that of the other program");
        // Another session of the same file: the name does not grow.
        let (third, rest) = without(&again, rest, &trace_id(Some("codex"), "a")).unwrap().unwrap();
        assert_eq!(third.as_str().matches(AGAIN).count(), 1);
        assert_ne!(third, again);
        let nothing = without(&third, rest, &trace_id(Some("pi"), "s")).unwrap();
        assert_eq!(nothing, None, "no row is left");
    }
}
