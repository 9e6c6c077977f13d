//! Reports an export's progress: its step, and about how many bytes are left.

use std::fmt::Debug;

use traj_core::port::{Source, SourceError};

/// The steps of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading the inputs once.
    Index,
    /// Writing the active branch and the events in one pass.
    Timeline,
    /// Writing the active branch alone, because its entries are not in order of
    /// time.
    Branch,
    /// Writing the events after the branch.
    Events,
    /// Writing the smaller files.
    SideFiles,
    /// Reading everything back.
    Recheck,
    /// Making the bundle visible.
    Commit,
}

/// Receives the progress of an export.
pub trait Progress: Debug + Sync {
    /// A step begins. About `left` bytes remain to be read in this step and the
    /// following ones. This replaces earlier estimates.
    fn enter(&self, stage: Stage, left: u64);

    /// This many more bytes were read.
    fn advance(&self, bytes: u64);
}

/// Ignores progress.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it needs no state")]
pub struct Silent;

impl Progress for Silent {
    fn enter(&self, _stage: Stage, _left: u64) {}

    fn advance(&self, _bytes: u64) {}
}

/// Estimates how many bytes an export reads, from the lengths of its inputs and
/// output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadEstimate {
    pub(crate) session: u64,
    pub(crate) runtime: u64,
    /// The bytes written; known once all files are written.
    pub(crate) written: Option<u64>,
}

impl ReadEstimate {
    /// How many bytes are left to read when a step begins.
    pub(crate) fn left_at(&self, stage: Stage) -> u64 {
        let sources = self.session.saturating_add(self.runtime);
        // A message is written twice, an event once, both a little longer.
        let written = self.written.unwrap_or_else(|| sources.saturating_mul(2));
        let steps: &[u64] = match stage {
            Stage::Index => &[sources, self.session, self.runtime, written],
            Stage::Timeline | Stage::Branch => &[self.session, self.runtime, written],
            Stage::Events => &[self.runtime, written],
            Stage::SideFiles | Stage::Recheck => &[written],
            Stage::Commit => &[],
        };
        steps.iter().fold(0, |left, step| left.saturating_add(*step))
    }
}

/// A source that reports reads as progress.
#[derive(Debug)]
pub(crate) struct Watched<'s> {
    source: &'s dyn Source,
    progress: &'s dyn Progress,
}

impl<'s> Watched<'s> {
    pub(crate) const fn new(source: &'s dyn Source, progress: &'s dyn Progress) -> Self {
        Self { source, progress }
    }
}

impl Source for Watched<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        self.source.read_exact_at(offset, buffer)?;
        self.progress.advance(buffer.len() as u64);
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), SourceError> {
        self.source.check_unchanged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_shrinks_and_is_exact_at_the_end() {
        let mut outlook = ReadEstimate { session: 100, runtime: 50, written: None };
        let left = |outlook: &ReadEstimate| {
            [Stage::Index, Stage::Branch, Stage::Events, Stage::SideFiles, Stage::Commit]
                .map(|stage| outlook.left_at(stage))
        };
        assert_eq!(left(&outlook), [600, 450, 350, 300, 0]);
        assert_eq!(outlook.left_at(Stage::Timeline), 450);
        outlook.written = Some(7);
        assert_eq!(outlook.left_at(Stage::Recheck), 7);
        outlook.session = u64::MAX;
        assert_eq!(outlook.left_at(Stage::Index), u64::MAX);
    }
}
