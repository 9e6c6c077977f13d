//! The columns of events: plain types only, because every engine reads those.
//!
//! Payloads are JSON in a plain string column, without the logical type JSON,
//! which some engines refuse.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Int32Array, Int64Array, MapArray, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, TimeUnit};

use super::event_row::EventRow;

/// A cost has 18 digits, 9 of them decimals.
pub(super) const COST: DataType = DataType::Decimal128(18, 9);

/// The largest amount with 18 digits.
pub(super) const MOST_NANOS: i128 = 999_999_999_999_999_999;

/// The columns of events.
pub(super) fn event_schema() -> Schema {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let maybe = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::Int64, true);
    Schema::new(vec![
        Field::new("schema_version", DataType::Int32, false),
        text("trace_id"),
        text("session_id"),
        maybe("run_id"),
        text("event_id"),
        maybe("parent_id"),
        Field::new("seq", DataType::Int64, false),
        text("source"),
        maybe("agent"),
        maybe("agent_version"),
        maybe("host_id"),
        text("type"),
        Field::new("ts", utc_micros(), true),
        number("dur_us"),
        maybe("model"),
        maybe("provider"),
        maybe("tool"),
        maybe("call_id"),
        maybe("status"),
        maybe("error_kind"),
        number("input_tokens"),
        number("output_tokens"),
        number("cache_read_tokens"),
        number("cache_write_tokens"),
        number("reasoning_tokens"),
        Field::new("cost", COST, true),
        maybe("currency"),
        maybe("cost_origin"),
        Field::new("text_bytes", DataType::Int64, false),
        Field::new("redactions", DataType::Int32, false),
        maybe("subagent_of"),
        maybe("workspace"),
        text("data"),
        Field::new("labels", labels_type(), false),
        number("call_number"),
        Field::new("is_call", DataType::Boolean, true),
        number("exit_code"),
        Field::new("new_error", DataType::Boolean, true),
        number("segment"),
        Field::new("revision", DataType::Int32, true),
    ])
}

/// Microseconds since 1970, in UTC.
pub(super) fn utc_micros() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

pub(super) fn labels_type() -> DataType {
    let fields = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let entries = Field::new("key_value", DataType::Struct(fields), false);
    DataType::Map(Arc::new(entries), false)
}

/// The rows as columns.
pub(super) fn event_batch(rows: &[EventRow]) -> Result<RecordBatch, ArrowError> {
    let texts = |of: fn(&EventRow) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let maybe = |of: fn(&EventRow) -> Option<&str>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let numbers = |of: fn(&EventRow) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Int64Array>())
    };
    let small = |of: fn(&EventRow) -> i32| -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(rows.iter().map(of)))
    };
    let times = rows.iter().map(|row| row.at.map(|at| at.as_millis().saturating_mul(1_000)));
    let times = times.collect::<TimestampMicrosecondArray>().with_timezone("UTC");
    let costs = rows.iter().map(|row| row.cost_nanos.filter(|nanos| *nanos <= MOST_NANOS));
    let costs = costs.collect::<Decimal128Array>().with_data_type(COST);
    let columns: Vec<ArrayRef> = vec![
        small(|row| row.schema_version),
        texts(|row| &row.trace_id),
        texts(|row| &row.session_id),
        maybe(|row| row.run_id.as_deref()),
        texts(|row| &row.event_id),
        maybe(|row| row.parent_id.as_deref()),
        numbers(|row| Some(row.seq)),
        texts(|row| row.source),
        maybe(|row| row.agent.as_deref()),
        maybe(|row| row.agent_version.as_deref()),
        maybe(|row| row.host_id.as_deref()),
        texts(|row| &row.kind),
        Arc::new(times),
        numbers(|row| row.duration_micros),
        maybe(|row| row.model.as_deref()),
        maybe(|row| row.provider.as_deref()),
        maybe(|row| row.tool.as_deref()),
        maybe(|row| row.call_id.as_deref()),
        maybe(|row| row.status.as_deref()),
        maybe(|row| row.error_kind.as_deref()),
        numbers(|row| row.input_tokens),
        numbers(|row| row.output_tokens),
        numbers(|row| row.cache_read_tokens),
        numbers(|row| row.cache_write_tokens),
        numbers(|row| row.reasoning_tokens),
        Arc::new(costs),
        maybe(|row| row.currency.as_deref()),
        maybe(|row| row.cost_origin),
        numbers(|row| Some(row.text_bytes)),
        small(|row| row.redactions),
        maybe(|row| row.subagent_of.as_deref()),
        maybe(|row| row.workspace.as_deref()),
        texts(|row| &row.data),
        Arc::new(labels(rows.iter().map(|row| &row.labels))?),
        numbers(|row| row.call_number),
        Arc::new(rows.iter().map(|row| row.is_call).collect::<BooleanArray>()),
        numbers(|row| row.exit_code),
        Arc::new(rows.iter().map(|row| row.is_new_error).collect::<BooleanArray>()),
        numbers(|row| row.segment),
        Arc::new(rows.iter().map(|row| row.revision).collect::<Int32Array>()),
    ];
    RecordBatch::try_new(Arc::new(event_schema()), columns)
}

/// The labels of each row as a map.
pub(super) fn labels<'r>(
    rows: impl Iterator<Item = &'r BTreeMap<String, String>>,
) -> Result<MapArray, ArrowError> {
    let names = MapFieldNames {
        entry: "key_value".to_owned(),
        key: "key".to_owned(),
        value: "value".to_owned(),
    };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    for row in rows {
        for (key, value) in row {
            builder.keys().append_value(key);
            builder.values().append_value(value);
        }
        builder.append(true)?;
    }
    Ok(builder.finish())
}
