//! What the app-server asks, and what the host may answer. The words of the wire are in
//! `codex-binding`.

use crate::id::{ThreadId, TurnId};
use crate::json::Json;

/// A question of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerRequest {
    /// What kind of question it is.
    pub kind: RequestKind,
    /// The method, as the server spells it.
    pub method: String,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The parameters.
    pub params: Json<'static>,
}

impl ServerRequest {
    /// A question that belongs to no thread yet.
    #[must_use]
    pub fn new(kind: RequestKind, method: impl Into<String>, params: Json<'static>) -> Self {
        Self { kind, method: method.into(), thread: None, turn: None, params }
    }
}

/// What kind of question the server asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// Run a tool of the host.
    ToolCall,
    /// May a command run, may files change, or anything else that asks for approval.
    Approval,
    /// An approval in the words of older servers.
    LegacyApproval,
    /// May the sandbox be widened.
    Permissions,
    /// A question to the person.
    UserInput,
    /// A question of an MCP server, or an approval of an MCP tool.
    Elicitation,
    /// A question this version does not know.
    Unknown,
}

/// The host's explicit answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HostAnswer {
    /// What a tool did.
    Tool(ToolOutcome),
    /// A decision about an approval.
    Approval(ApprovalDecision),
    /// Permissions granted for this turn, as the server spells them.
    Permissions(Json<'static>),
    /// Answers by question id.
    UserInput(Vec<(String, Vec<String>)>),
    /// The form was filled in like this.
    ElicitationAccepted(Json<'static>),
}

/// What a tool of the host did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The answer to the model.
    pub text: String,
    /// Whether the call succeeded.
    pub success: bool,
}

impl ToolOutcome {
    /// The outcome of a call that succeeded.
    #[must_use]
    pub const fn succeeded(text: String) -> Self {
        Self { text, success: true }
    }

    /// The outcome of a call that failed.
    #[must_use]
    pub const fn failed(text: String) -> Self {
        Self { text, success: false }
    }
}

/// A decision about an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// This once.
    Accept,
    /// For the rest of the thread's life in this server.
    AcceptForSession,
    /// Not this.
    Decline,
    /// Not this, and end the turn.
    Cancel,
}
