//! What is shown, one step after the other.

use schemars::JsonSchema;
use serde::Serialize;
use traj_core::run::{ModelTotals, Outcome, words};
use traj_core::timestamp::UnixMillis;
use traj_export::UsageSummary;

use super::excerpt::Excerpt;

/// A part of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Step")]
pub(super) struct StoryStep {
    /// The turn, counted from 1; 0 is before the first prompt.
    pub(super) turn: u64,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_iso")]
    #[schemars(with = "Option<String>")]
    pub(super) at: Option<UnixMillis>,
    /// The sub-agent whose step it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sub_agent: Option<String>,
    /// The entry of the transcript that states it.
    #[serde(skip)]
    pub(super) entry: Option<String>,
    /// Whether this is what went wrong first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_first_failure: bool,
    /// What happened.
    #[serde(flatten)]
    pub(super) what: What,
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn as_iso<S: serde::Serializer>(at: &Option<UnixMillis>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(UnixMillis::to_iso).serialize(serializer)
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum What {
    /// Somebody asked for something.
    Prompt {
        /// What.
        text: Excerpt,
        /// How many pictures came with it.
        images: u64,
        /// Why it was not sent.
        skipped: Option<String>,
    },
    /// The assistant said something.
    Text {
        /// What.
        text: Excerpt,
    },
    /// The model thought about something.
    Reasoning {
        /// What.
        text: Excerpt,
    },
    /// A call with its result.
    Call(ShownCall),
    /// A model call.
    ModelCall(ModelUse),
    /// A turn is over.
    Turn {
        /// How long it took.
        duration_millis: Option<u64>,
        /// What all of its model calls took.
        usage: UsageSummary,
    },
    /// Somebody was asked to allow something.
    Approval {
        /// What.
        subject: Option<String>,
        /// What was decided; null while it is open.
        decision: Option<&'static str>,
        /// Why.
        reason: Option<String>,
        /// How long the run waited for it.
        waited_millis: Option<u64>,
    },
    /// The conversation was replaced by a summary.
    Compaction {
        /// How many tokens there were before.
        tokens_before: Option<u64>,
        /// The summary.
        summary: Excerpt,
    },
    /// Another model, another setting, an earlier point.
    Changed {
        /// What, in a few words.
        about: String,
    },
    /// Something went wrong outside a tool.
    Error {
        /// What, in the source's words.
        text: String,
        /// Whether the harness went on by itself.
        is_recovered: bool,
    },
    /// Something is missing.
    Lost {
        /// What, in a few words.
        about: String,
    },
    /// A run ended.
    Ended {
        /// How.
        status: String,
        /// What went wrong; null where a step before it states the same error.
        error: Option<String>,
        /// Whether it went wrong.
        is_failure: bool,
    },
}

/// A call with its result.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Call")]
pub(super) struct ShownCall {
    /// Its id.
    pub(super) id: Option<String>,
    /// The tool.
    pub(super) tool: String,
    /// What it ran or worked on.
    pub(super) command: Option<String>,
    /// What became of it.
    pub(super) outcome: &'static str,
    /// The outcome as people read it.
    #[serde(skip)]
    pub(super) in_words: String,
    /// The exit code, where one is known.
    pub(super) exit_code: Option<i64>,
    /// The signal that ended it.
    pub(super) signal: Option<String>,
    /// What the source says went wrong.
    pub(super) error: Option<String>,
    /// Whether it went wrong.
    pub(super) is_failure: bool,
    /// How long it took.
    pub(super) duration_millis: Option<u64>,
    /// What it printed.
    pub(super) output: Excerpt,
    /// Whether the source kept only a part of the output.
    pub(super) is_truncated: bool,
}

impl ShownCall {
    pub(super) fn set_outcome(&mut self, outcome: &Outcome<'_>) {
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

/// A model call: what it read, wrote and cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelUse {
    /// The model.
    pub(super) model: Option<String>,
    /// What the model read and wrote: the size of its context.
    pub(super) context: u64,
    /// How long it took.
    pub(super) duration_millis: Option<u64>,
    /// What it read, wrote and cost.
    #[serde(flatten)]
    pub(super) usage: UsageSummary,
}

impl StoryStep {
    /// A step that only its turn and its time are known of.
    pub(super) const fn new(turn: u64, at: Option<UnixMillis>, what: What) -> Self {
        Self { turn, at, sub_agent: None, entry: None, is_first_failure: false, what }
    }

    /// About how many bytes are held.
    pub(super) fn bytes(&self) -> usize {
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
