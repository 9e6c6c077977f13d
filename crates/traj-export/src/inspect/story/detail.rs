//! How much of a run its reader wants to know.

use traj_core::run::RunEvent;

/// How much of a run is shown.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "readers choose each")]
pub struct StoryDetail {
    /// How much of each text steps contain.
    pub texts: TextAmount,
    /// Whether reasoning becomes a step.
    pub has_reasoning: bool,
    /// Whether everything that the run states becomes a step, also hooks and
    /// how it was set up.
    pub is_complete: bool,
}

/// How much of a text a step contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextAmount {
    /// The beginning and the end.
    Excerpt,
    /// All of it.
    Full,
    /// Nothing: the reader notes where it is.
    Nothing,
}

/// Notes what else a reader needs for each step.
pub trait StepNotes {
    /// The notes of one step.
    type Note: Default;

    /// Notes what the event states that a step begins with.
    fn begin(&mut self, event: &RunEvent<'_>) -> Self::Note;

    /// Adds what another event states about the same step: the result of a
    /// call, the decision on an approval, or another witness.
    fn join(&mut self, note: &mut Self::Note, event: &RunEvent<'_>);

    /// How many bytes of texts a note has. Steps wait in memory.
    fn bytes(_note: &Self::Note) -> usize {
        0
    }
}

/// For readers who need no notes.
impl StepNotes for () {
    type Note = ();

    fn begin(&mut self, _event: &RunEvent<'_>) {}

    fn join(&mut self, _note: &mut (), _event: &RunEvent<'_>) {}
}
