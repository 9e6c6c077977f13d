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
    /// The server failed or refused, which says nothing about the thread.
    #[error(transparent)]
    Server(AppServerError),
    /// The server loaded another thread than the one that was asked for.
    #[error("the server answered for thread {answered} when {asked} was resumed")]
    ThreadMismatch {
        /// The thread that was asked for.
        asked: ThreadId,
        /// The thread that was answered for.
        answered: ThreadId,
    },
    /// The thread is archived; its history is whole.
    #[error("thread {thread} is archived")]
    Archived {
        /// The thread.
        thread: ThreadId,
    },
    /// Another process has the thread open; its history is whole.
    #[error("thread {thread} is open in another process")]
    OpenElsewhere {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread's file cannot be read by the server.
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
    /// Whether another server process may do better.
    #[must_use]
    pub const fn is_connection_loss(&self) -> bool {
        matches!(self, Self::Server(AppServerError::Closed { .. }))
    }
}
