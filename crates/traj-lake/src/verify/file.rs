//! Checks one file.

use std::collections::BTreeSet;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use traj_core::capture::BlobDigest;
use traj_core::json::Json;
use traj_core::redaction::Redactor;
use traj_core::timestamp::UnixMillis;
use traj_export::{RowsDigest, long_texts_in};

use super::DatasetFinding;
use super::coverage::{FoundRows, SegmentId};
use crate::layout::{Day, SegmentFolder, SegmentKey, Table};
use crate::ship::digest_of;
use crate::stored_file::{DamagedFile, SegmentFacts};

/// The column with payloads, as JSON.
const DATA: &str = "data";

/// A file that is unchanged.
#[derive(Debug, Default)]
pub(super) struct CheckedFile {
    pub(super) rows: Vec<FoundRows>,
    pub(super) findings: Vec<DatasetFinding>,
    /// The long texts that its rows name.
    pub(super) texts: BTreeSet<BlobDigest>,
}

impl CheckedFile {
    /// Reads a file. A file without the name of a segment was written by a
    /// compaction and has no metadata.
    pub(super) fn read(
        name: &str,
        table: Table,
        key: Option<&SegmentKey>,
        content: Bytes,
        redactor: &Redactor,
    ) -> Result<Self, DamagedFile> {
        let damaged = |what| DamagedFile { what };
        let (facts, batches) = match key {
            Some(_) => {
                let (facts, batches) = SegmentFacts::open(content)?;
                (Some(facts), batches)
            }
            None => (None, SegmentFacts::open_compacted(content)?),
        };
        if let (Some(key), Some(facts)) = (key, &facts) {
            check_name(key, facts)?;
        }
        let mut digest = RowsDigest::default();
        let mut checked = Self::default();
        let mut is_first = true;
        for batch in batches {
            let batch = batch.map_err(|_| damaged("its rows cannot be read"))?;
            digest.add(&batch).map_err(|_| damaged("it has columns of other types"))?;
            let columns = Columns::of(&batch, table)?;
            if let Some(key) = key.filter(|_| std::mem::take(&mut is_first)) {
                columns.check_place(key)?;
            }
            columns.add_rows(&mut checked.rows);
            scan(name, &batch, redactor, &mut checked.findings);
            checked.texts.extend(texts_in(&batch));
        }
        if let Some(facts) = facts {
            // Batches without rows are not passed on.
            let is_empty = checked.rows.is_empty();
            let stated = digest.finish();
            if !is_empty && stated != facts.rows {
                return Err(damaged("its rows are not those that it states"));
            }
            for rows in &mut checked.rows {
                rows.digests = Some([facts.rows.clone(), facts.digest.clone()]);
                rows.key = key.cloned();
            }
        }
        Ok(checked)
    }
}

/// Whether two files of a segment belong together.
pub(super) fn belong_together(events: &[String; 2], sessions: &[String; 2]) -> bool {
    let [events_rows, events_digest] = events;
    let [sessions_rows, sessions_digest] = sessions;
    events_digest == sessions_digest && *events_digest == digest_of(events_rows, sessions_rows)
}

fn check_name(key: &SegmentKey, facts: &SegmentFacts) -> Result<(), DamagedFile> {
    let name = &key.name;
    let fits = facts.trace_id.starts_with(&name.session)
        && (facts.first, facts.revision) == (name.first, name.revision)
        && facts.last + 1 >= facts.first;
    if fits { Ok(()) } else { Err(DamagedFile { what: "it has the name of another segment" }) }
}

/// The columns that say where a row belongs.
struct Columns<'b> {
    batch: &'b RecordBatch,
    table: Table,
}

impl<'b> Columns<'b> {
    fn of(batch: &'b RecordBatch, table: Table) -> Result<Self, DamagedFile> {
        let numbers: &[&str] = match table {
            Table::Events => &["seq", "segment"],
            Table::Sessions => &["first_seq", "last_seq", "events"],
        };
        let has = |name: &str, wanted: &DataType| {
            batch.column_by_name(name).is_some_and(|column| column.data_type() == wanted)
        };
        let fits = numbers.iter().all(|name| has(name, &DataType::Int64))
            && has("revision", &DataType::Int32)
            && ["host_id", "session_id", "trace_id"].iter().all(|name| has(name, &DataType::Utf8));
        let what = "it does not have the columns of its table";
        if fits { Ok(Self { batch, table }) } else { Err(DamagedFile { what }) }
    }

