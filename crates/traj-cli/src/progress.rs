//! A progress bar for long operations, on terminals only.

use std::sync::Once;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use traj_core::port::{BundleContent, BundleSource, BundleSourceError, BundleVisitor};
use traj_export::{Progress, Stage};

use crate::output::CommandOutput;

/// The template while the total is known.
const KNOWN: &str = "{msg:20} [{wide_bar}] {bytes} of {total_bytes}, {eta} left";
/// The template while the total is unknown.
const UNKNOWN: &str = "{spinner} {msg} {bytes}";

/// Operations shorter than this show no bar: it would only flash.
const PATIENCE: Duration = Duration::from_millis(400);

/// Shows the current step and its progress once the operation has taken a
/// while. Shows nothing without a terminal.
#[derive(Debug)]
pub(crate) struct WorkBar {
    bar: ProgressBar,
    /// The time after which the bar appears; `None` without a terminal.
    patience: Option<Duration>,
    shown: Once,
}

impl WorkBar {
    /// A bar for an export.
    pub(crate) fn new(output: &CommandOutput) -> Self {
        Self::with_line(output, KNOWN)
    }

    /// A bar for work whose end is not known.
    pub(crate) fn counting(work: &'static str, output: &CommandOutput) -> Self {
        let bar = Self::with_line(output, UNKNOWN);
        bar.bar.set_message(work);
        bar
    }

    fn with_line(output: &CommandOutput, line: &str) -> Self {
        let work = Self::hidden(output.shows_progress().then_some(PATIENCE));
        if let Ok(style) = ProgressStyle::with_template(line) {
            work.bar.set_style(style.progress_chars("=> "));
        }
        work
    }

    fn hidden(patience: Option<Duration>) -> Self {
        Self { bar: ProgressBar::hidden(), patience, shown: Once::new() }
    }

    /// Shows the bar once it is due.
    fn show_in_time(&self) {
        if self.shown.is_completed() {
            return;
        }
        if self.patience.is_some_and(|patience| self.bar.elapsed() >= patience) {
            self.shown.call_once(|| {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                self.bar.enable_steady_tick(Duration::from_millis(120));
            });
        }
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for WorkBar {
    fn drop(&mut self) {
        // The next output, perhaps an error, needs the line.
        self.finish();
    }
}

impl Progress for WorkBar {
    fn enter(&self, stage: Stage, left: u64) {
        self.bar.set_message(name(stage));
        self.bar.set_length(self.bar.position().saturating_add(left));
        self.show_in_time();
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.show_in_time();
    }
}

const fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Index => "reading",
        Stage::Timeline => "writing the timeline",
        Stage::Branch => "writing the branch",
        Stage::Events => "writing events",
        Stage::SideFiles => "writing the rest",
        Stage::Recheck => "checking",
        _ => "finishing",
    }
}

/// A bundle that reports how much of it was read.
#[derive(Debug)]
pub(crate) struct WatchedBundle<B> {
    bundle: B,
    bar: WorkBar,
}

impl<B: BundleSource> WatchedBundle<B> {
    pub(crate) fn new(bundle: B, work: &'static str, output: &CommandOutput) -> Self {
        Self { bundle, bar: WorkBar::counting(work, output) }
    }

    /// The bundle itself.
    pub(crate) const fn inner(&self) -> &B {
        &self.bundle
    }
}

impl<B: BundleSource> BundleSource for WatchedBundle<B> {
    fn visit(&self, visit: &mut BundleVisitor<'_>) -> Result<(), BundleSourceError> {
        let bar = &self.bar;
        self.bundle.visit(&mut |name, content| visit(name, &mut WatchedContent { content, bar }))
    }
}

struct WatchedContent<'c> {
    content: &'c mut dyn BundleContent,
    bar: &'c WorkBar,
}

impl BundleContent for WatchedContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
        let read = self.content.read(buffer)?;
        self.bar.advance(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_follows_the_steps_and_is_corrected_as_it_goes() {
        let work = WorkBar::hidden(None);
        let shown = || (work.bar.message(), work.bar.position(), work.bar.length());
        work.enter(Stage::Index, 4_096);
        work.advance(1_024);
        assert_eq!(shown(), ("reading".to_owned(), 1_024, Some(4_096)));
        work.enter(Stage::Recheck, 1_024);
        assert_eq!(shown(), ("checking".to_owned(), 1_024, Some(2_048)));
    }

    #[test]
    fn a_bar_is_shown_only_for_long_operations() {
        for (patience, is_shown) in
            [(None, false), (Some(Duration::MAX), false), (Some(Duration::ZERO), true)]
        {
            let entered = WorkBar::hidden(patience);
            entered.enter(Stage::Index, 1);
            let advanced = WorkBar::hidden(patience);
            advanced.advance(1);
            for work in [entered, advanced] {
                assert_eq!(work.shown.is_completed(), is_shown, "{patience:?}");
            }
        }
    }

    #[test]
    fn the_templates_are_valid() {
        for line in [KNOWN, UNKNOWN] {
            assert!(ProgressStyle::with_template(line).is_ok(), "{line}");
        }
    }
}
