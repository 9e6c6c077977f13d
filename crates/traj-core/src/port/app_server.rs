//! The Codex app-server, in terms of the core.
//!
//! The port has two halves: [`ThreadService`] opens threads and keeps a binding alive,
//! [`TurnService`] runs the turns of a conversation. The server process may die at any time; every
//! call and every listener then ends at once.

mod error;
mod event;
mod request;
mod value;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

pub use error::{AppServerError, CloseCause};
pub use event::{ItemDetail, ThreadEvent, ThreadItem, TokenUsage, TurnStatus};
pub use request::{
    ApprovalDecision, HostAnswer, HostReply, RequestKind, ServerRequest, ToolContent, ToolOutcome,
};
pub use value::{
    OpenedThread, ResumeThread, StartThread, StartTurn, ThreadSettings, ThreadSummary,
};

use crate::binding::{InputItem, PastMessage};
use crate::id::{ThreadId, TurnId};

/// Opens threads.
#[async_trait]
pub trait ThreadService: Debug + Send + Sync {
    /// Starts a thread. Codex writes nothing to disk before its first turn.
    async fn start_thread(&self, start: StartThread) -> Result<OpenedThread, AppServerError>;

    /// Loads a thread with its history into this server process.
    async fn resume_thread(&self, resume: ResumeThread) -> Result<OpenedThread, AppServerError>;

    /// What the server knows about a thread, without loading it.
    async fn read_thread(&self, thread: &ThreadId) -> Result<ThreadSummary, AppServerError>;

    /// The messages of a thread, oldest first, without loading it.
    async fn read_history(&self, thread: &ThreadId) -> Result<Vec<PastMessage>, AppServerError>;

    /// Adds messages to what the model sees of a loaded thread.
    async fn add_history(
        &self,
        thread: &ThreadId,
        messages: Vec<PastMessage>,
    ) -> Result<(), AppServerError>;

    /// Stops the events of a thread.
    async fn release_thread(&self, thread: &ThreadId) -> Result<(), AppServerError>;

    /// The Codex home in which the server keeps its threads; `None` if it did not state one.
    fn home(&self) -> Option<String>;
}

/// Runs turns on loaded threads.
#[async_trait]
pub trait TurnService: Debug + Send + Sync {
    /// Sends the events and requests of `thread` to `listener` until the guard is dropped. Listen
    /// before starting a turn: its first events may arrive before the response to its start.
    fn listen(&self, thread: &ThreadId, listener: Arc<dyn ThreadListener>) -> ListenGuard;

    /// Starts a turn.
    async fn start_turn(&self, start: StartTurn) -> Result<TurnId, AppServerError>;

    /// Adds input to a running turn.
    async fn steer_turn(
        &self,
        thread: &ThreadId,
        turn: &TurnId,
        input: Vec<InputItem>,
    ) -> Result<(), AppServerError>;

    /// Asks a running turn to end; its completion arrives as an event.
    async fn interrupt_turn(&self, thread: &ThreadId, turn: &TurnId) -> Result<(), AppServerError>;
}

/// Both halves of the port.
pub trait AppServer: ThreadService + TurnService {}

impl<T: ThreadService + TurnService + ?Sized> AppServer for T {}

/// Receives the events of one thread.
///
/// Called from the task that reads from the server, so implementations must not block.
#[async_trait]
pub trait ThreadListener: Debug + Send + Sync {
    /// Something happened.
    fn event(&self, event: &ThreadEvent);

    /// The server asks the host. `None` if the request is not for this listener; if it is for none,
    /// nothing is granted.
    async fn request(&self, request: &ServerRequest) -> Option<HostReply>;

    /// The server asked, and got the safe default without anybody being asked.
    fn declined(&self, _request: &ServerRequest) {}

    /// The server exited; no more messages will arrive.
    fn lost(&self, cause: CloseCause);
}

/// Stops listening when dropped.
pub struct ListenGuard(Option<Box<dyn FnOnce() + Send>>);

impl ListenGuard {
    /// A guard that runs `end` once.
    #[must_use]
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Debug for ListenGuard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ListenGuard")
    }
}

impl Drop for ListenGuard {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_object_safe() {
        fn takes(_server: Option<&dyn AppServer>, _listener: Option<&dyn ThreadListener>) {}
        takes(None, None);
    }
}
