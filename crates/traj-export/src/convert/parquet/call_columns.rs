//! The columns of tool calls: those of every table of calls, typed.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::event_columns::utc_micros;
use crate::convert::call_rows::{CallRow, Cell};

/// The type of a column.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Time,
    Number,
    Amount,
    Flag,
}

/// The type of each column of [`CallRow::COLUMNS`].
fn kind(name: &str) -> Kind {
    match name {
        "started_at" | "ended_at" => Kind::Time,
        "cost" => Kind::Amount,
        "truncated" => Kind::Flag,
        "seq" | "turn" | "duration_ms" | "exit_code" => Kind::Number,
        _ if name.ends_with("_bytes") || name.ends_with("_tokens") => Kind::Number,
        _ => Kind::Text,
    }
}

/// The columns of calls.
pub(super) fn call_schema() -> Schema {
    let field = |name: &str| {
        let data_type = match kind(name) {
            Kind::Text => DataType::Utf8,
            Kind::Time => utc_micros(),
            Kind::Number => DataType::Int64,
            Kind::Amount => DataType::Float64,
            Kind::Flag => DataType::Boolean,
        };
        Field::new(name, data_type, true)
    };
    Schema::new(CallRow::COLUMNS.into_iter().map(field).collect::<Vec<_>>())
}

/// A row that waits to be written.
#[derive(Debug)]
pub(super) struct KeptCall(Vec<KeptCell>);

#[derive(Debug)]
enum KeptCell {
    Empty,
    Text(String),
    Number(i64),
    Amount(f64),
    Flag(bool),
}

impl KeptCall {
    pub(super) fn of(row: &CallRow<'_>) -> Self {
        let keep = |cell: Cell<'_>| match cell {
            Cell::Empty => KeptCell::Empty,
            Cell::Text(text) => KeptCell::Text(text.to_owned()),
            Cell::Time(at) => KeptCell::Number(at.as_millis().saturating_mul(1_000)),
            Cell::Count(count) => KeptCell::Number(i64::try_from(count).unwrap_or(i64::MAX)),
            Cell::Whole(number) => KeptCell::Number(number),
            Cell::Amount(amount) => KeptCell::Amount(amount),
            Cell::Flag(flag) => KeptCell::Flag(flag),
        };
        Self(row.cells().into_iter().map(keep).collect())
    }

    /// The approximate size.
    pub(super) fn bytes(&self) -> usize {
        let text = |cell: &KeptCell| match cell {
            KeptCell::Text(text) => text.len(),
            _ => 8,
        };
        self.0.iter().map(text).sum()
    }
}

/// The rows as columns.
pub(super) fn call_batch(rows: &[KeptCall]) -> Result<RecordBatch, ArrowError> {
    let column = |(index, name): (usize, &str)| -> ArrayRef {
        let cells = rows.iter().map(|row| row.0.get(index));
        let number = |cell: Option<&KeptCell>| match cell {
            Some(KeptCell::Number(number)) => Some(*number),
            _ => None,
        };
        match kind(name) {
            Kind::Text => {
                let texts = cells.map(|cell| match cell {
                    Some(KeptCell::Text(text)) => Some(text.as_str()),
                    _ => None,
                });
                Arc::new(texts.collect::<StringArray>())
            }
            Kind::Time => {
                let times = cells.map(number).collect::<TimestampMicrosecondArray>();
                Arc::new(times.with_timezone("UTC"))
            }
            Kind::Number => Arc::new(cells.map(number).collect::<Int64Array>()),
            Kind::Amount => {
                let amounts = cells.map(|cell| match cell {
                    Some(KeptCell::Amount(amount)) => Some(*amount),
                    _ => None,
                });
                Arc::new(amounts.collect::<Float64Array>())
            }
            Kind::Flag => {
                let flags = cells.map(|cell| match cell {
                    Some(KeptCell::Flag(flag)) => Some(*flag),
                    _ => None,
                });
                Arc::new(flags.collect::<BooleanArray>())
            }
        }
    };
    let columns = CallRow::COLUMNS.into_iter().enumerate().map(column).collect();
    RecordBatch::try_new(Arc::new(call_schema()), columns)
}
