//! The filesystem side of traj: capability-scoped, crash-safe storage and the
//! recorder that writes to it.
//!
//! Every type here works inside a [`cap_std::fs::Dir`] that it is given; none
//! sees a path. Files that belong to us are regular, have one name, are 0600
//! and are never reached through a link; what is not so is refused with a
//! [`FsError`] that says why.
//!
//! # What is atomic, what is durable
//!
//! - A batch of lines is in the sidecar as a whole or not at all, whatever
//!   other processes append; a crash in the middle leaves at most one torn
//!   line, which the next writer closes off.
//! - A file that is replaced (pointer, blob, binding, rewritten session) is
//!   the old one or the new one at any moment, and the new one is on the disk
//!   before the call returns.
//! - Lines are on the disk when [`Recorder::flush`] says so; the setting
//!   `Durability` makes that every batch, or leaves it to the system.
//!
//! # Recording
//!
//! ```
//! use std::sync::Arc;
//! use traj_core::event::{RunContext, SessionStarted};
//! use traj_core::id::SessionId;
//! use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
//! use traj_core::settings::Settings;
//! use traj_fs::{FsTrajectoryStore, Recorder, SystemClock};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let folder = cap_std::fs::Dir::open_ambient_dir(temporary.path(), cap_std::ambient_authority())?;
//! let store = FsTrajectoryStore::beside(folder, "/sessions", "chat.jsonl")?;
//! let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
//! let context = RunContext::new(SessionId::parse("chat")?);
//! let clock = Arc::new(SystemClock::new());
//! let recorder = Recorder::start(Arc::new(store), clock, redactor, context, &Settings::standard());
//!
//! recorder.record(SessionStarted::default().event());
//! assert!(recorder.flush().is_complete());
//! assert_eq!(recorder.stats().written_events, 1);
//! # Ok(())
//! # }
//! ```
//!
//! The feature `tokio` adds a flush that async hosts can await.

mod binding_store;
mod blob_folder;
mod bundle_sink;
mod bundle_source;
mod error;
mod folder;
mod folder_watch;
mod followed_file;
mod key_file;
mod line_log;
mod lock;
mod made_folders;
mod new_file;
mod open;
mod position;
mod process_table;
mod read_lines;
mod recorder;
mod remains;
mod removal;
mod replace;
mod scratch;
mod session_rewriter;
mod sidecar;
mod source;
mod stop_flag;
mod system_clock;
mod temporary_folder;
mod temporary_name;
mod trajectory_store;

pub use binding_store::{BINDING_SUFFIX, FsBindingStore};
pub use blob_folder::FsBlobFolder;
pub use bundle_sink::{BundleForm, FsBundleSink, is_bundle};
pub use bundle_source::FsBundleSource;
pub use error::{FsError, Refusal};
pub use folder::{
    create_folder, create_subfolder, open_folder, open_folder_below_links, open_subfolder,
};
pub use folder_watch::FolderWatch;
pub use followed_file::FollowedFile;
pub use key_file::{KeyFileError, load_or_create_key};
pub use line_log::FsLineLog;
pub use new_file::NewFile;
pub use open::{Access, Identity, identity_of, open_regular};
pub use process_table::ProcessTable;
pub use read_lines::for_each_line;
pub use recorder::{Dropped, FlushReport, Recorder, RecorderStats};
pub use remains::{FsRemains, Remains};
pub use replace::replace_file;
pub use scratch::FsScratch;
pub use session_rewriter::FsSessionRewriter;
pub use source::FsSources;
pub use stop_flag::StopFlag;
pub use system_clock::SystemClock;
pub use temporary_folder::TemporaryFolder;
pub use trajectory_store::FsTrajectoryStore;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
