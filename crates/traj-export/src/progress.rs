//! Telling a person how far an export has come: its step, and bytes done of
//! bytes to do.

use std::fmt::Debug;

use traj_core::port::{Source, SourceError};

/// The steps of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading the inputs once.
    Index,
    /// Writing the active branch and the events, both at once.
    Timeline,
    /// Writing the active branch alone: its entries are not in order of time.
    Branch,
    /// Writing the events behind it.
    Events,
    /// Writing the smaller files.
    SideFiles,
    /// Reading everything back.
    Recheck,
    /// Making the bundle visible.
    Commit,
}

/// Hears about the progress of an export.
pub trait Progress: Debug + Sync {
    /// A step begins. About `left` bytes are still to be read, in this step and
    /// those behind it; what is said here replaces what was said before.
    fn enter(&self, stage: Stage, left: u64);

    /// So many more bytes were read.
    fn advance(&self, bytes: u64);
}

/// Progress that nobody looks at.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to add to silence")]
pub struct Silent;

impl Progress for Silent {
    fn enter(&self, _stage: Stage, _left: u64) {}

    fn advance(&self, _bytes: u64) {}
}

/// How much an export reads, from what its inputs and its output are long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outlook {
    pub(crate) session: u64,
    pub(crate) runtime: u64,
    /// The bytes written; known when all of them are.
    pub(crate) written: Option<u64>,
}

impl Outlook {
    /// What is left to read when a step begins.
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

/// A source that tells what is read of it.
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
    fn what_is_left_shrinks_step_by_step_and_is_exact_at_the_end() {
        let mut outlook = Outlook { session: 100, runtime: 50, written: None };
        let left = |outlook: &Outlook| {
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
