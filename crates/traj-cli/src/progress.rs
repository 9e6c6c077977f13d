//! A spinner for long work, on a terminal only.

use std::time::Duration;

use indicatif::ProgressBar;
use traj_export::{Progress, Stage};

use crate::output::Output;

/// Shows which step of an export is under way.
#[derive(Debug)]
pub(crate) struct StageSpinner {
    bar: Option<ProgressBar>,
}

impl StageSpinner {
    pub(crate) fn new(output: &Output) -> Self {
        let bar = output.shows_progress().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar }
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for StageSpinner {
    fn enter(&mut self, stage: Stage) {
        let Some(bar) = &self.bar else { return };
        bar.set_message(match stage {
            Stage::Index => "reading",
            Stage::Branch => "writing the branch",
            Stage::Events => "writing events",
            Stage::Recheck => "reading back",
            _ => "finishing",
        });
    }
}
