//! The filesystem side of traj: capability-scoped, crash-safe storage and the
//! recorder that writes to it.
//!
//! Every type here works inside a [`cap_std::fs::Dir`] that it is given. Our
//! own files are regular, have one name and mode 0600, and are never opened
//! through a link. Anything else is refused with an [`FsError`] that says why.
//!
//! # What is atomic, what is durable
//!
//! - A batch of lines is in the sidecar as a whole or not at all, whatever
//!   other processes append. A crash in the middle leaves at most one torn
//!   line, which the next writer closes.
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
//! # Features
//!
//! All are off by default: a host that records needs none of them.
//!
//! - `archives`: bundles as zip and `tar.zst` files. Without it, bundles are
//!   directories, and the other forms do not exist.
//! - `tokio`: a flush that async hosts can await.
//! - `watch`: `FolderWatch`, which wakes a caller that follows a file.

mod binding_store;
mod bundle;
mod care;
mod error;
mod key_file;
mod read_lines;
mod recorder;
mod safe;
mod scratch;
mod session;
mod sidecar;
mod stop_flag;
mod system_clock;

pub use binding_store::{BINDING_SUFFIX, FsBindingStore};
pub use bundle::{BundleForm, FsBundleSink, FsBundleSource, is_bundle};
pub use care::{FsBlobFolder, FsLineLog, FsRemains, Remains};
pub use error::{FsError, Refusal};
pub use key_file::{KeyFileError, load_or_create_key};
pub use read_lines::for_each_line;
pub use recorder::{Dropped, FlushReport, Recorder, RecorderStats};
pub use safe::directory::{create_folder, create_subfolder, open_folder, open_subfolder};
pub use safe::open::open_file;
pub use safe::replace::write_private_file;
pub use safe::temporary_directory::TemporaryFolder;
pub use scratch::FsScratch;
#[cfg(feature = "watch")]
pub use session::FolderWatch;
pub use session::{FollowedFile, FsSessionRewriter, FsSources, ProcessTable};
pub use sidecar::FsTrajectoryStore;
pub use system_clock::SystemClock;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
