//! Exports a session with its trajectory as a redacted, verifiable bundle of
//! any size. An export that fails leaves no bundle.
//!
//! [`export`] takes the ports and a request:
//!
//! ```
//! use traj_core::memory::{MemoryBundleSink, MemorySources};
//! use traj_core::port::BundleFile;
//! use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
//! use traj_core::timestamp::UnixMillis;
//! use traj_export::{ExportPorts, ExportRequest, Selection, Silent, export};
//!
//! let sources = MemorySources::new();
//! sources.put(
//!     "s1.jsonl",
//!     r#"{"type":"session","version":3,"id":"s1"}
//! {"type":"message","id":"a","parentId":null,"timestamp":1,"message":{"role":"user","content":"hi"}}
//! "#,
//! );
//! let sink = MemoryBundleSink::new();
//! let key = MarkerKey::from_random(getrandom::fill)?;
//! let redactor = Redactor::new(RedactionPolicy::standard(key));
//! let selection = Selection::file("s1.jsonl");
//! let request = ExportRequest::new(selection, "/work", UnixMillis::EPOCH, redactor);
//!
//! let ports = ExportPorts { sources: &sources, sink: &sink };
//! let report = export(ports, &request, &Silent)?;
//! assert_eq!(report.transcript_event_count, 1);
//! let bundle = sink.bundle(&report.name).expect("it was committed");
//! assert!(bundle[&BundleFile::Events].contains("user.message"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/in_memory.rs` continues from here: it checks the bundle with
//! [`verify`] and summarises it with [`inspect_checked`].
//!
//! Memory use does not grow with the length of strings. The inputs are indexed
//! once, as small records, and then read again in the order of the output.
//! Large indexes go to scratch files next to the bundle.
//!
//! The modules, in reading order:
//!
//! - `export`: the steps of an export, and what a caller passes and gets back;
//! - `error`, `warning`, `progress`: what goes wrong, and how far an export is;
//! - `index`: the first pass over the inputs;
//! - `bundle`: the files of a bundle, one builder each, and their schemas;
//! - `read_back`: reads finished files back and scans them;
//! - `verify`, `inspect`: check a bundle, summarise it and list its steps;
//! - `page`: a bundle as one HTML file, with the feature `page`;
//! - `convert`: a run in the formats that other tools read;
//! - `send`: when to retry a failed attempt, and traces, with the feature `otlp`;
//! - [`chat`]: exports requested in a chat;
//! - `json_stream`: JSON of any size in bounded memory;
//! - `parallel`: runs work on several cores, with ordered results.

mod bundle;
pub mod chat;
mod convert;
mod error;
mod export;
mod index;
mod inspect;
mod json_stream;
#[cfg(feature = "page")]
mod page;
mod parallel;
mod progress;
mod read_back;
mod send;
mod verify;
mod warning;

pub use bundle::schema::{
    ManifestContent, ManifestSource, ManifestSummary, RuleCount, SchemaName, SourceRole,
};
pub use convert::{
    Conversion, ConvertError, ConvertFormat, ConvertNotice, ConvertOptions, ConvertReport,
    ConvertTable,
};
#[cfg(feature = "parquet")]
pub use convert::{
    EventRow, EventRows, EventTable, LongTexts, NextEvent, ParquetError, ParquetSummary,
    RowVisitor, RowsDigest, SealedEvents, SessionRow, SessionTable, StatedTotals, agent_name,
    long_text_file, long_texts_in, read_event_rows, trace_id,
};
pub use error::{ExportError, RemainingSecret};
pub use export::{
    ExportLimits, ExportPorts, ExportReport, ExportRequest, Selection, SidecarHints, export,
};
pub use inspect::context_rows::bundle_context;
pub use inspect::run_events::{read_run, read_run_events};
pub use inspect::story::{
    Excerpt, ModelUse, ShownCall, StepNotes, Story, StoryDetail, StoryStep, TextAmount, What,
};
pub use inspect::{
    ApprovalSummary, CallSummary, ContextSummary, FailureSummary, InspectError, Summary,
    TimeSummary, TimelineRow, ToolSummary, UsageSummary, check_before_reading, cost_in_words,
    counted, duration_in_words, grouped, inspect, inspect_checked, usage_in_words,
};
#[cfg(feature = "page")]
pub use page::{
    PageBundle, PageError, PageFinding, PageOptions, PageReport, find_survivors, verify_page,
    write_page,
};
pub use progress::{Progress, Silent, Stage};
pub use send::{Attempts, GaveUp, Pace, RetryLimits, pause_after};
#[cfg(feature = "otlp")]
pub use send::{SendError, SendReport, TraceRequests, WaitingRequests, send_traces};
pub use verify::{BundleProblem, VerifyReport, verify};
pub use warning::{Warning, WarningSource};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
