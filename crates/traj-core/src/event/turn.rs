//! Events of a turn on the app-server.

use super::{Event, EventKind};
use crate::json::Object;

/// What happened to a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnMoment {
    /// Its last message was complete and nothing followed.
    AssistantCompletionIdleRelease,
    /// It made no progress for too long.
    ProgressIdleTimeout,
    /// Its completion did not arrive in time.
    CompletionIdleTimeout,
    /// Its terminal notification did not arrive in time.
    TerminalIdleTimeout,
    /// A dynamic tool ended it.
    DynamicToolTerminalRelease,
    /// The connection closed while it ran.
    ClientClosed,
}

/// Data of the `turn.*` events: thread and turn, then the details, in the order
/// given.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "every field is required")]
pub struct TurnEvent {
    /// What happened.
    pub moment: TurnMoment,
    /// The thread on the app-server.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// Details of the event: idle time, timeout, tool.
    pub details: Object<'static>,
}

impl TurnEvent {
    /// The event.
    #[must_use]
    pub fn event(self) -> Event {
        let kind = match self.moment {
            TurnMoment::AssistantCompletionIdleRelease => {
                EventKind::TurnAssistantCompletionIdleRelease
            }
            TurnMoment::ProgressIdleTimeout => EventKind::TurnProgressIdleTimeout,
            TurnMoment::CompletionIdleTimeout => EventKind::TurnCompletionIdleTimeout,
            TurnMoment::TerminalIdleTimeout => EventKind::TurnTerminalIdleTimeout,
            TurnMoment::DynamicToolTerminalRelease => EventKind::TurnDynamicToolTerminalRelease,
            TurnMoment::ClientClosed => EventKind::TurnClientClosed,
        };
        let mut data = Object::new();
        data.push("threadId", self.thread_id);
        data.push("turnId", self.turn_id);
        for (name, value) in self.details {
            data.push(name, value);
        }
        Event::new(kind, Some(data))
    }
}
