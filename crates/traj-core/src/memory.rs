//! Strict in-memory adapters for all ports but those that the host implements.

mod app_server;
mod binding_store;
mod blob_folder;
mod bundle_sink;
mod bundle_source;
mod clock;
mod dataset_store;
mod event_sink;
mod line_log;
mod running_processes;
mod scratch;
mod session_rewriter;
mod source;
mod tables;
mod trace_receiver;
mod trajectory_store;
mod turn_leases;

pub use app_server::{MemoryAppServer, MemoryCodexHome, MemoryFailure};
pub use binding_store::MemoryBindingStore;
pub use blob_folder::MemoryBlobs;
pub use bundle_sink::{MemoryBundle, MemoryBundleSink};
pub use bundle_source::MemoryBundleSource;
pub use clock::FixedClock;
pub use dataset_store::{DatasetCall, DatasetFault, FailingDataset, MemoryDataset};
pub use event_sink::MemoryEventSink;
pub use line_log::MemoryLog;
pub use running_processes::MemoryProcess;
pub use scratch::MemoryScratch;
pub use session_rewriter::{MemoryFiles, MemoryHandle, MemorySession};
pub use source::MemorySources;
pub use tables::MemoryTables;
pub use trace_receiver::MemoryTraceReceiver;
pub use trajectory_store::MemoryTrajectoryStore;
pub use turn_leases::MemoryTurnLeases;
