//! Events of a thread.

use crate::id::TurnId;
use crate::json::Json;

/// Something that happened on a thread.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ThreadEvent {
    /// A turn began.
    TurnStarted {
        /// The turn.
        turn: TurnId,
    },
    /// An item of a turn began.
    ItemStarted {
        /// The turn.
        turn: TurnId,
        /// The item.
        item: ThreadItem,
    },
    /// An item of a turn is complete. Not every started item completes.
    ItemCompleted {
        /// The turn.
        turn: TurnId,
        /// The item.
        item: ThreadItem,
    },
    /// The model wrote part of a message. It may be withdrawn: only completed messages count.
    MessageDelta {
        /// The turn.
        turn: TurnId,
        /// The message.
        item: String,
        /// The added text.
        text: String,
    },
    /// The token counts were updated.
    TokenUsage {
        /// The turn.
        turn: TurnId,
        /// The counts.
        usage: TokenUsage,
    },
    /// An error occurred. If the server does not retry, another event ends the turn.
    Trouble {
        /// The turn.
        turn: TurnId,
        /// Whether the server retries.
        will_retry: bool,
    },
    /// A turn ended.
    TurnCompleted {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        status: TurnStatus,
        /// Its last messages, if the server repeats them.
        items: Vec<ThreadItem>,
    },
    /// Any other event.
    Other {
        /// The method of the notification.
        method: String,
    },
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnStatus {
    /// It completed normally.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// The model or the server failed.
    Failed {
        /// The server's message, if any.
        message: Option<String>,
    },
}

/// An item of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ThreadItem {
    /// The item's id.
    pub id: String,
    /// The item's content.
    pub detail: ItemDetail,
}

impl ThreadItem {
    /// An item.
    #[must_use]
    pub const fn new(id: String, detail: ItemDetail) -> Self {
        Self { id, detail }
    }
}

/// The content of an item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ItemDetail {
    /// A message of the model.
    AgentMessage {
        /// The text.
        text: String,
        /// `commentary`, `final_answer` or another phase; `None` on older servers.
        phase: Option<String>,
    },
    /// A tool call: a command, a patch, or a call to another tool.
    Tool {
        /// The tool's name.
        name: String,
        /// The arguments.
        arguments: Json<'static>,
        /// The output, once the call is complete.
        output: Option<Json<'static>>,
        /// Whether it succeeded, once the call is complete.
        success: Option<bool>,
    },
    /// Any other item.
    Other {
        /// The kind.
        kind: String,
    },
}

/// Token counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// Input tokens.
    pub input: u64,
    /// Input tokens from the cache.
    pub cached_input: u64,
    /// Output tokens.
    pub output: u64,
    /// Output tokens used for reasoning.
    pub reasoning: u64,
    /// All tokens.
    pub total: u64,
}

impl ThreadEvent {
    /// The turn that an event belongs to.
    #[must_use]
    pub const fn turn(&self) -> Option<&TurnId> {
        match self {
            Self::TurnStarted { turn }
            | Self::ItemStarted { turn, .. }
            | Self::ItemCompleted { turn, .. }
            | Self::MessageDelta { turn, .. }
            | Self::TokenUsage { turn, .. }
            | Self::Trouble { turn, .. }
            | Self::TurnCompleted { turn, .. } => Some(turn),
            Self::Other { .. } => None,
        }
    }
}
