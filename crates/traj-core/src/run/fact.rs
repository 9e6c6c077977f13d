//! What a row states: a closed list for readers, open for input.
//!
//! - `session`: the start and end of a session.
//! - `content`: the content of a row.
//! - `outcome`: the outcome of a tool call.
//! - `usage`: the tokens of a model call.

mod content;
mod outcome;
mod session;
mod usage;

use std::borrow::Cow;

use crate::json::Json;

pub use content::{Arguments, Content};
pub use outcome::{Failure, Outcome};
pub use session::{EndStatus, SessionEnd, SessionStart};
pub use usage::{StatedCost, Usage};

/// What a row states. An unknown row is [`Fact::Other`] with its type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fact<'r> {
    /// A session, or a run of it, began.
    SessionStarted(SessionStart<'r>),
    /// A run ended.
    SessionEnded(SessionEnd<'r>),
    /// The context for the model was compiled.
    ContextCompiled(CompiledContext<'r>),
    /// A turn began.
    TurnStarted,
    /// A turn ended, with its status and the error that ended it, if any.
    TurnEnded(SessionEnd<'r>),
    /// A prompt was submitted.
    Prompt(Prompt<'r>),
    /// The assistant said something.
    AssistantText(Content<'r>),
    /// The model reasoned.
    Reasoning(Content<'r>),
    /// The model called a tool.
    ToolCall(ToolCallFact<'r>),
    /// A tool answered, or is known not to have answered.
    ToolResult(ToolResultFact<'r>),
    /// A model call finished.
    ModelCall(ModelCall<'r>),
    /// An approval was requested.
    ApprovalAsked(ApprovalFact<'r>),
    /// An approval was decided.
    ApprovalDecided(ApprovalFact<'r>),
    /// The conversation was replaced by a summary.
    Compaction(Compaction<'r>),
    /// The model changed.
    ModelChanged(ModelChange<'r>),
    /// A setting changed.
    ModeChanged(ModeChange<'r>),
    /// The conversation went back to an earlier point.
    Rewind(Rewind<'r>),
    /// Some entries are not part of the run.
    Branches(Branches),
    /// Something was attached.
    Attachment(Attachment<'r>),
    /// A hook of the harness ran.
    Hook(Hook<'r>),
    /// Something went wrong outside a tool.
    Error(ErrorFact<'r>),
    /// Something is missing.
    Lost(Loss<'r>),
    /// A row that states none of these facts.
    Other {
        /// The type that the row states.
        name: Cow<'r, str>,
        /// Whether the dialect knows the type. Other rows are counted as unknown.
        is_known: bool,
    },
    /// Some rows have an unknown type.
    UnknownRows(UnknownRows<'r>),
}

/// The compiled context for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct CompiledContext<'r> {
    /// The system prompt.
    pub system: Content<'r>,
    /// The tool definitions.
    pub tools: Option<&'r Json<'r>>,
}

/// A submitted prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Prompt<'r> {
    /// The prompt.
    pub content: Content<'r>,
    /// The number of images in it.
    pub images: u64,
    /// Why it was not sent, if it was skipped.
    pub skipped: Option<&'r str>,
}

/// A tool call by the model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct ToolCallFact<'r> {
    /// The call's id.
    pub id: Option<&'r str>,
    /// The tool's name; `tool` if none is stated.
    pub name: &'r str,
    /// Its arguments.
    pub arguments: Arguments<'r>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct ToolResultFact<'r> {
    /// The id of the call.
    pub id: Option<&'r str>,
    /// The tool's name, if the row states it.
    pub name: Option<&'r str>,
    /// The outcome of the call.
    pub outcome: Outcome<'r>,
    /// The tool's output.
    pub content: Content<'r>,
    /// How long it took, in milliseconds, if the source states it.
    pub duration: Option<u64>,
    /// Whether the source kept only a part of the content.
    pub is_truncated: bool,
}

/// What a usage record covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UsageScope {
    /// One model call.
    #[default]
    Call,
    /// All model calls of a turn or run together.
    Turn,
    /// A counter over the whole session so far; `usage` is its reading.
    Counter,
    /// What the program itself counted of one model so far, including calls that
    /// it does not record; `usage` and `cost` are sums.
    Session,
}

/// A finished model call.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct ModelCall<'r> {
    /// The id of the response. Rows with the same id describe the same call.
    pub id: Option<&'r str>,
    /// The provider.
    pub provider: Option<&'r str>,
    /// The model.
    pub model: Option<&'r str>,
    /// Its tokens.
    pub usage: Option<Usage>,
    /// What `usage` covers.
    pub scope: UsageScope,
    /// For a counter: the tokens of the last call alone.
    pub last: Option<Usage>,
    /// The cost, if the source states it.
    pub cost: Option<StatedCost>,
    /// Why the model stopped.
    pub stop_reason: Option<Cow<'r, str>>,
    /// How long it took, in milliseconds, if the source states it.
    pub latency: Option<u64>,
    /// The error, if it failed.
    pub error: Option<Cow<'r, str>>,
}

/// A request for approval, or the decision.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct ApprovalFact<'r> {
    /// The id of the request.
    pub id: Option<&'r str>,
    /// The call that needs approval.
    pub call: Option<&'r str>,
    /// What needs approval: a command, a path, a tool.
    pub subject: Option<Cow<'r, str>>,
    /// The decision; `None` for a request.
    pub decision: Option<ApprovalOutcome>,
    /// The reason given.
    pub reason: Option<Cow<'r, str>>,
    /// Who decided: `user`, `policy`, `host` or `nobody`.
    pub decided_by: Option<&'r str>,
    /// The name of the person or the rule.
    pub decider_name: Option<&'r str>,
    /// How long the permission lasts: `once`, `turn` or `session`.
    pub scope: Option<&'r str>,
}

impl ApprovalFact<'_> {
    /// Who decided, in words; `None` if that is not recorded.
    #[must_use]
    pub fn decider(&self) -> Option<String> {
        Some(match (self.decided_by?, self.decider_name) {
            ("user", Some(name)) => name.to_owned(),
            ("user", None) => "the user".to_owned(),
            ("host", None) => "the host".to_owned(),
            ("policy", None) => "a policy".to_owned(),
            (by, Some(name)) => format!("{by} {name}"),
            (by, None) => by.to_owned(),
        })
    }
}

/// The decision on an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// Approved once.
    Approved,
    /// Approved for the rest of the session.
    ApprovedForSession,
    /// Denied.
    Denied,
    /// The request was withdrawn or not answered.
    Cancelled,
}

impl ApprovalOutcome {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ApprovedForSession => "approvedForSession",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A replacement of the conversation by a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Compaction<'r> {
    /// The summary.
    pub summary: Content<'r>,
    /// The number of tokens before it.
    pub tokens_before: Option<u64>,
}

/// A change of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct ModelChange<'r> {
    /// The new model's provider.
    pub provider: Option<&'r str>,
    /// The new model.
    pub model: Option<&'r str>,
    /// The reason, if the source states it: the previous model failed, for
    /// example.
    pub reason: Option<&'r str>,
}

/// A change of a setting.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a name and a value")]
pub struct ModeChange<'r> {
    /// The name of the setting.
    pub name: Cow<'r, str>,
    /// Its new value.
    pub value: Cow<'r, str>,
}

/// A return to an earlier point of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Rewind<'r> {
    /// The entry it returned to.
    pub to: Option<&'r str>,
    /// How many turns were dropped, if the source counts them.
    pub turns: Option<u64>,
    /// A summary of the abandoned part.
    pub summary: Content<'r>,
}

/// Abandoned branches of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two counts")]
pub struct Branches {
    /// How many there are. Each begins below an entry of the run, or has no known
    /// parent.
    pub count: u64,
    /// The total number of their entries.
    pub entries: u64,
}

/// A count of rows of one unknown type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name and a count")]
pub struct UnknownRows<'r> {
    /// The type; `None` if several types are counted together.
    pub name: Option<&'r str>,
    /// How many there are.
    pub count: u64,
}

/// An attachment.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Attachment<'r> {
    /// What kind of thing it is.
    pub kind: Option<Cow<'r, str>>,
    /// Its name.
    pub name: Option<&'r str>,
    /// Its content, if that is text.
    pub content: Content<'r>,
}

/// A hook that ran.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct Hook<'r> {
    /// Its name.
    pub name: &'r str,
    /// Its outcome.
    pub outcome: Outcome<'r>,
    /// Its output.
    pub content: Content<'r>,
}

/// An error outside a tool.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct ErrorFact<'r> {
    /// The message, in the source's words.
    pub text: Cow<'r, str>,
    /// The kind of error, if the source states it.
    pub kind: Option<&'r str>,
    /// Whether the harness recovered by itself, for example with a retry.
    pub is_recovered: bool,
}

/// A statement that something is missing.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Loss<'r> {
    /// The reason.
    pub reason: Option<Cow<'r, str>>,
    /// The number of missing events.
    pub events: Option<u64>,
    /// The number of missing bytes.
    pub bytes: Option<u64>,
}
