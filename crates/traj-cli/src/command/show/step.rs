//! What is shown, one step after the other.

use serde::Serialize;
use traj_core::run::{ModelTotals, Outcome, words};
use traj_core::timestamp::UnixMillis;
use traj_export::UsageSummary;

use super::excerpt::Excerpt;

/// A part of a conversation.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Step {
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
    #[serde(flatten)]
    pub(super) what: What,
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn as_iso<S: serde::Serializer>(at: &Option<UnixMillis>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(UnixMillis::to_iso).serialize(serializer)
}

/// What happened.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum What {
    Prompt {
        text: Excerpt,
        images: u64,
        skipped: Option<String>,
    },
    Text {
        text: Excerpt,
    },
    Reasoning {
        text: Excerpt,
    },
    Call(Call),
    ModelCall(ModelUse),
    /// A turn is over: what all of its model calls took.
    Turn {
        duration_millis: Option<u64>,
        usage: UsageSummary,
    },
    Approval {
        subject: Option<String>,
        decision: Option<&'static str>,
        reason: Option<String>,
        waited_millis: Option<u64>,
    },
    Compaction {
        tokens_before: Option<u64>,
        summary: Excerpt,
    },
    Changed {
        about: String,
    },
    Error {
        text: String,
        is_recovered: bool,
    },
    Lost {
        about: String,
    },
    Ended {
        status: String,
        /// `None` where a step before it states the same error.
        error: Option<String>,
        is_failure: bool,
    },
}

/// A call with its result.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    pub(super) command: Option<String>,
    pub(super) outcome: &'static str,
    /// The outcome as people read it.
    #[serde(skip)]
    pub(super) in_words: String,
    pub(super) exit_code: Option<i64>,
    pub(super) signal: Option<String>,
    pub(super) error: Option<String>,
    pub(super) is_failure: bool,
    pub(super) duration_millis: Option<u64>,
    pub(super) output: Excerpt,
    /// Whether the source kept only a part of the output.
    pub(super) is_truncated: bool,
}

impl Call {
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
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelUse {
    pub(super) model: Option<String>,
    /// What the model read and wrote: the size of its context.
    pub(super) context: u64,
    pub(super) duration_millis: Option<u64>,
    #[serde(flatten)]
    pub(super) usage: UsageSummary,
}

impl Step {
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
