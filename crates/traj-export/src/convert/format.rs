//! The formats, and the converter of each.

use std::io;

use traj_core::port::Scratch;

use super::{ConvertOptions, Converter, Output, atif, csv, jsonl, perfetto};

/// A format that a run can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvertFormat {
    /// Comma-separated values, for spreadsheets.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// The Agent Trajectory Interchange Format.
    Atif,
    /// A Chrome trace, for the Perfetto UI and speedscope.
    Perfetto,
    /// Columns, for data frames and SQL engines.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// What a row of a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvertTable {
    /// A tool call.
    #[default]
    Calls,
    /// An event.
    Events,
}

impl ConvertFormat {
    /// Every format that this build can write.
    pub const ALL: &[Self] = &[
        Self::Csv,
        Self::Jsonl,
        Self::Atif,
        Self::Perfetto,
        #[cfg(feature = "parquet")]
        Self::Parquet,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Atif => "atif",
            Self::Perfetto => "perfetto",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// The usual ending of file names.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Atif => "atif.json",
            Self::Perfetto => "trace.json",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// The table that is usually wanted.
    #[must_use]
    pub const fn usual_table(self) -> ConvertTable {
        match self {
            Self::Csv | Self::Jsonl | Self::Atif | Self::Perfetto => ConvertTable::Calls,
            #[cfg(feature = "parquet")]
            Self::Parquet => ConvertTable::Events,
        }
    }

    /// Whether it can hold this table.
    #[must_use]
    pub const fn holds(self, table: ConvertTable) -> bool {
        match self {
            Self::Csv | Self::Jsonl | Self::Atif | Self::Perfetto => {
                matches!(table, ConvertTable::Calls)
            }
            #[cfg(feature = "parquet")]
            Self::Parquet => true,
        }
    }

    /// Whether an output holds one run only.
    #[must_use]
    pub const fn holds_one_run(self) -> bool {
        match self {
            Self::Atif => true,
            Self::Csv | Self::Jsonl | Self::Perfetto => false,
            #[cfg(feature = "parquet")]
            Self::Parquet => false,
        }
    }
}

/// The converter of a format.
pub(super) fn converter<'w>(
    options: &ConvertOptions,
    scratch: Box<dyn Scratch>,
    out: Output<'w>,
) -> io::Result<Box<dyn Converter + 'w>> {
    Ok(match options.format {
        ConvertFormat::Csv => Box::new(csv::CsvCalls::new(out)?),
        ConvertFormat::Atif => Box::new(atif::Atif::new(out, scratch)),
        ConvertFormat::Perfetto => Box::new(perfetto::Perfetto::new(out)?),
        ConvertFormat::Jsonl => Box::new(jsonl::JsonlCalls::new(out)),
        #[cfg(feature = "parquet")]
        ConvertFormat::Parquet if options.table == ConvertTable::Calls => {
            Box::new(super::parquet::ParquetCalls::new(out)?)
        }
        #[cfg(feature = "parquet")]
        ConvertFormat::Parquet => Box::new(super::parquet::ParquetEvents::new(out)?),
    })
}
