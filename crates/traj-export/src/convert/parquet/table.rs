//! Writes rows in batches, in row groups with fixed bounds.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::event_columns::{event_batch, event_schema};
use super::event_row::EventRow;
use super::sealed_events::SealedEvents;

/// A row group ends after this many rows.
const GROUP_ROWS: usize = 65_536;

/// A row group ends after this many bytes of text.
const GROUP_BYTES: usize = 32 * 1024 * 1024;

/// This many rows, or this many bytes of text, are encoded at once.
const BATCH_ROWS: usize = 2_048;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The columns of events whose values are all different, or almost: a dictionary
/// would only cost time.
const DIFFERENT: [&str; 3] = ["event_id", "parent_id", "seq"];

/// The writer that files name.
const CREATED_BY: &str = "traj";

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetError {
    /// The rows cannot be encoded.
    #[error("the rows cannot be encoded")]
    Encode(#[from] ArrowError),
    /// The file cannot be written.
    #[error("the file cannot be written")]
    Write(#[from] parquet::errors::ParquetError),
}

impl From<ParquetError> for io::Error {
    fn from(error: ParquetError) -> Self {
        use parquet::errors::ParquetError as Inner;
        match error {
            // An error of the output, which a caller may want to recognise.
            ParquetError::Write(Inner::External(inner)) => match inner.downcast::<Self>() {
                Ok(error) => *error,
                Err(inner) => Self::other(inner),
            },
            other => Self::other(other),
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParquetSummary {
    /// The number of rows.
    pub rows: u64,
    /// The number of row groups.
    pub groups: u64,
}

/// A table of any columns.
pub(super) struct Table<W: Write + Send> {
    writer: ArrowWriter<W>,
    group_rows: usize,
    group_bytes: usize,
    summary: ParquetSummary,
}

impl<W: Write + Send> Table<W> {
    /// A table with a bloom filter for some columns, others that hold long texts,
    /// and others whose values are all different.
    pub(super) fn new(
        out: W,
        schema: Schema,
        filtered: &[&str],
        long: &[&str],
        different: &[&str],
        metadata: &[(&str, &str)],
    ) -> Result<Self, ParquetError> {
        let path = |name: &str| ColumnPath::from(name);
        let pairs = metadata
            .iter()
            .map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
        let pairs: Vec<KeyValue> = pairs.collect();
        let mut properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_max_row_group_row_count(None)
            .set_key_value_metadata(Some(pairs).filter(|pairs| !pairs.is_empty()));
        for name in filtered {
            properties = properties
                .set_column_bloom_filter_enabled(path(name), true)
                .set_column_bloom_filter_max_ndv(path(name), 1_024);
        }
        for name in long {
            properties = properties
                .set_column_dictionary_enabled(path(name), false)
                .set_column_statistics_enabled(path(name), EnabledStatistics::None);
        }
        for name in different {
            properties = properties.set_column_dictionary_enabled(path(name), false);
        }
        // The plain Parquet types are enough, and every engine reads them.
        let options = ArrowWriterOptions::new()
            .with_properties(properties.build())
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(out, Arc::new(schema), options)?;
        let summary = ParquetSummary::default();
        Ok(Self { writer, group_rows: 0, group_bytes: 0, summary })
    }

    /// Writes a batch with this many bytes of text.
    pub(super) fn write(&mut self, batch: &RecordBatch, bytes: usize) -> Result<(), ParquetError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.writer.write(batch)?;
        self.summary.rows += batch.num_rows() as u64;
        self.group_rows += batch.num_rows();
        self.group_bytes += bytes;
        if self.group_rows >= GROUP_ROWS || self.group_bytes >= GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        if self.group_rows > 0 {
            self.writer.flush()?;
            self.summary.groups += 1;
            (self.group_rows, self.group_bytes) = (0, 0);
        }
        Ok(())
    }

    /// Adds a pair to the metadata at the end of the file.
    pub(super) fn note(&mut self, key: &str, value: String) {
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    /// Ends the file and flushes the output.
    pub(super) fn finish(mut self) -> Result<ParquetSummary, ParquetError> {
        self.end_group()?;
        self.writer.finish()?;
        let flushed = self.writer.inner_mut().flush();
        flushed.map_err(|error| parquet::errors::ParquetError::External(error.into()))?;
        Ok(self.summary)
    }
}

/// A Parquet file of events, written row by row to any output.
///
/// The same rows give the same bytes. Memory is bounded by a row group, which is
/// kept compressed.
pub struct EventTable<W: Write + Send> {
    table: Table<W>,
    waiting: Vec<EventRow>,
    waiting_bytes: usize,
}

impl<W: Write + Send> std::fmt::Debug for EventTable<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let written = &self.table.summary;
        formatter.debug_struct("EventTable").field("written", written).finish_non_exhaustive()
    }
}

impl<W: Write + Send> EventTable<W> {
    /// A file with these pairs in its metadata.
    ///
    /// # Errors
    /// If the beginning cannot be written.
    pub fn new(out: W, metadata: &[(&str, &str)]) -> Result<Self, ParquetError> {
        let filtered = ["trace_id", "session_id"];
        let table = Table::new(out, event_schema(), &filtered, &["data"], &DIFFERENT, metadata)?;
        Ok(Self { table, waiting: Vec::new(), waiting_bytes: 0 })
    }

    /// The columns.
    #[must_use]
    pub fn schema() -> Schema {
        event_schema()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If writing fails.
    pub fn push(&mut self, row: EventRow) -> Result<(), ParquetError> {
        self.waiting_bytes += row.bytes();
        self.waiting.push(row);
        if self.waiting.len() >= BATCH_ROWS || self.waiting_bytes >= BATCH_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Adds all rows of a revision.
    ///
    /// # Errors
    /// If writing fails.
    pub fn push_sealed(
        &mut self,
        events: SealedEvents,
        revision: Option<i32>,
    ) -> Result<(), ParquetError> {
        self.write()?;
        for columns in events.columns_of(revision) {
            let (batch, bytes) = columns?;
            self.table.write(&batch, bytes)?;
        }
        Ok(())
    }

    /// Adds a pair to the metadata, which is at the end of the file: what is
    /// only known when all rows are.
    pub fn note(&mut self, key: &str, value: impl Into<String>) {
        self.table.note(key, value.into());
    }

    /// Ends the file and flushes the output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> Result<ParquetSummary, ParquetError> {
        self.write()?;
        self.table.finish()
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let waiting = std::mem::take(&mut self.waiting);
        let bytes = std::mem::take(&mut self.waiting_bytes);
        self.table.write(&event_batch(&waiting)?, bytes)
    }
}
