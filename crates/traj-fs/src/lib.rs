//! The filesystem side of traj: capability-scoped, crash-safe storage and the
//! recorder that writes to it.
//!
//! Every type that opens files works inside a [`cap_std::fs::Dir`] that it is
//! given. Our own files are regular, and have a single hard link and mode 0600.
//! Anything else in their place, such as a link, is refused with an [`FsError`]
//! that says why.
//!
//! # Atomicity and durability
//!
//! - A batch of lines is appended as a whole or not at all, and lines of other
//!   processes never mix with it. A crash in the middle can leave the start of
//!   a batch, with at most one torn line, which the next writer closes.
//! - A file that is replaced (pointer, blob, binding, rewritten session) is
//!   always the old one or the new one, and the new one is on the disk before
//!   the call returns.
//! - Lines are on the disk when [`Recorder::flush`] succeeds. The setting
//!   `Durability` can sync every batch instead, or leave syncing to the system.
//!
//! # Recording
//!
//! ```
//! use std::sync::Arc;
//! use traj_core::event::{RunContext, SessionStarted};
//! use traj_core::id::SessionId;
//! use traj_core::redaction::{RedactionPolicy, Redactor};
//! use traj_core::settings::Settings;
//! use traj_core::settings::host::HostFacts;
//! use traj_fs::cap_std::ambient_authority;
//! use traj_fs::cap_std::fs::Dir;
//! use traj_fs::{FsTrajectoryStore, Recorder, SystemClock, load_or_create_key};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let sessions = temporary.path();
//! let directory = Dir::open_ambient_dir(sessions, ambient_authority())?;
//! // A private file keeps the key: with it, equal secrets have equal markers across runs.
//! let key = load_or_create_key(&directory, "marker.key", || {
//!     let mut bytes = [0; 32];
//!     getrandom::fill(&mut bytes)?;
//!     Ok(bytes)
//! })?;
//! // The user's settings: `TRAJ_TRAJECTORY=0` turns recording off.
//! let facts = HostFacts::new(std::env::vars().collect(), sessions.to_string_lossy());
//! let settings = Settings::from_host(&facts);
//!
//! let store = FsTrajectoryStore::beside(directory, &facts.current_dir, "chat.jsonl")?;
//! let redactor = Redactor::new(RedactionPolicy::standard(key));
//! let context = RunContext::new(SessionId::parse("chat")?);
//! let clock = Arc::new(SystemClock::new());
//! let recorder = Recorder::start(Arc::new(store), clock, redactor, context, &settings);
//!
//! recorder.record(SessionStarted::default().event()); // returns at once, however slow the disk is
//! assert!(recorder.flush().is_complete());
//! # Ok(())
//! # }
//! ```
//!
//! # Files of a host
//!
//! A host that reads runs, or keeps its own files beside them, can open and write
//! them as this crate does: [`open_file`] and [`open_folder`] refuse links and
//! special files, [`for_each_line`] reads in bounded memory, [`write_private_file`]
//! replaces a file as a whole, and a [`TemporaryFolder`] leaves nothing behind.
//!
//! ```
//! use std::io::{self, BufReader};
//! use std::ops::ControlFlow;
//! use traj_core::dialect::Dialect;
//! use traj_core::json::{Json, lines::Line};
//! use traj_core::run::{Fold, Place, Prices};
//! use traj_fs::cap_std::{ambient_authority, fs::Dir};
//! use traj_fs::{for_each_line, open_file, write_private_file};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temporary = tempfile::tempdir()?;
//! # let sessions = temporary.path();
//! # std::fs::write(sessions.join("chat.jsonl"), r#"{"type":"session","version":3,"id":"s1"}
//! # {"type":"message","id":"a","parentId":null,"timestamp":1,"message":{"role":"user","content":"hi"}}
//! # "#)?;
//! let directory = Dir::open_ambient_dir(sessions, ambient_authority())?;
//! let input = BufReader::new(open_file(&directory, "chat.jsonl")?);
//! let (mut fold, mut number) = (Fold::new(Prices::shipped()), 0);
//! for_each_line::<io::Error>(input, 32 * 1024 * 1024, |line| {
//!     number += 1;
//!     if let Line::Whole(bytes) | Line::Cut(bytes) = line
//!         && let Ok(row) = Json::parse_lossy(bytes)
//!     {
//!         let place = Place::line(number);
//!         Dialect::OpenClaw.decode(&row, place, &mut |event| fold.push(&event));
//!     }
//!     Ok(ControlFlow::Continue(()))
//! })?;
//! let turns = fold.finish().turns;
//! write_private_file(&directory, "chat.turns", |file| writeln!(file, "{turns}"))?;
//! assert_eq!(directory.read_to_string("chat.turns")?, "1\n");
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
//! - `sqlite`: sessions that agents keep in SQLite databases; implies `zstd`.
//! - `tokio`: a flush that async hosts can await.
//! - `watch`: `FolderWatch`, which wakes a caller that follows a file.
//! - `zstd`: session files that agents compressed.

mod bundle;
mod care;
mod codex;
mod dataset;
mod error;
mod key_file;
mod read_lines;
mod recorder;
mod running_processes;
mod safe;
mod scratch;
mod session;
mod sidecar;
mod stop_flag;
mod system_clock;

/// The capability types in the signatures of this crate, in the version that it uses.
pub use cap_std;

pub use bundle::{BundleForm, FsBundleSink, FsBundleSource, is_bundle};
pub use care::{FoundOrphans, FsBlobFolder, FsLineLog, FsOrphans};
pub use codex::{BINDING_SUFFIX, FsBindingStore, FsTurnLeases, TURN_LOCK_SUFFIX};
pub use dataset::FsDataset;
pub use error::{FsError, Refusal};
pub use key_file::{KeyFileError, load_or_create_key};
pub use read_lines::for_each_line;
pub use recorder::{Dropped, FlushReport, Recorder, RecorderStats};
pub use running_processes::FsProcess;
pub use safe::directory::{create_folder, create_subfolder, open_folder, open_subfolder};
pub use safe::open::open_file;
pub use safe::replace::write_private_file;
pub use safe::temporary_directory::TemporaryFolder;
pub use scratch::FsScratch;
#[cfg(feature = "watch")]
pub use session::FolderWatch;
#[cfg(feature = "sqlite")]
pub use session::SqliteTables;
pub use session::{
    FilesBeside, FollowedFile, FsSessionRewriter, FsSources, Gathering, ProcessTable,
};
pub use sidecar::FsTrajectoryStore;
pub use system_clock::SystemClock;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
