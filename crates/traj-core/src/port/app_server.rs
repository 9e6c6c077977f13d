//! The Codex app-server, in our words.
//!
//! The port has two halves: [`ThreadService`] opens threads and keeps a binding alive,
//! [`TurnService`] runs the turns of a conversation. A server process
//! may die at any time; every call and every listener then ends at once.

mod error;
mod event;
mod request;
mod value;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

pub use error::{AppServerError, CloseCause};
pub use event::{ItemDetail, ThreadEvent, ThreadItem, TokenUsage, TurnStatus};
pub use request::{ApprovalDecision, HostAnswer, RequestKind, ServerRequest, ToolOutcome};
pub use value::{
    OpenedThread, ResumeThread, StartThread, StartTurn, ThreadSettings, ThreadSummary,
};

use crate::id::{ThreadId, TurnId};
use crate::json::Json;

/// Opens threads.
#[async_trait]
pub trait ThreadService: Debug + Send + Sync {
    /// Starts a thread. Nothing is on Codex's disk before its first turn.
    async fn start_thread(&self, start: StartThread) -> Result<OpenedThread, AppServerError>;

    /// Loads a thread with its history into this server process.
    async fn resume_thread(&self, resume: ResumeThread) -> Result<OpenedThread, AppServerError>;

    /// What is known of a thread, without loading it.
    async fn read_thread(&self, thread: &ThreadId) -> Result<ThreadSummary, AppServerError>;

    /// Ends the events of a thread.
    async fn release_thread(&self, thread: &ThreadId) -> Result<(), AppServerError>;
}

/// Runs turns on threads that are loaded.
#[async_trait]
pub trait TurnService: Debug + Send + Sync {
    /// Sends events and questions of `thread` to `listener` until the guard is dropped. Listen
    /// before starting a turn: its first events may come before the answer to its start.
    fn listen(&self, thread: &ThreadId, listener: Arc<dyn ThreadListener>) -> ListenGuard;

    /// Starts a turn.
    async fn start_turn(&self, start: StartTurn) -> Result<TurnId, AppServerError>;

    /// Says something more in a running turn.
    async fn steer_turn(
        &self,
        thread: &ThreadId,
        turn: &TurnId,
        input: Vec<Json<'static>>,
    ) -> Result<(), AppServerError>;

    /// Asks a running turn to end; its completion then arrives as an event.
    async fn interrupt_turn(&self, thread: &ThreadId, turn: &TurnId) -> Result<(), AppServerError>;
}

/// Both halves of the port.
pub trait AppServer: ThreadService + TurnService {}

impl<T: ThreadService + TurnService + ?Sized> AppServer for T {}

/// Hears what happens on one thread.
///
/// Calls come from the task that reads the server: they must not block.
#[async_trait]
pub trait ThreadListener: Debug + Send + Sync {
    /// Something happened.
    fn event(&self, event: &ThreadEvent);

    /// The server asks. None lets the safe default answer: nothing is granted.
    async fn request(&self, request: &ServerRequest) -> Option<HostAnswer>;

    /// The server exited; no more messages will come.
    fn lost(&self, cause: CloseCause);
}

/// Ends listening when dropped.
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
    fn the_port_can_be_a_trait_object() {
        fn takes(_server: Option<&dyn AppServer>, _listener: Option<&dyn ThreadListener>) {}
        takes(None, None);
    }
}
