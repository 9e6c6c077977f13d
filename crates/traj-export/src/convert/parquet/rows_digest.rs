//! A digest of the rows of a table, by which equal rows are recognised: those that
//! are about to be written, and those that were read from a file.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal128Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array as _, ArrayRef, MapArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use sha2::{Digest as _, Sha256};

use super::session_columns::session_batch;
use super::session_row::SessionRow;
use super::table::ParquetError;

/// The column that says how often a segment was written. Equal rows of two
/// revisions are equal.
pub(super) const REVISION: &str = "revision";

/// This many bytes are digested at once: most values have few.
const DIGESTED_AT_ONCE: usize = 4 * 1024;

/// The digest of rows, however they are grouped: each column has a digest of its
/// own.
#[derive(Clone, Debug, Default)]
pub struct RowsDigest {
    columns: Vec<(String, Gathered)>,
}

/// A digest of many small values.
#[derive(Clone, Debug, Default)]
struct Gathered {
    hasher: Sha256,
    waiting: Vec<u8>,
}

impl Gathered {
    fn update(&mut self, bytes: &[u8]) {
        if self.waiting.len() + bytes.len() > DIGESTED_AT_ONCE {
            self.hasher.update(&self.waiting);
            self.waiting.clear();
        }
        if bytes.len() > DIGESTED_AT_ONCE {
            self.hasher.update(bytes);
        } else {
            self.waiting.extend_from_slice(bytes);
        }
    }

    fn finish(mut self) -> impl AsRef<[u8]> {
        self.hasher.update(&self.waiting);
        self.hasher.finalize()
    }
}

impl RowsDigest {
    /// The digest of sessions.
    ///
    /// # Errors
    /// If they cannot be columns.
    pub fn of_sessions(rows: &[SessionRow]) -> Result<String, ParquetError> {
        let mut digest = Self::default();
        digest.add(&session_batch(rows)?)?;
        Ok(digest.finish())
    }

    /// Adds the rows of a batch. All batches have the same columns.
    ///
    /// # Errors
    /// If a column has a type that no table of ours has.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let columns = columns.filter(|(field, _)| field.name() != REVISION);
        for (place, (field, column)) in columns.enumerate() {
            if self.columns.len() == place {
                self.columns.push((field.name().clone(), Gathered::default()));
            }
            if let Some((name, hasher)) = self.columns.get_mut(place)
                && name == field.name()
            {
                add_column(hasher, column)?;
            } else {
                return Err(ArrowError::SchemaError("batches have different columns".to_owned()));
            }
        }
        Ok(())
    }

    /// The digest, in 64 hexadecimal digits.
    #[must_use]
    pub fn finish(self) -> String {
        let mut whole = Gathered::default();
        for (name, column) in self.columns {
            add_bytes(&mut whole, name.as_bytes());
            whole.update(column.finish().as_ref());
        }
        whole.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn add_column(hasher: &mut Gathered, column: &ArrayRef) -> Result<(), ArrowError> {
    match column.data_type() {
        DataType::Utf8 => {
            for text in column.as_string::<i32>() {
                add_value(hasher, text.map(str::as_bytes));
            }
        }
        DataType::Int32 => {
            for number in column.as_primitive::<Int32Type>() {
                add_value(hasher, number.map(i32::to_be_bytes));
            }
        }
        DataType::Int64 => {
            for number in column.as_primitive::<Int64Type>() {
                add_value(hasher, number.map(i64::to_be_bytes));
            }
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            for time in column.as_primitive::<TimestampMicrosecondType>() {
                add_value(hasher, time.map(i64::to_be_bytes));
            }
        }
        DataType::Decimal128(..) => {
            for amount in column.as_primitive::<Decimal128Type>() {
                add_value(hasher, amount.map(i128::to_be_bytes));
            }
        }
        DataType::Boolean => {
            for flag in column.as_boolean() {
                add_value(hasher, flag.map(|flag| [u8::from(flag)]));
            }
        }
        DataType::Map(..) => add_maps(hasher, column.as_map())?,
        other => return Err(ArrowError::SchemaError(format!("no table has the type {other}"))),
    }
    Ok(())
}

fn add_maps(hasher: &mut Gathered, maps: &MapArray) -> Result<(), ArrowError> {
    for place in 0..maps.len() {
        let entries = maps.value(place);
        hasher.update(&(entries.len() as u64).to_be_bytes());
        for column in entries.columns() {
            add_column(hasher, column)?;
        }
    }
    Ok(())
}

fn add_value(hasher: &mut Gathered, value: Option<impl AsRef<[u8]>>) {
    match value {
        Some(value) => add_bytes(hasher, value.as_ref()),
        None => hasher.update(&u64::MAX.to_be_bytes()),
    }
}

fn add_bytes(hasher: &mut Gathered, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::super::event_columns::event_batch;
    use super::super::event_row::EventRow;
    use super::super::sealed_events::SealedEvents;
    use super::*;

    fn digest_of(rows: &[EventRow]) -> String {
        SealedEvents::of(rows.to_vec()).unwrap().digest().to_owned()
    }

    fn rows() -> Vec<EventRow> {
        let row = |seq| EventRow {
            seq,
            session_id: "s".to_owned(),
            data: format!("{{\"n\":{seq}}}"),
            tool: (seq % 2 == 0).then(|| "shell".to_owned()),
            cost_nanos: Some(i128::from(seq)),
            labels: [("team".to_owned(), "a".to_owned())].into(),
            ..EventRow::default()
        };
        (1..=5_000).map(row).collect()
    }

    #[test]
    fn equal_rows_have_equal_digests_however_they_are_grouped() {
        let rows = rows();
        let whole = digest_of(&rows);
        let mut other = RowsDigest::default();
        for rows in rows.chunks(7) {
            other.add(&event_batch(rows).unwrap()).unwrap();
        }
        assert_eq!(other.finish(), whole);
        assert_eq!(whole.len(), 64);
    }

    #[test]
    fn another_row_is_another_digest_and_another_revision_is_not() {
        let rows = rows();
        let whole = digest_of(&rows);
        let with = |change: fn(&mut EventRow)| {
            let mut rows = rows.clone();
            rows.get_mut(4_001).map(change).unwrap();
            digest_of(&rows)
        };
        assert_eq!(with(|row| row.revision = Some(2)), whole);
        assert_ne!(with(|row| row.tool = None), whole);
        assert_ne!(with(|row| row.tool = Some(String::new())), whole);
        assert_ne!(with(|row| row.data.push(' ')), whole);
        assert_ne!(with(|row| row.labels.clear()), whole);
        assert_ne!(with(|row| row.cost_nanos = None), whole);
        assert_ne!(digest_of(&rows[1..]), whole);
        assert_ne!(digest_of(&[]), whole);
    }
}
