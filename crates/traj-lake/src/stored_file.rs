//! The metadata of a stored file.

use std::collections::HashMap;

use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};

/// The pairs in the metadata of a file.
pub(crate) mod pair {
    pub(crate) const LAYOUT: &str = "traj.layout";
    pub(crate) const TRACE_ID: &str = "traj.trace_id";
    pub(crate) const FIRST: &str = "traj.first_seq";
    pub(crate) const LAST: &str = "traj.last_seq";
    pub(crate) const REVISION: &str = "traj.revision";
    pub(crate) const ROWS: &str = "traj.rows";
    pub(crate) const DIGEST: &str = "traj.digest";
}

/// The version of the layout.
pub(crate) const LAYOUT_VERSION: &str = "1";

/// A file is not one of ours, or is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a file is damaged: {what}")]
#[non_exhaustive]
pub struct DamagedFile {
    /// What is wrong with it.
    pub what: &'static str,
}

const NOT_PARQUET: DamagedFile = DamagedFile { what: "it is not a Parquet file" };

/// What the metadata of a segment's file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFacts {
    pub(crate) trace_id: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) revision: u32,
    /// The digest of the rows of this file.
    pub(crate) rows: String,
    /// The digest of the rows of both files.
    pub(crate) digest: String,
}

impl SegmentFacts {
    /// Reads the end of a file.
    pub(crate) fn of(content: &Bytes) -> Result<Self, DamagedFile> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(content);
        Self::stated(&metadata.map_err(|_| NOT_PARQUET)?)
    }

    /// Opens a file to read its rows.
    pub(crate) fn open(content: Bytes) -> Result<(Self, ParquetRecordBatchReader), DamagedFile> {
        let opened = open(content)?;
        let facts = Self::stated(opened.metadata())?;
        Ok((facts, opened.build().map_err(|_| NOT_PARQUET)?))
    }

    /// Opens a compacted file, which has no metadata.
    pub(crate) fn open_compacted(content: Bytes) -> Result<ParquetRecordBatchReader, DamagedFile> {
        open(content)?.build().map_err(|_| NOT_PARQUET)
    }

    fn stated(metadata: &ParquetMetaData) -> Result<Self, DamagedFile> {
        let pairs = metadata.file_metadata().key_value_metadata();
        let pairs: HashMap<&str, &str> = pairs
            .into_iter()
            .flatten()
            .filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)))
            .collect();
        let text = |name: &str| pairs.get(name).map(|text| (*text).to_owned());
        let number = |name: &str| pairs.get(name)?.parse::<u64>().ok();
        if pairs.get(pair::LAYOUT) != Some(&LAYOUT_VERSION) {
            return Err(DamagedFile { what: "it does not state the version of its layout" });
        }
        let facts = (|| {
            Some(Self {
                trace_id: text(pair::TRACE_ID)?,
                first: number(pair::FIRST)?,
                last: number(pair::LAST)?,
                revision: u32::try_from(number(pair::REVISION)?).ok()?,
                rows: text(pair::ROWS)?,
                digest: text(pair::DIGEST)?,
            })
        })();
        facts.ok_or(DamagedFile { what: "it does not state its segment" })
    }
}

/// Opens a file whose columns are where it states them. The reader relies on
/// that, and panics otherwise.
pub(crate) fn open(content: Bytes) -> Result<ParquetRecordBatchReaderBuilder<Bytes>, DamagedFile> {
    let length = i64::try_from(content.len()).unwrap_or(i64::MAX);
    let opened = ParquetRecordBatchReaderBuilder::try_new(content).map_err(|_| NOT_PARQUET)?;
    let is_inside = |column: &ColumnChunkMetaData| {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let sizes = [start, column.data_page_offset(), column.compressed_size()];
        let end = start.checked_add(column.compressed_size());
        sizes.iter().all(|size| *size >= 0) && end.is_some_and(|end| end <= length)
    };
    let groups = opened.metadata().row_groups();
    let fits =
        groups.iter().all(|group| group.num_rows() >= 0 && group.columns().iter().all(is_inside));
    if fits { Ok(opened) } else { Err(DamagedFile { what: "its columns are not where it states" }) }
}
