//! What a row states: a closed list for readers, open for input.
//!
//! - `session`: how a session begins and ends.
//! - `content`: what a row holds as content.
//! - `outcome`: what became of a tool call.
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

/// What a row states. A row that a dialect does not know is
/// [`Fact::Other`], by its type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fact<'r> {
    /// A session or a run of it began.
    SessionStarted(SessionStart<'r>),
    /// A run ended.
    SessionEnded(SessionEnd<'r>),
    /// The context for the model was compiled.
    ContextCompiled(CompiledContext<'r>),
    /// A turn began.
    TurnStarted,
    /// A turn ended; `Some` names the error that ended it.
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
    /// It was decided.
    ApprovalDecided(ApprovalFact<'r>),
    /// The conversation was replaced by a summary.
    Compaction(Compaction<'r>),
    /// The model changed.
    ModelChanged(ModelChange<'r>),
    /// A setting changed.
    ModeChanged(ModeChange<'r>),
    /// The conversation went back to an earlier point.
    Rewind(Rewind<'r>),
    /// There are entries that are not part of the run.
    Branches(Branches),
    /// Something was attached.
    Attachment(Attachment<'r>),
    /// A hook of the harness ran.
    Hook(Hook<'r>),
    /// Something went wrong outside a tool.
    Error(ErrorFact<'r>),
    /// Something is missing.
    Lost(Loss<'r>),
    /// A row that states none of these.
    Other {
        /// The type that the row states.
        name: Cow<'r, str>,
        /// Whether the dialect knows the type; rows that it does not know are
        /// counted as unknown.
        is_known: bool,
    },
    /// There are rows of an unknown type among the other events.
    UnknownRows(UnknownRows<'r>),
}

/// The context for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct CompiledContext<'r> {
    /// The system prompt.
    pub system: Content<'r>,
    /// The definitions of the tools.
    pub tools: Option<&'r Json<'r>>,
}

/// A prompt was submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Prompt<'r> {
    /// The prompt.
    pub content: Content<'r>,
    /// How many images came with it.
    pub images: u64,
    /// Why it was not sent, if it was not.
    pub skipped: Option<&'r str>,
}

/// The model called a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct ToolCallFact<'r> {
    /// The call's id.
    pub id: Option<&'r str>,
    /// The tool; `tool` where none is named.
    pub name: &'r str,
    /// What it was asked to work on.
    pub arguments: Arguments<'r>,
}

/// A tool answered.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct ToolResultFact<'r> {
    /// The id of the call.
    pub id: Option<&'r str>,
    /// The tool, where the row names it.
    pub name: Option<&'r str>,
    /// What became of the call.
    pub outcome: Outcome<'r>,
    /// What the tool returned.
    pub content: Content<'r>,
    /// How long it took, in milliseconds, where the source states it.
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
}

/// A model call finished.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct ModelCall<'r> {
    /// The id of the response. Rows that repeat one describe the same call.
    pub id: Option<&'r str>,
    /// The provider.
    pub provider: Option<&'r str>,
    /// The model.
    pub model: Option<&'r str>,
    /// Its tokens.
    pub usage: Option<Usage>,
    /// What `usage` covers.
    pub scope: UsageScope,
    /// Of a counter, the part of the last call.
    pub last: Option<Usage>,
    /// The cost that the source states.
    pub cost: Option<StatedCost>,
    /// Why the model stopped.
    pub stop_reason: Option<Cow<'r, str>>,
    /// How long it took, in milliseconds, where the source states it.
    pub latency: Option<u64>,
    /// What went wrong.
    pub error: Option<Cow<'r, str>>,
}

/// An approval was requested or decided.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct ApprovalFact<'r> {
    /// The id of the request.
    pub id: Option<&'r str>,
    /// The call that it is about.
    pub call: Option<&'r str>,
    /// What needs approval: a command, a path, a tool.
    pub subject: Option<Cow<'r, str>>,
    /// The decision; `None` while it is open.
    pub decision: Option<ApprovalOutcome>,
    /// Why.
    pub reason: Option<Cow<'r, str>>,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// Yes, this once.
    Approved,
    /// Yes, from now on.
    ApprovedForSession,
    /// No.
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

/// The conversation was replaced by a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Compaction<'r> {
    /// The summary.
    pub summary: Content<'r>,
    /// How many tokens there were before.
    pub tokens_before: Option<u64>,
}

/// Another model answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct ModelChange<'r> {
    /// Its provider.
    pub provider: Option<&'r str>,
    /// The model.
    pub model: Option<&'r str>,
    /// Why, where the source says: the one before it failed, for example.
    pub reason: Option<&'r str>,
}

/// Another setting holds.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a name and a value")]
pub struct ModeChange<'r> {
    /// Which setting.
    pub name: Cow<'r, str>,
    /// Its value.
    pub value: Cow<'r, str>,
}

/// The conversation went back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Rewind<'r> {
    /// The entry that it went back to.
    pub to: Option<&'r str>,
    /// How many turns were dropped, where the source counts them.
    pub turns: Option<u64>,
    /// A summary of what was left.
    pub summary: Content<'r>,
}

/// Branches of the conversation that were left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two counts")]
pub struct Branches {
    /// How many begin at an entry of the run, or at none.
    pub count: u64,
    /// How many entries they have together.
    pub entries: u64,
}

/// A count of rows of one unknown type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name and a count")]
pub struct UnknownRows<'r> {
    /// The type that they state; `None` where several are counted together.
    pub name: Option<&'r str>,
    /// How many there are.
    pub count: u64,
}

/// Something was attached.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Attachment<'r> {
    /// What kind of thing.
    pub kind: Option<Cow<'r, str>>,
    /// Its name.
    pub name: Option<&'r str>,
    /// What it holds, where that is text.
    pub content: Content<'r>,
}

/// A hook ran.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct Hook<'r> {
    /// Its name.
    pub name: &'r str,
    /// What became of it.
    pub outcome: Outcome<'r>,
    /// What it printed.
    pub content: Content<'r>,
}

/// Something went wrong.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it literally")]
pub struct ErrorFact<'r> {
    /// What, in the source's words.
    pub text: Cow<'r, str>,
    /// The kind, where the source states it.
    pub kind: Option<&'r str>,
    /// Whether the harness went on by itself: a retry, for example.
    pub is_recovered: bool,
}

/// Something is missing.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "dialects build it with `..Default::default()`")]
pub struct Loss<'r> {
    /// Why.
    pub reason: Option<Cow<'r, str>>,
    /// How many events.
    pub events: Option<u64>,
    /// How many bytes.
    pub bytes: Option<u64>,
}
