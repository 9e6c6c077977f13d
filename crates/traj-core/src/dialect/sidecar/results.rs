//! How a run ended, from the three events that state it.

use crate::json::{Json, Object};

/// The payloads of the last events that state how a run ended.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "one payload for each of three event types")]
pub struct Endings<'e, 'a> {
    /// Of the event that lists the run's artifacts.
    pub artifacts: Option<&'e Json<'a>>,
    /// Of the event for the model's last answer.
    pub completed: Option<&'e Json<'a>>,
    /// Of the event for the end of the run.
    pub ended: Option<&'e Json<'a>>,
}

/// Where the value of a member is looked up, in order.
#[derive(Clone, Copy)]
enum LookedFor {
    Artifacts,
    ArtifactsThenEnd,
    ArtifactsThenEndThenCompletion,
    ArtifactsThenCompletion,
}

const MEMBERS: [(&str, LookedFor); 22] = [
    ("aborted", LookedFor::ArtifactsThenEnd),
    ("externalAbort", LookedFor::ArtifactsThenEnd),
    ("timedOut", LookedFor::ArtifactsThenEnd),
    ("idleTimedOut", LookedFor::ArtifactsThenEnd),
    ("timedOutDuringCompaction", LookedFor::ArtifactsThenEnd),
    ("timedOutDuringToolExecution", LookedFor::ArtifactsThenEnd),
    ("promptError", LookedFor::ArtifactsThenEndThenCompletion),
    ("promptErrorSource", LookedFor::ArtifactsThenCompletion),
    ("terminalError", LookedFor::ArtifactsThenEndThenCompletion),
    ("usage", LookedFor::ArtifactsThenCompletion),
    ("promptCache", LookedFor::ArtifactsThenCompletion),
    ("compactionCount", LookedFor::ArtifactsThenCompletion),
    ("assistantTexts", LookedFor::ArtifactsThenCompletion),
    ("finalPromptText", LookedFor::ArtifactsThenCompletion),
    ("itemLifecycle", LookedFor::Artifacts),
    ("toolMetas", LookedFor::Artifacts),
    ("didSendViaMessagingTool", LookedFor::Artifacts),
    ("successfulCronAdds", LookedFor::Artifacts),
    ("messagingToolSentTexts", LookedFor::Artifacts),
    ("messagingToolSentMediaUrls", LookedFor::Artifacts),
    ("messagingToolSentTargets", LookedFor::Artifacts),
    ("lastToolError", LookedFor::Artifacts),
];

/// Whether [`Endings::push_members`] reads this member of the payloads.
#[must_use]
pub fn is_result_member(name: &str) -> bool {
    matches!(name, "finalStatus" | "status") || MEMBERS.iter().any(|(member, _)| *member == name)
}

impl<'a> Endings<'_, 'a> {
    /// Whether no event states anything.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.artifacts.is_none() && self.completed.is_none() && self.ended.is_none()
    }

    /// Adds the result to an object, each member from the event that knows it
    /// best.
    pub fn push_members(&self, object: &mut Object<'a>) {
        let status = first_given([
            self.artifacts.and_then(|data| data.get("finalStatus")),
            self.ended.and_then(|data| data.get("status")),
        ]);
        object.push_some("finalStatus", status);
        for (name, from) in MEMBERS {
            let sources: &[Option<&Json<'a>>] = match from {
                LookedFor::Artifacts => &[self.artifacts],
                LookedFor::ArtifactsThenEnd => &[self.artifacts, self.ended],
                LookedFor::ArtifactsThenEndThenCompletion => {
                    &[self.artifacts, self.ended, self.completed]
                }
                LookedFor::ArtifactsThenCompletion => &[self.artifacts, self.completed],
            };
            let values = sources.iter().map(|data| data.and_then(|data| data.get(name)));
            object.push_some(name, first_given(values));
        }
    }
}

/// The first value that is present and not null; else the last one, which may be
/// null or missing.
fn first_given<'e, 'a: 'e>(
    values: impl IntoIterator<Item = Option<&'e Json<'a>>>,
) -> Option<Json<'a>> {
    let mut last = None;
    for value in values {
        last = value;
        if value.is_some_and(|value| !value.is_null()) {
            break;
        }
    }
    last.cloned()
}
