//! How a run ended, out of the three events that tell it.

use crate::json::{Json, Object};

/// The particulars of the last events that tell how a run ended.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "three events tell it, by name")]
pub struct Endings<'e, 'a> {
    /// Of what the run produced.
    pub artifacts: Option<&'e Json<'a>>,
    /// Of the model's last answer.
    pub completed: Option<&'e Json<'a>>,
    /// Of the run's end.
    pub ended: Option<&'e Json<'a>>,
}

/// Where the value of a member is looked for, in order.
#[derive(Clone, Copy)]
enum From {
    Artifacts,
    ArtifactsThenEnd,
    ArtifactsThenEndThenCompletion,
    ArtifactsThenCompletion,
}

const MEMBERS: [(&str, From); 22] = [
    ("aborted", From::ArtifactsThenEnd),
    ("externalAbort", From::ArtifactsThenEnd),
    ("timedOut", From::ArtifactsThenEnd),
    ("idleTimedOut", From::ArtifactsThenEnd),
    ("timedOutDuringCompaction", From::ArtifactsThenEnd),
    ("timedOutDuringToolExecution", From::ArtifactsThenEnd),
    ("promptError", From::ArtifactsThenEndThenCompletion),
    ("promptErrorSource", From::ArtifactsThenCompletion),
    ("terminalError", From::ArtifactsThenEndThenCompletion),
    ("usage", From::ArtifactsThenCompletion),
    ("promptCache", From::ArtifactsThenCompletion),
    ("compactionCount", From::ArtifactsThenCompletion),
    ("assistantTexts", From::ArtifactsThenCompletion),
    ("finalPromptText", From::ArtifactsThenCompletion),
    ("itemLifecycle", From::Artifacts),
    ("toolMetas", From::Artifacts),
    ("didSendViaMessagingTool", From::Artifacts),
    ("successfulCronAdds", From::Artifacts),
    ("messagingToolSentTexts", From::Artifacts),
    ("messagingToolSentMediaUrls", From::Artifacts),
    ("messagingToolSentTargets", From::Artifacts),
    ("lastToolError", From::Artifacts),
];

/// Whether a member of their particulars is one that [`Endings::push_members`]
/// reads.
#[must_use]
pub fn is_result_member(name: &str) -> bool {
    matches!(name, "finalStatus" | "status") || MEMBERS.iter().any(|(member, _)| *member == name)
}

impl<'a> Endings<'_, 'a> {
    /// Whether no event tells anything.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.artifacts.is_none() && self.completed.is_none() && self.ended.is_none()
    }

    /// Adds what they tell to an object, each member from the event that knows
    /// it best.
    pub fn push_members(&self, object: &mut Object<'a>) {
        let status = first_given([
            self.artifacts.and_then(|data| data.get("finalStatus")),
            self.ended.and_then(|data| data.get("status")),
        ]);
        object.push_some("finalStatus", status);
        for (name, from) in MEMBERS {
            let sources: &[Option<&Json<'a>>] = match from {
                From::Artifacts => &[self.artifacts],
                From::ArtifactsThenEnd => &[self.artifacts, self.ended],
                From::ArtifactsThenEndThenCompletion => {
                    &[self.artifacts, self.ended, self.completed]
                }
                From::ArtifactsThenCompletion => &[self.artifacts, self.completed],
            };
            let values = sources.iter().map(|data| data.and_then(|data| data.get(name)));
            object.push_some(name, first_given(values));
        }
    }
}

/// The first value that is there and not null; else the last one, if it is
/// there at all.
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
