//! Requests of the app-server and the host's answers. The wire format is in `codex-binding`.

use crate::event::{ApprovalScope, Decider};
use crate::id::{ThreadId, TurnId};
use crate::json::Json;

/// A request of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerRequest {
    /// The kind of request.
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
    /// A request that does not belong to a thread yet.
    #[must_use]
    pub fn new(kind: RequestKind, method: impl Into<String>, params: Json<'static>) -> Self {
        Self { kind, method: method.into(), thread: None, turn: None, params }
    }
}

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// Run a tool of the host.
    ToolCall,
    /// Approve a command, a file change or another action.
    Approval,
    /// An approval in the format of older servers.
    LegacyApproval,
    /// Grant more permissions in the sandbox.
    Permissions,
    /// Ask the user a question.
    UserInput,
    /// A request of an MCP server, or the approval of an MCP tool.
    Elicitation,
    /// A request that this version does not know.
    Unknown,
}

/// The host's explicit answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HostAnswer {
    /// The outcome of a tool call.
    Tool(ToolOutcome),
    /// A decision about an approval.
    Approval(ApprovalDecision),
    /// Permissions granted in the sandbox.
    Permissions {
        /// The permissions, as the server spells them.
        granted: Json<'static>,
        /// How long they last. The server knows the turn and the session.
        scope: ApprovalScope,
    },
    /// Answers, by question id.
    UserInput(Vec<(String, Vec<String>)>),
    /// The values of a completed form.
    ElicitationAccepted(Json<'static>),
}

/// The reply of a handler: its answer, who decided, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HostReply {
    /// The answer; `None` selects the safe default: nothing is granted.
    pub answer: Option<HostAnswer>,
    /// Who decided.
    pub by: Decider,
    /// The name of the person or the rule, as it is recorded.
    pub decider_name: Option<String>,
    /// Why; it is recorded, and sent with a decline.
    pub reason: Option<String>,
    /// How long a granted permission lasts, as it is recorded, if the host will also grant similar
    /// requests. `None` if only the server decides that.
    pub scope: Option<ApprovalScope>,
}

impl HostReply {
    /// No answer: nothing is granted.
    #[must_use]
    pub const fn none() -> Self {
        Self { answer: None, by: Decider::Nobody, decider_name: None, reason: None, scope: None }
    }

    /// The same reply as a decision of somebody else.
    #[must_use]
    pub const fn decided_by(mut self, by: Decider) -> Self {
        self.by = by;
        self
    }

    /// The same reply with the name of the person or the rule.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.decider_name = Some(name.into());
        self
    }

    /// The same reply with a reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl From<HostAnswer> for HostReply {
    /// An answer of the host's program.
    fn from(answer: HostAnswer) -> Self {
        Self { answer: Some(answer), ..Self::none() }.decided_by(Decider::Host)
    }
}

impl From<ApprovalDecision> for HostReply {
    /// A decision of the host's program.
    fn from(decision: ApprovalDecision) -> Self {
        HostAnswer::Approval(decision).into()
    }
}

impl From<ToolOutcome> for HostReply {
    fn from(outcome: ToolOutcome) -> Self {
        HostAnswer::Tool(outcome).into()
    }
}

/// The outcome of a host tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// What the model gets, in order.
    pub content: Vec<ToolContent>,
    /// Whether the call succeeded.
    pub success: bool,
}

/// One part of what a host tool returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolContent {
    /// Text.
    Text(String),
    /// An image as a `data:` URL. Newer servers refuse other URLs.
    Image(String),
}

impl ToolOutcome {
    /// The outcome of a successful call.
    #[must_use]
    pub fn succeeded(text: impl Into<String>) -> Self {
        Self { content: vec![ToolContent::Text(text.into())], success: true }
    }

    /// The outcome of a failed call.
    #[must_use]
    pub fn failed(text: impl Into<String>) -> Self {
        Self { content: vec![ToolContent::Text(text.into())], success: false }
    }

    /// The same outcome with one more part.
    #[must_use]
    pub fn and(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }
}

/// A decision about an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// Allow once.
    Accept,
    /// Allow as long as the thread is loaded in this server.
    AcceptForSession,
    /// Do not allow.
    Decline,
    /// Do not allow, and end the turn.
    Cancel,
}
