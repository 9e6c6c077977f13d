//! The formats, and the converter of each.

use std::io;

use traj_core::port::Scratch;

#[cfg(feature = "inspect-log")]
use super::inspect_log;
#[cfg(feature = "otlp")]
use super::otlp;
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
    /// OpenTelemetry traces, as protobuf.
    #[cfg(feature = "otlp")]
    Otlp,
    /// OpenTelemetry traces, one request in JSON per line.
    #[cfg(feature = "otlp")]
    OtlpJson,
    /// A log of Inspect.
    #[cfg(feature = "inspect-log")]
    Inspect,
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
        #[cfg(feature = "otlp")]
        Self::Otlp,
        #[cfg(feature = "otlp")]
        Self::OtlpJson,
        #[cfg(feature = "inspect-log")]
        Self::Inspect,
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
            #[cfg(feature = "otlp")]
            Self::Otlp => "otlp",
            #[cfg(feature = "otlp")]
            Self::OtlpJson => "otlp-json",
            #[cfg(feature = "inspect-log")]
            Self::Inspect => "inspect",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }

    /// The table that is usually wanted.
    #[must_use]
    pub const fn usual_table(self) -> ConvertTable {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => ConvertTable::Events,
            _ => ConvertTable::Calls,
        }
    }

    /// Whether it can hold this table.
    #[must_use]
    pub const fn holds(self, table: ConvertTable) -> bool {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => true,
            _ => matches!(table, ConvertTable::Calls),
        }
    }

    /// Whether it holds the outputs of tools, and not only their size.
    #[cfg_attr(
        not(any(feature = "otlp", feature = "parquet")),
        expect(unused_variables, reason = "only optional formats depend on it")
    )]
    pub(super) const fn holds_outputs(self, options: &ConvertOptions) -> bool {
        match self {
            Self::Csv | Self::Jsonl | Self::Perfetto => false,
            Self::Atif => true,
            #[cfg(feature = "otlp")]
            Self::Otlp | Self::OtlpJson => options.has_content,
            #[cfg(feature = "inspect-log")]
            Self::Inspect => true,
            #[cfg(feature = "parquet")]
            Self::Parquet => matches!(options.table, ConvertTable::Events),
        }
    }

    /// Whether an output holds one run only.
    #[must_use]
    pub const fn holds_one_run(self) -> bool {
        matches!(self, Self::Atif)
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
        #[cfg(feature = "otlp")]
        ConvertFormat::Otlp => {
            Box::new(otlp::Otlp::new(out, otlp::Encoding::Protobuf, options.has_content))
        }
        #[cfg(feature = "otlp")]
        ConvertFormat::OtlpJson => {
            Box::new(otlp::Otlp::new(out, otlp::Encoding::JsonLines, options.has_content))
        }
        #[cfg(feature = "inspect-log")]
        ConvertFormat::Inspect => Box::new(inspect_log::InspectLog::new(out, scratch)),
        ConvertFormat::Jsonl => Box::new(jsonl::JsonlCalls::new(out)),
        #[cfg(feature = "parquet")]
        ConvertFormat::Parquet if options.table == ConvertTable::Calls => {
            Box::new(super::parquet::ParquetCalls::new(out)?)
        }
        #[cfg(feature = "parquet")]
        ConvertFormat::Parquet => Box::new(super::parquet::ParquetEvents::new(out)?),
    })
}
