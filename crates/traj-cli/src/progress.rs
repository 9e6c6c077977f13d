//! A bar for long work, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use traj_core::port::{BundleContent, BundleSource, BundleSourceError, BundleVisitor};
use traj_export::{Progress, Stage};

use crate::output::Output;

/// The line while it is known how much there is to do.
const KNOWN: &str = "{msg:18} [{wide_bar}] {bytes} of {total_bytes}, {eta} left";
/// The line while it is not.
const UNKNOWN: &str = "{spinner} {msg} {bytes}";

/// Shows which step is under way and how far it has come. Where nobody looks
/// it shows nothing.
#[derive(Debug)]
pub(crate) struct WorkBar {
    bar: ProgressBar,
}

impl WorkBar {
    /// A bar for an export.
    pub(crate) fn new(output: &Output) -> Self {
        Self::with_line(output, ProgressBar::no_length(), KNOWN)
    }

    fn with_line(output: &Output, bar: ProgressBar, line: &str) -> Self {
        if !output.shows_progress() {
            return Self { bar: ProgressBar::hidden() };
        }
        if let Ok(style) = ProgressStyle::with_template(line) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for WorkBar {
    fn drop(&mut self) {
        // An error that is told next needs the line.
        self.finish();
    }
}

impl Progress for WorkBar {
    fn enter(&self, stage: Stage, left: u64) {
        self.bar.set_message(name(stage));
        self.bar.set_length(self.bar.position().saturating_add(left));
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}

const fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Index => "reading",
        Stage::Branch => "writing the branch",
        Stage::Events => "writing events",
        Stage::SideFiles => "writing the rest",
        Stage::Recheck => "checking",
        _ => "finishing",
    }
}

/// A bundle that shows how much of it was read.
#[derive(Debug)]
pub(crate) struct WatchedBundle<B> {
    bundle: B,
    bar: WorkBar,
}

impl<B: BundleSource> WatchedBundle<B> {
    pub(crate) fn new(bundle: B, output: &Output) -> Self {
        let bar = WorkBar::with_line(output, ProgressBar::new_spinner(), UNKNOWN);
        bar.bar.set_message("checking");
        Self { bundle, bar }
    }
}

impl<B: BundleSource> BundleSource for WatchedBundle<B> {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        let bar = &self.bar.bar;
        self.bundle.visit(&mut |name, content| visit(name, &mut WatchedContent { content, bar }))
    }
}

struct WatchedContent<'c> {
    content: &'c mut dyn BundleContent,
    bar: &'c ProgressBar,
}

impl BundleContent for WatchedContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let read = self.content.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_follows_the_steps_and_is_corrected_as_it_goes() {
        let work = WorkBar { bar: ProgressBar::hidden() };
        let shown = || (work.bar.message(), work.bar.position(), work.bar.length());
        work.enter(Stage::Index, 4_096);
        work.advance(1_024);
        assert_eq!(shown(), ("reading".to_owned(), 1_024, Some(4_096)));
        work.enter(Stage::Recheck, 1_024);
        assert_eq!(shown(), ("checking".to_owned(), 1_024, Some(2_048)));
    }

    #[test]
    fn the_lines_are_ones_that_can_be_drawn() {
        for line in [KNOWN, UNKNOWN] {
            assert!(ProgressStyle::with_template(line).is_ok(), "{line}");
        }
    }
}
