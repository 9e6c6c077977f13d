//! Telling a person how far an export has come.

/// The steps of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading the inputs once.
    Index,
    /// Writing the active branch.
    Branch,
    /// Writing the events.
    Events,
    /// Writing the smaller files.
    SideFiles,
    /// Reading everything back.
    Recheck,
    /// Making the bundle visible.
    Commit,
}

/// Hears about the progress of an export.
pub trait Progress {
    /// A step begins.
    fn enter(&mut self, stage: Stage);
}

/// Progress that nobody looks at.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to add to silence")]
pub struct Silent;

impl Progress for Silent {
    fn enter(&mut self, _stage: Stage) {}
}
