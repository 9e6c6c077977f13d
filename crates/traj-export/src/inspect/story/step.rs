//! The steps of a conversation, as shown.

use schemars::JsonSchema;
use serde::Serialize;
use traj_core::run::{ModelTotals, Outcome, words};
use traj_core::timestamp::UnixMillis;

use super::excerpt::Excerpt;
use crate::inspect::report::UsageSummary;

/// A part of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Step", bound = "")]
#[serde(bound = "")]
#[non_exhaustive]
pub struct StoryStep<N = ()> {
    /// The turn, counted from 1; 0 is before the first prompt.
    pub turn: u64,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_iso")]
    #[schemars(with = "Option<String>")]
    pub at: Option<UnixMillis>,
    /// The sub-agent whose step it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    /// The transcript entry that it comes from.
    #[serde(skip)]
    pub(super) entry: Option<String>,
    /// What the reader of the story noted.
    #[serde(skip)]
    pub note: N,
    /// Whether this is the first failure.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_first_failure: bool,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn as_iso<S: serde::Serializer>(at: &Option<UnixMillis>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(UnixMillis::to_iso).serialize(serializer)
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum What {
    /// A prompt.
    Prompt {
        /// What.
        text: Excerpt,
        /// The number of attached images.
        images: u64,
        /// Why it was not sent.
        skipped: Option<String>,
    },
    /// A message of the assistant.
    Text {
        /// What.
        text: Excerpt,
    },
    /// Reasoning of the model.
    Reasoning {
        /// What.
        text: Excerpt,
    },
    /// A tool call with its result.
    Call(ShownCall),
    /// A model call.
    ModelCall(ModelUse),
    /// The end of a turn.
    Turn {
        /// How long it took.
        duration_millis: Option<u64>,
        /// The usage of all its model calls.
        usage: UsageSummary,
    },
    /// A request for approval.
    Approval {
        /// What.
        subject: Option<String>,
        /// The decision; null if there is none.
        decision: Option<&'static str>,
        /// Who decided, in words; null if that is not recorded.
        decider: Option<String>,
        /// Why.
        reason: Option<String>,
        /// How long the run waited for it.
        waited_millis: Option<u64>,
    },
    /// The conversation was replaced by a summary.
    Compaction {
        /// The number of tokens before it.
        tokens_before: Option<u64>,
        /// The summary.
        summary: Excerpt,
    },
    /// A change of model or setting, or a return to an earlier point.
    Changed {
        /// What, in a few words.
        about: String,
    },
    /// An error outside a tool.
    Error {
        /// The error message, as in the source.
        text: String,
        /// Whether the harness recovered by itself.
        is_recovered: bool,
    },
    /// A gap in the recording.
    Lost {
        /// What, in a few words.
        about: String,
    },
    /// Something that only a complete story has: how the run was set up, a
    /// hook, an attachment, abandoned branches.
    #[serde(skip)]
    #[schemars(skip)]
    Aside {
        /// What, in a few words.
        about: String,
    },
    /// The end of a run.
    Ended {
        /// How.
        status: String,
        /// The error; null if an earlier step states the same one.
        error: Option<String>,
        /// Whether it went wrong.
        is_failure: bool,
    },
}

/// A tool call with its result.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Call")]
#[non_exhaustive]
pub struct ShownCall {
    /// Its number among the calls of the run.
    #[serde(skip)]
    pub number: u64,
    /// Its id.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The command that it ran, or the file or other object that it worked on.
    pub command: Option<String>,
    /// Its outcome.
    pub outcome: &'static str,
    /// The outcome, for people.
    #[serde(skip)]
    pub in_words: String,
    /// The exit code, if known.
    pub exit_code: Option<i64>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// The error, as stated in the source.
    pub error: Option<String>,
    /// Whether it went wrong.
    pub is_failure: bool,
    /// How long it took.
    pub duration_millis: Option<u64>,
    /// Its output.
    pub output: Excerpt,
    /// Whether the source kept only part of the output.
    pub is_truncated: bool,
}

impl ShownCall {
    pub(crate) fn set_outcome(&mut self, outcome: &Outcome<'_>) {
        self.outcome = outcome.name();
        self.in_words = words::outcome(outcome);
        self.is_failure = outcome.is_failure();
        if let Outcome::Failed(failure) = outcome {
            self.exit_code = failure.exit_code;
            self.signal = failure.signal.as_deref().map(str::to_owned);
            self.error = failure.error.as_deref().map(str::to_owned);
        }
    }
}

/// A model call: its tokens and its cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelUse {
    /// The model.
    pub model: Option<String>,
    /// The size of its context: the tokens read and written.
    pub context: u64,
    /// How long it took.
    pub duration_millis: Option<u64>,
    /// What it read, wrote and cost.
    #[serde(flatten)]
    pub usage: UsageSummary,
}

impl<N: Default> StoryStep<N> {
    /// A step with only a turn and a time.
    #[must_use]
    pub fn new(turn: u64, at: Option<UnixMillis>, what: What) -> Self {
        let (sub_agent, entry, note) = (None, None, N::default());
        Self { turn, at, sub_agent, entry, is_first_failure: false, note, what }
    }
}

impl<N> StoryStep<N> {
    /// The approximate size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let text = match &self.what {
            What::Prompt { text, .. } | What::Text { text } | What::Reasoning { text } => {
                text.bytes()
            }
            What::Compaction { summary, .. } => summary.bytes(),
            What::Call(call) => call.output.bytes() + call.command.as_ref().map_or(0, String::len),
            What::Error { text, .. } => text.len(),
            _ => 0,
        };
        text + 256
    }
}

/// The tokens and the cost of one call.
pub(super) fn usage_of_one(call: &traj_core::run::CountedCall) -> UsageSummary {
    let mut totals = ModelTotals::default();
    totals.add(&call.usage, call.cost.as_ref());
    UsageSummary::of(&totals)
}
