//! What `traj ship` prints.

use serde::Serialize;
use traj_lake::{SessionShipped, SpoolState, Standing};

use crate::command::Outcome;
use crate::command_error::ErrorKind;
use crate::output::CommandOutput;
use crate::quantity::{counted, shown_size};
use crate::terminal_text::escape_control;

/// How many sessions that were not shipped are named.
const SHOWN_PROBLEMS: usize = 10;

/// The outcome of the sessions.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShipReport {
    /// The dataset.
    pub(super) dataset: String,
    /// The name of this host in it.
    pub(super) host_id: String,
    /// Whether nothing was changed, because of `--dry-run`.
    pub(super) dry_run: bool,
    /// How many sessions were looked at.
    pub(super) sessions: u64,
    /// How many of them the dataset already had in their current state.
    pub(super) unchanged: u64,
    /// How many of them were shipped.
    pub(super) shipped: u64,
    /// How many of them have events that wait until the session ends or is idle.
    pub(super) open: u64,
    /// How many of them wait on this host.
    pub(super) waiting: u64,
    /// How many were not shipped; see `problems`.
    pub(super) failed: u64,
    /// How many were removed from the dataset on purpose, and are not shipped again.
    pub(super) forgotten: u64,
    /// How many files are not sessions, or have no events.
    pub(super) skipped: u64,
    /// How many segments were stored.
    pub(super) segments: u64,
    /// How many of them replace an earlier revision.
    pub(super) revised: u64,
    /// How many bytes their files have.
    pub(super) bytes: u64,
    /// How many requests had to be repeated.
    pub(super) repeated: u64,
    /// How many waiting segments were sent.
    pub(super) sent_later: u64,
    /// What waits on this host.
    pub(super) spool: Waiting,
    /// Why the dataset cannot be reached; null if it can.
    pub(super) unreachable: Option<String>,
    /// The sessions that were not shipped.
    pub(super) problems: Vec<ShipProblem>,
    /// Whether a secret survived in a session.
    #[serde(skip)]
    pub(super) has_findings: bool,
}

/// What waits on this host.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    /// How many segments wait.
    pub(super) segments: u64,
    /// How many bytes their files have.
    pub(super) bytes: u64,
    /// How many were ever dropped because too many waited.
    pub(super) dropped: u64,
}

impl From<SpoolState> for Waiting {
    fn from(state: SpoolState) -> Self {
        let SpoolState { segments, bytes, dropped, .. } = state;
        Self { segments, bytes, dropped }
    }
}

/// A session that was not shipped.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShipProblem {
    /// Its file.
    pub(super) session_file: String,
    /// Why.
    pub(super) problem: String,
}

impl ShipReport {
    /// Adds the outcome of a session.
    pub(super) fn add(&mut self, shipped: &SessionShipped) {
        if shipped.is_forgotten {
            self.forgotten += 1;
            return;
        }
        self.open += u64::from(shipped.held > 0);
        self.waiting += u64::from(shipped.waiting > 0);
        let is_stored = shipped.stored > 0;
        self.shipped += u64::from(is_stored);
        self.unchanged += u64::from(!is_stored && shipped.held == 0 && shipped.waiting == 0);
        self.segments += shipped.stored;
        self.revised += shipped.revised;
        self.bytes += shipped.bytes;
    }

    /// Adds a session that did not change.
    pub(super) fn add_standing(&mut self, standing: Standing) {
        let is_forgotten = standing == Standing::Forgotten;
        self.forgotten += u64::from(is_forgotten);
        self.unchanged += u64::from(!is_forgotten);
    }

    /// How many sessions the dataset does not have in their current state.
    pub(super) const fn behind(&self) -> u64 {
        self.failed + self.waiting
    }

    /// What kept the dataset from being complete; `None` if it is.
    pub(super) fn first_problem(&self) -> Option<String> {
        let unreachable = self.unreachable.clone();
        unreachable.or_else(|| self.problems.first().map(|first| first.problem.clone()))
    }

    /// Whether something happened that is worth a line.
    pub(super) const fn has_news(&self) -> bool {
        self.segments + self.sent_later + self.failed + self.waiting > 0
    }

    pub(super) fn fault(&self) -> Option<ErrorKind> {
        if self.has_findings {
            return Some(ErrorKind::Findings);
        }
        let is_behind = self.behind() > 0 || self.spool.segments > 0 || self.unreachable.is_some();
        is_behind.then_some(ErrorKind::Failure)
    }

    pub(super) fn print(&self, output: &CommandOutput) -> Outcome {
        output.verdict(self, self.fault(), Self::describe)
    }

    pub(super) fn describe(&self) -> String {
        let verb = if self.dry_run { "would ship" } else { "shipped" };
        let mut lines = vec![format!(
            "{verb} {} of {}: {}, {}",
            self.shipped,
            counted(self.sessions, "session"),
            counted(self.segments, "segment"),
            shown_size(self.bytes),
        )];
        let mut add = |count: u64, what: &str| {
            if count > 0 {
                lines.push(format!("  {count} {what}"));
            }
        };
        add(self.unchanged, "unchanged");
        add(self.revised, "of the segments replace an earlier revision");
        add(self.open, "still open: their last events wait until they end or are idle");
        add(self.forgotten, "removed from the dataset on purpose");
        add(self.skipped, "skipped: no sessions, or without events");
        add(self.sent_later, "segments were sent that had waited");
        add(self.repeated, "requests had to be repeated");
        add(self.spool.segments, "segments wait on this host");
        add(self.spool.dropped, "segments were ever dropped because too many waited");
        add(self.failed, "not shipped");
        lines.extend(
            self.unreachable.iter().map(|why| format!("  cannot reach the dataset: {why}")),
        );
        let shown = self.problems.iter().take(SHOWN_PROBLEMS);
        lines.extend(
            shown.map(|problem| format!("  {}: {}", problem.session_file, problem.problem)),
        );
        lines.iter().map(|line| format!("{}\n", escape_control(line))).collect()
    }
}
