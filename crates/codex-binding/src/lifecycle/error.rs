//! Why a session's thread cannot be had.

use traj_core::id::ThreadId;
use traj_core::port::{AppServerError, BindingKey, BindingStoreError};

/// Why a thread is not ready. In every case the stored record is as it was.
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
    /// The server does not take the stored text for a thread id.
    #[error("invalid thread id {thread}")]
    InvalidThread {
        /// The thread.
        thread: ThreadId,
    },
    /// The session is bound to no thread.
    #[error("{key} is not bound to a thread")]
    NotBound {
        /// The session.
        key: BindingKey,
    },
    /// Others kept changing the record.
    #[error("binding {key} kept changing; gave up after several attempts")]
    Contended {
        /// The session.
        key: BindingKey,
    },
    /// Somebody called it off.
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
