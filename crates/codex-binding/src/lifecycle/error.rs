//! Why a session's thread cannot be opened.

use traj_core::id::ThreadId;
use traj_core::port::{AppServerError, BindingKey, BindingStoreError};

/// Why a thread is not ready. The stored record is unchanged in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleError {
    /// The record cannot be read or written.
    #[error(transparent)]
    Store(BindingStoreError),
    /// The server failed or rejected the request. The thread may still exist.
    #[error(transparent)]
    Server(AppServerError),
    /// The server loaded a different thread from the requested one.
    #[error("the server answered for thread {answered} when {asked} was resumed")]
    ThreadMismatch {
        /// The requested thread.
        asked: ThreadId,
        /// The thread in the answer.
        answered: ThreadId,
    },
    /// The thread is archived; its history is intact.
    #[error("thread {thread} is archived")]
    Archived {
        /// The thread.
        thread: ThreadId,
    },
    /// Another process has the thread open; its history is intact.
    #[error("thread {thread} is open in another process")]
    OpenElsewhere {
        /// The thread.
        thread: ThreadId,
    },
    /// The server cannot read the thread's file.
    #[error("the history of thread {thread} cannot be read")]
    DamagedThread {
        /// The thread.
        thread: ThreadId,
    },
    /// The server rejects the stored thread id.
    #[error("invalid thread id {thread}")]
    InvalidThread {
        /// The thread.
        thread: ThreadId,
    },
    /// The server does not have the thread, but it uses a Codex home other than the thread's.
    #[error("thread {thread} is in another Codex home")]
    OtherHome {
        /// The thread.
        thread: ThreadId,
        /// The home that the thread is in.
        stored: String,
        /// The home that the server uses.
        current: String,
    },
    /// The plugin apps of a new thread cannot be looked up.
    #[error("cannot look up the plugin apps")]
    Plugins {
        /// The host's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The session is not bound to a thread.
    #[error("{key} is not bound to a thread")]
    NotBound {
        /// The session.
        key: BindingKey,
    },
    /// Other processes kept changing the record.
    #[error("binding {key} kept changing; gave up after several attempts")]
    Contended {
        /// The session.
        key: BindingKey,
    },
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl LifecycleError {
    /// Whether another server process may succeed.
    #[must_use]
    pub const fn is_connection_loss(&self) -> bool {
        matches!(self, Self::Server(AppServerError::Closed { .. }))
    }
}
