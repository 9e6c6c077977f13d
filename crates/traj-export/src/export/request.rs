//! What to export, and how.

use std::num::NonZeroUsize;

use traj_core::id::SessionId;
use traj_core::redaction::Redactor;
use traj_core::timestamp::UnixMillis;

/// Which session to export.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Selection {
    /// A session file, by name. It may be missing if its sidecar exists.
    File {
        /// The session file.
        session: String,
        /// The session's id, if it should override the one in the file.
        session_id: Option<SessionId>,
        /// The key of the session, if it is known.
        session_key: Option<String>,
    },
    /// A key of an OpenClaw session store.
    Key {
        /// The key.
        session_key: String,
        /// The store file.
        store: String,
    },
}

impl Selection {
    /// A session file; its content states the session's id.
    #[must_use]
    pub fn file(session: impl Into<String>) -> Self {
        Self::File { session: session.into(), session_id: None, session_key: None }
    }

    /// A session file, with an id and a key that the caller knows.
    #[must_use]
    pub fn with_names(
        session: impl Into<String>,
        session_id: Option<SessionId>,
        session_key: Option<String>,
    ) -> Self {
        Self::File { session: session.into(), session_id, session_key }
    }

    /// A key of a session store.
    #[must_use]
    pub fn key(session_key: impl Into<String>, store: impl Into<String>) -> Self {
        Self::Key { session_key: session_key.into(), store: store.into() }
    }
}

/// Where to look for the sidecar besides the session's own directory.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SidecarHints {
    /// The sidecar, if the user named one.
    pub runtime_file: Option<String>,
    /// The directory for sidecars that the environment names.
    pub trajectory_dir: Option<String>,
    /// The directory that relative names are resolved against.
    pub current_dir: String,
}

impl SidecarHints {
    /// Hints with only the directory that relative names are resolved against.
    #[must_use]
    pub fn new(current_dir: impl Into<String>) -> Self {
        Self { runtime_file: None, trajectory_dir: None, current_dir: current_dir.into() }
    }
}

/// Limits of other exporters. By default they only warn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportLimits {
    /// The maximum size of a session file, in bytes.
    pub session_bytes: u64,
    /// The maximum size of a sidecar, in bytes.
    pub runtime_bytes: u64,
    /// The maximum number of events in a sidecar.
    pub runtime_events: u64,
    /// The maximum number of events in a bundle.
    pub total_events: u64,
    /// Whether exceeding a limit is an error.
    pub are_strict: bool,
}

impl ExportLimits {
    /// The limits that OpenClaw enforces, as warnings.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            session_bytes: 52_428_800,
            runtime_bytes: 52_428_800,
            runtime_events: 200_000,
            total_events: 250_000,
            are_strict: false,
        }
    }

    /// The same limits, as errors.
    #[must_use]
    pub const fn strict() -> Self {
        let mut limits = Self::standard();
        limits.are_strict = true;
        limits
    }
}

/// An export, ready to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExportRequest {
    /// Which session.
    pub selection: Selection,
    /// Where its sidecar may be.
    pub sidecar: SidecarHints,
    /// The workspace directory. The bundle states it, redacted.
    pub workspace_dir: String,
    /// The bundle's name; by default, derived from the session and the time.
    pub name: Option<traj_core::id::BundleName>,
    /// The time that the bundle states as its creation.
    pub now: UnixMillis,
    /// The redaction rules.
    pub redactor: Redactor,
    /// Limits of other exporters.
    pub limits: ExportLimits,
    /// How many threads work on the bundle.
    pub workers: NonZeroUsize,
    /// Whether a session file without events is exported anyway.
    pub allows_empty: bool,
}

impl ExportRequest {
    /// An export with the default limits, on one thread.
    #[must_use]
    pub fn new(
        selection: Selection,
        workspace_dir: impl Into<String>,
        now: UnixMillis,
        redactor: Redactor,
    ) -> Self {
        Self {
            selection,
            sidecar: SidecarHints::new("/"),
            workspace_dir: workspace_dir.into(),
            name: None,
            now,
            redactor,
            limits: ExportLimits::standard(),
            workers: NonZeroUsize::MIN,
            allows_empty: false,
        }
    }
}
