//! The columns of sessions.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use traj_core::timestamp::UnixMillis;

use super::event_columns::{COST, MOST_NANOS, labels, labels_type, utc_micros};
use super::session_row::SessionRow;
use super::table::{ParquetError, ParquetSummary, Table};

/// The columns of sessions.
fn session_schema() -> Schema {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let maybe = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::Int64, false);
    let maybe_number = |name: &str| Field::new(name, DataType::Int64, true);
    let time = |name: &str| Field::new(name, utc_micros(), true);
    Schema::new(vec![
        Field::new("schema_version", DataType::Int32, false),
        text("trace_id"),
        text("session_id"),
        maybe("agent"),
        maybe("agent_version"),
        maybe("host_id"),
        number("first_seq"),
        number("last_seq"),
        maybe("status"),
        time("started_at"),
        time("ended_at"),
        number("events"),
        number("turns"),
        number("calls"),
        number("call_errors"),
        number("calls_timed_out"),
        number("calls_declined"),
        number("calls_interrupted"),
        number("calls_unanswered"),
        number("calls_dur_us"),
        maybe("model"),
        text("models"),
        number("model_calls"),
        number("input_tokens"),
        number("output_tokens"),
        number("cache_read_tokens"),
        number("cache_write_tokens"),
        number("reasoning_tokens"),
        Field::new("cost", COST, true),
        maybe("currency"),
        maybe("cost_origin"),
        number("errors"),
        maybe_number("first_failure_seq"),
        time("first_failure_at"),
        maybe("first_failure_tool"),
        maybe("first_failure_outcome"),
        maybe_number("first_failure_exit_code"),
        number("compactions"),
        number("approvals_asked"),
        number("approvals_denied"),
        number("subagents"),
        maybe_number("context_peak_tokens"),
        number("lost_events"),
        maybe("workspace"),
        Field::new("labels", labels_type(), false),
        Field::new("revision", DataType::Int32, true),
    ])
}

pub(super) fn session_batch(rows: &[SessionRow]) -> Result<RecordBatch, ArrowError> {
    let texts = |of: fn(&SessionRow) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let maybe = |of: fn(&SessionRow) -> Option<&str>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let numbers = |of: fn(&SessionRow) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(of)))
    };
    let maybe_numbers = |of: fn(&SessionRow) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Int64Array>())
    };
    let times = |of: fn(&SessionRow) -> Option<UnixMillis>| -> ArrayRef {
        let micros = rows.iter().map(|row| of(row).map(|at| at.as_millis().saturating_mul(1_000)));
        Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
    };
    let costs = rows.iter().map(|row| row.cost_nanos.filter(|nanos| *nanos <= MOST_NANOS));
    let costs = costs.collect::<Decimal128Array>().with_data_type(COST);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.schema_version))),
        texts(|row| &row.trace_id),
        texts(|row| &row.session_id),
        maybe(|row| row.agent.as_deref()),
        maybe(|row| row.agent_version.as_deref()),
        maybe(|row| row.host_id.as_deref()),
        numbers(|row| row.first_seq),
        numbers(|row| row.last_seq),
        maybe(|row| row.status.as_deref()),
        times(|row| row.started_at),
        times(|row| row.ended_at),
        numbers(|row| row.events),
        numbers(|row| row.turns),
        numbers(|row| row.calls),
        numbers(|row| row.call_errors),
        numbers(|row| row.calls_timed_out),
        numbers(|row| row.calls_declined),
        numbers(|row| row.calls_interrupted),
        numbers(|row| row.calls_unanswered),
        numbers(|row| row.calls_duration_micros),
        maybe(|row| row.model.as_deref()),
        texts(|row| &row.models),
        numbers(|row| row.model_calls),
        numbers(|row| row.input_tokens),
        numbers(|row| row.output_tokens),
        numbers(|row| row.cache_read_tokens),
        numbers(|row| row.cache_write_tokens),
        numbers(|row| row.reasoning_tokens),
        Arc::new(costs),
        maybe(|row| row.currency.as_deref()),
        maybe(|row| row.cost_origin),
        numbers(|row| row.errors),
        maybe_numbers(|row| row.first_failure_seq),
        times(|row| row.first_failure_at),
        maybe(|row| row.first_failure_tool.as_deref()),
        maybe(|row| row.first_failure_outcome),
        maybe_numbers(|row| row.first_failure_exit_code),
        numbers(|row| row.compactions),
        numbers(|row| row.approvals_asked),
        numbers(|row| row.approvals_denied),
        numbers(|row| row.subagents),
        maybe_numbers(|row| row.context_peak_tokens),
        numbers(|row| row.lost_events),
        maybe(|row| row.workspace.as_deref()),
        Arc::new(labels(rows.iter().map(|row| &row.labels))?),
        Arc::new(rows.iter().map(|row| row.revision).collect::<Int32Array>()),
    ];
    RecordBatch::try_new(Arc::new(session_schema()), columns)
}

/// A Parquet file of sessions. The same rows give the same bytes.
pub struct SessionTable<W: Write + Send> {
    table: Table<W>,
}

impl<W: Write + Send> std::fmt::Debug for SessionTable<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SessionTable").finish_non_exhaustive()
    }
}

impl<W: Write + Send> SessionTable<W> {
    /// A file with these pairs in its metadata.
    ///
    /// # Errors
    /// If the beginning cannot be written.
    pub fn new(out: W, metadata: &[(&str, &str)]) -> Result<Self, ParquetError> {
        let filtered = ["trace_id", "session_id"];
        Ok(Self {
            table: Table::new(out, session_schema(), &filtered, &["models"], &[], metadata)?,
        })
    }

    /// The columns.
    #[must_use]
    pub fn schema() -> Schema {
        session_schema()
    }

    /// Adds rows.
    ///
    /// # Errors
    /// If writing fails.
    pub fn push(&mut self, rows: &[SessionRow]) -> Result<(), ParquetError> {
        let bytes = rows.iter().map(SessionRow::bytes).sum();
        self.table.write(&session_batch(rows)?, bytes)
    }

    /// Ends the file and flushes the output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> Result<ParquetSummary, ParquetError> {
        self.table.finish()
    }
}
