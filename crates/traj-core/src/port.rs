//! The traits through which the core reaches the outside world, one per file.
//!
//! | port | who calls it | who implements it |
//! |---|---|---|
//! | [`Sources`] | export, verify, care | `traj-fs`, `memory` |
//! | [`Tables`] | gathering the rows of a session | `traj-fs`, `memory` |
//! | [`BundleSink`] | export | `traj-fs`, `memory` |
//! | [`Scratch`] | export, repair | `traj-fs`, `memory` |
//! | [`BundleSource`] | verify, inspect | `traj-fs`, `memory` |
//! | [`SessionRewriter`] | care | `traj-fs`, `memory` |
//! | [`DatasetStore`] | shipping, views | `traj-fs`, `traj-lake`, `memory` |
//! | [`LineLog`] | care: the queue and the journal of trims; shipping | `traj-fs`, `memory` |
//! | [`RunningProcesses`] | shipping | `traj-fs`, `memory` |
//! | [`BlobFolder`] | care | `traj-fs`, `memory` |
//! | [`BindingStore`] | thread lifecycle | `traj-fs`, `memory` |
//! | [`ThreadService`], [`TurnService`] | thread lifecycle, conversations | `codex-binding`, `memory` |
//! | [`RequestHandler`], [`NodeSessions`] | conversations | the host |
//! | [`TrajectoryStore`], [`SidecarWriter`] | the recorder | `traj-fs`, `memory` |
//! | [`TurnLeases`] | `traj codex`, hosts | `traj-fs`, `memory` |
//! | [`TraceReceiver`] | sending traces | `traj-send`, `memory` |
//! | [`Clock`] | the recorder, the CLI | `traj-fs`, `memory` |
//! | [`EventSink`] | conversations | `traj-fs`, `memory` |

mod app_server;
mod binding_store;
mod blob_folder;
mod bundle_names;
mod bundle_sink;
mod bundle_source;
mod clock;
mod dataset_store;
mod event_sink;
mod line_log;
mod request_handler;
mod running_processes;
mod session_rewriter;
mod source;
mod stated_sizes;
mod tables;
mod trace_receiver;
mod trajectory_store;
mod turn_leases;

pub use crate::redaction::scratch::{Scratch, ScratchError};
pub use app_server::{
    AppServer, AppServerError, ApprovalDecision, CloseCause, HostAnswer, HostReply, ItemDetail,
    ListenGuard, OpenedThread, RequestKind, ResumeThread, ServerRequest, StartThread, StartTurn,
    ThreadEvent, ThreadItem, ThreadListener, ThreadService, ThreadSettings, ThreadSummary,
    TokenUsage, ToolContent, ToolOutcome, TurnService, TurnStatus,
};
pub use binding_store::{
    BindingKey, BindingKeyError, BindingStore, BindingStoreError, LoadedBinding, Revision,
};
pub use blob_folder::{BlobFolder, BlobFolderError};
pub use bundle_names::BundleNames;
pub use bundle_sink::{
    BundleFile, BundleFileWriter, BundleSink, BundleSinkError, BundleWriter, NameTaken,
};
pub use bundle_source::{BundleContent, BundleSource, BundleSourceError, BundleVisitor};
pub use clock::Clock;
pub use dataset_store::{
    DatasetFile, DatasetKey, DatasetKeyError, DatasetStore, DatasetStoreError, Stored,
};
pub use event_sink::{EventSink, NoEvents};
pub use line_log::{LineLog, LineLogError};
pub use request_handler::{DenyAll, NodeSessions, NodeTurn, NodeTurnError, RequestHandler};
pub use running_processes::RunningProcesses;
pub use session_rewriter::{
    LineEdit, LineVerdict, RewriteError, RewriteMode, RewriteReport, SessionRewriter,
};
pub use source::{Source, SourceError, Sources};
pub use stated_sizes::StatedSizes;
pub use tables::{Cell, Scan, Tables, TablesError, VisitRow};
pub use trace_receiver::{TraceAnswer, TraceReceiver, TraceReceiverError};
pub use trajectory_store::{
    Appended, Exposure, MAX_SEQUENCE, Room, SidecarError, SidecarOptions, SidecarWriter,
    TrajectoryStore, is_credible_sequence, source_sequence_of,
};
pub use turn_leases::{TurnLease, TurnLeaseError, TurnLeases};