    fn text(&self, name: &str, row: usize) -> Option<&'b str> {
        let column = self.batch.column_by_name(name)?.as_string_opt::<i32>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    fn number(&self, name: &str, row: usize) -> u64 {
        let column = self.batch.column_by_name(name);
        let column = column.and_then(|column| column.as_primitive_opt::<Int64Type>());
        let value = column.filter(|column| column.is_valid(row)).map(|column| column.value(row));
        value.and_then(|value| u64::try_from(value).ok()).unwrap_or_default()
    }

    fn revision(&self, row: usize) -> u32 {
        let column = self.batch.column_by_name("revision");
        let column = column.and_then(|column| column.as_primitive_opt::<Int32Type>());
        let value = column.filter(|column| column.is_valid(row)).map(|column| column.value(row));
        value.and_then(|value| u32::try_from(value).ok()).unwrap_or_default()
    }

    /// Adds rows that follow each other as one.
    fn add_rows(&self, found: &mut Vec<FoundRows>) {
        for row in 0..self.batch.num_rows() {
            let first = match self.table {
                Table::Events => self.number("segment", row),
                Table::Sessions => self.number("first_seq", row),
            };
            let segment = SegmentId {
                host: self.text("host_id", row).unwrap_or_default().to_owned(),
                session: self.text("trace_id", row).unwrap_or_default().to_owned(),
                first,
                revision: self.revision(row),
            };
            if let Some(last) = found.last_mut().filter(|last| last.segment == segment) {
                last.count += 1;
                continue;
            }
            found.push(FoundRows {
                table: self.table,
                last: self.number("last_seq", row),
                total: self.number("events", row),
                count: 1,
                segment,
                digests: None,
                key: None,
            });
        }
    }

    /// Checks that the first row belongs in this directory. All revisions are
    /// in the directory of the first one.
    fn check_place(&self, key: &SegmentKey) -> Result<(), DamagedFile> {
        let host = self.text("host_id", 0).unwrap_or_default();
        let is_of_host = host.starts_with(&key.name.host);
        let times = self.batch.column_by_name("ts");
        let times = times.and_then(|column| column.as_primitive_opt::<TimestampMicrosecondType>());
        let at = times.filter(|times| times.is_valid(0)).map(|times| times.value(0));
        let day = at.map(|micros| Day::of(UnixMillis::new(micros.div_euclid(1_000))));
        let agent = SegmentFolder::new(key.day, self.text("agent", 0));
        let is_placed = key.name.revision > 1
            || (day.is_none_or(|day| day == key.day) && agent == SegmentFolder::of(key));
        if is_of_host && is_placed {
            return Ok(());
        }
        Err(DamagedFile { what: "it is in the directory of another day or program" })
    }
}

/// The long texts that rows name.
fn texts_in(batch: &RecordBatch) -> BTreeSet<BlobDigest> {
    let column = batch.column_by_name(DATA).and_then(|column| column.as_string_opt::<i32>());
    let payloads = column.into_iter().flatten().flatten();
    payloads.flat_map(long_texts_in).collect()
}

/// Scans all texts with the current rules.
fn scan(name: &str, batch: &RecordBatch, redactor: &Redactor, found: &mut Vec<DatasetFinding>) {
    let seqs = batch.column_by_name("seq");
    let seqs = seqs.and_then(|column| column.as_primitive_opt::<Int64Type>());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let Some(texts) = column.as_string_opt::<i32>() else { continue };
        let mut before = None;
        for row in 0..texts.len() {
            // Most columns repeat the text of the row before.
            let text = Some(texts.value(row)).filter(|_| texts.is_valid(row));
            let Some(text) = text.filter(|_| text != before) else { continue };
            before = Some(text);
            let findings = match Json::parse(text) {
                Ok(value) if field.name() == DATA => redactor.scan_json(&value),
                _ => redactor.scan_text(text),
            };
            let seq = seqs.and_then(|seqs| u64::try_from(seqs.value(row)).ok());
            found.extend(findings.into_iter().map(|finding| DatasetFinding {
                file: name.to_owned(),
                seq,
                column: field.name().clone(),
                rule: finding.rule,
            }));
        }
    }
}
