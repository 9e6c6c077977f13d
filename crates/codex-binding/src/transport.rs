//! Ways to reach an app-server: a child process, or a pair of pipes in this process.

mod environment;
mod memory;
mod stderr;
mod stdio;

use tokio::io::{AsyncRead, AsyncWrite};

pub use environment::child_environment;
pub use memory::{MemoryPeer, memory};
pub use stdio::{ServerCommand, SpawnError, spawn};

pub(crate) use stderr::StderrTail;
pub(crate) use stdio::ChildProcess;

/// The two ends of a connection, and its process if there is one.
pub struct Transport {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) child: Option<ChildProcess>,
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Transport").field("child", &self.child).finish_non_exhaustive()
    }
}
