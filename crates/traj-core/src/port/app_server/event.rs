//! What happens on a thread.

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
    /// A part of a turn began.
    ItemStarted {
        /// The turn.
        turn: TurnId,
        /// The part.
        item: ThreadItem,
    },
    /// A part of a turn is complete. Not every part that began gets here.
    ItemCompleted {
        /// The turn.
        turn: TurnId,
        /// The part.
        item: ThreadItem,
    },
    /// The model wrote a piece of a message. Pieces may be taken back: only completed messages count.
    MessageDelta {
        /// The turn.
        turn: TurnId,
        /// The message.
        item: String,
        /// The piece.
        text: String,
    },
    /// Tokens were counted.
    TokenUsage {
        /// The turn.
        turn: TurnId,
        /// The counts.
        usage: TokenUsage,
    },
    /// Something failed; a retry is progress, anything else ends the turn by another event.
    Trouble {
        /// The turn.
        turn: TurnId,
        /// Whether the server tries again.
        will_retry: bool,
    },
    /// A turn ended.
    TurnCompleted {
        /// The turn.
        turn: TurnId,
        /// How.
        status: TurnStatus,
        /// Its last messages, as far as the server repeats them.
        items: Vec<ThreadItem>,
    },
    /// Something else.
    Other {
        /// The method of the notification.
        method: String,
    },
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnStatus {
    /// As it should.
    Completed,
    /// Somebody interrupted it.
    Interrupted,
    /// The model or the server failed; its own words, if any.
    Failed {
        /// The server's message.
        message: Option<String>,
    },
}

/// One part of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ThreadItem {
    /// The part's id.
    pub id: String,
    /// What it is.
    pub detail: ItemDetail,
}

impl ThreadItem {
    /// A part.
    #[must_use]
    pub const fn new(id: String, detail: ItemDetail) -> Self {
        Self { id, detail }
    }
}

/// What a part of a turn is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ItemDetail {
    /// A message of the model.
    AgentMessage {
        /// The text.
        text: String,
        /// `commentary`, `final_answer` and others; none on older servers.
        phase: Option<String>,
    },
    /// A tool at work: a command, a patch, a call.
    Tool {
        /// The tool's name.
        name: String,
        /// What it was given.
        arguments: Json<'static>,
        /// What came out, once it is complete.
        output: Option<Json<'static>>,
        /// Whether it succeeded, once it is complete.
        success: Option<bool>,
    },
    /// Anything else, by its kind.
    Other {
        /// The kind.
        kind: String,
    },
}

/// Counted tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// Tokens the model read.
    pub input: u64,
    /// Of these, from a cache.
    pub cached_input: u64,
    /// Tokens the model wrote.
    pub output: u64,
    /// Of these, while thinking.
    pub reasoning: u64,
    /// All.
    pub total: u64,
}

impl TokenUsage {
    /// Counts.
    #[must_use]
    pub const fn new(
        input: u64,
        cached_input: u64,
        output: u64,
        reasoning: u64,
        total: u64,
    ) -> Self {
        Self { input, cached_input, output, reasoning, total }
    }
}

impl ThreadEvent {
    /// The turn an event belongs to.
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
