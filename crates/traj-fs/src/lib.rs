//! The filesystem side of traj: capability-scoped, crash-safe storage and the
//! recorder that writes to it.
//!
//! Every type here works inside a [`cap_std::fs::Dir`] that it is given; none
//! sees a path. Files that belong to us are regular, have one name, are 0600
//! and are never reached through a link; what is not so is refused with a
//! [`FsError`] that says why.

mod bundle_sink;
mod error;
mod folder;
mod key_file;
mod lock;
mod open;
mod recorder;
mod replace;
mod sidecar;
mod source;
mod system_clock;
mod trajectory_store;

pub use bundle_sink::{BundleForm, FsBundleSink};
pub use error::{FsError, Refusal};
pub use folder::{create_folder, create_subfolder, make_private, open_folder, open_subfolder};
pub use key_file::{KeyFileError, load_or_create_key};
pub use lock::{FileLock, lock_exclusive};
pub use open::{Access, Identity, identity_of, open_regular};
pub use recorder::{Dropped, FlushReport, Recorder, RecorderStats};
pub use replace::{replace_file, sweep_leftovers, sync_folder};
pub use source::FsSources;
pub use system_clock::SystemClock;
pub use trajectory_store::FsTrajectoryStore;
