//! Events as columns, with the digest of their rows. They become columns once,
//! whether they are then written or only compared.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};

use super::event_columns::event_batch;
use super::event_row::EventRow;
use super::rows_digest::{REVISION, RowsDigest};
use super::table::ParquetError;

/// The number of rows that become columns at once.
const ROWS_AT_ONCE: usize = 1_024;

/// Events that do not change any more. Their revision is stated when they are
/// written.
#[derive(Debug)]
pub struct SealedEvents {
    batches: Vec<(RecordBatch, usize)>,
    digest: String,
}

impl SealedEvents {
    /// Takes rows.
    ///
    /// # Errors
    /// If they cannot be columns.
    pub fn of(rows: Vec<EventRow>) -> Result<Self, ParquetError> {
        let mut digest = RowsDigest::default();
        // Columns without rows have names.
        digest.add(&event_batch(&[])?)?;
        let mut batches = Vec::new();
        let mut rows = rows.into_iter();
        loop {
            let some: Vec<EventRow> = rows.by_ref().take(ROWS_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            let batch = event_batch(&some)?;
            digest.add(&batch)?;
            batches.push((batch, some.iter().map(EventRow::bytes).sum()));
        }
        Ok(Self { batches, digest: digest.finish() })
    }

    /// The digest of the rows, in 64 hexadecimal digits. Equal rows of two revisions
    /// are equal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The columns of a revision, each with the number of bytes of text.
    pub(super) fn columns_of(
        self,
        revision: Option<i32>,
    ) -> impl Iterator<Item = Result<(RecordBatch, usize), ParquetError>> {
        self.batches.into_iter().map(move |(batch, bytes)| {
            let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
            let schema = batch.schema();
            if let Some(column) = columns.get_mut(schema.index_of(REVISION)?) {
                *column = Arc::new(Int32Array::from(vec![revision; batch.num_rows()]));
            }
            Ok((RecordBatch::try_new(schema, columns)?, bytes))
        })
    }
}
