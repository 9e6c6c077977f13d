//! A thread that is ready for a turn, and how it was opened.

use traj_core::binding::{BindingRecord, CarryOver, FormerReason, RotateReason, TransientReason};
use traj_core::id::ThreadId;
use traj_core::port::ThreadSettings;
use traj_core::timestamp::UnixMillis;

/// A thread that is loaded and stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadyThread {
    /// Its record. The record of a transient thread is not stored.
    pub record: BindingRecord,
    /// How it was opened.
    pub how: HowOpened,
    /// The settings of the turn: what was asked for, else what is stored, else the runtime's.
    pub settings: ThreadSettings,
    /// The reasoning effort of the thread, as the server reports it; see
    /// [`OpenedThread::effort`](traj_core::port::OpenedThread::effort).
    pub effort: Option<Option<String>>,
    /// Components that changed although the thread was resumed, and that the policy reports. The
    /// thread keeps what it was started with.
    pub warnings: Vec<RotateReason>,
}

impl ReadyThread {
    /// The thread.
    #[must_use]
    pub const fn thread(&self) -> &ThreadId {
        &self.record.thread
    }

    /// What the person must know before they read the reply: how much of the history the model no
    /// longer sees, and which changes do not apply to the thread.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let stale = |changed: &RotateReason| {
            format!("warning: {changed} changed; the thread keeps what it started with")
        };
        self.warnings.iter().map(stale).chain(self.how.notice()).collect()
    }
}

/// How a thread was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HowOpened {
    /// The session had no thread, so a new one was started.
    Started,
    /// The stored thread was resumed with its history.
    Resumed,
    /// The stored thread no longer fits; a new one replaced it.
    Rotated {
        /// The history that the model no longer sees. Codex still has it.
        lost: LostHistory,
        /// What changed.
        reasons: Vec<RotateReason>,
    },
    /// The stored thread no longer exists; a new one replaced it.
    Replaced {
        /// The history that was lost with it.
        lost: LostHistory,
    },
    /// A thread for this turn only; the stored one is kept.
    Transient {
        /// Why the stored one was not used.
        reason: TransientReason,
    },
}

impl HowOpened {
    /// A short name for people and for machines.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Resumed => "resumed",
            Self::Rotated { .. } => "rotated",
            Self::Replaced { .. } => "replaced",
            Self::Transient { .. } => "transient",
        }
    }

    /// Why the previously stored thread became a former one.
    pub(super) const fn former_reason(&self) -> FormerReason {
        match self {
            Self::Replaced { .. } => FormerReason::Gone,
            _ => FormerReason::Rotated,
        }
    }

    /// Notes what the new thread got from the old one.
    pub(super) const fn carried(&mut self, carried: CarryOver) {
        if let Self::Rotated { lost, .. } | Self::Replaced { lost } = self {
            lost.carried = carried;
        }
    }

    /// What the person must know about the history; `None` if the model sees all of it.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        match self {
            Self::Rotated { lost, reasons } => {
                let reasons: Vec<&str> = reasons.iter().map(|reason| reason.as_str()).collect();
                Some(format!(
                    "A new thread was started, because these changed: {}. The model no longer sees \
                     {} of thread {}{}. Codex still has that thread.",
                    reasons.join(", "),
                    lost.what(),
                    lost.thread,
                    lost.carried_clause(),
                ))
            }
            Self::Replaced { lost } if lost.turns > 0 => Some(format!(
                "Codex no longer has thread {}. A new thread was started, and {} lost.",
                lost.thread,
                lost.turns_with_verb(),
            )),
            Self::Transient { reason } => Some(format!(
                "This turn ran on a thread of its own ({}), without the history of the session's \
                 thread, which is kept.",
                reason.as_str()
            )),
            _ => None,
        }
    }
}

/// What is known about a history that the model no longer sees.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostHistory {
    /// The thread.
    pub thread: ThreadId,
    /// The turns that ended on it, as far as is known. If zero, nothing was lost.
    pub turns: u64,
    /// It contained messages up to this time.
    pub covered_through: Option<UnixMillis>,
    /// The file that it was stored in.
    pub rollout_path: Option<String>,
    /// How much of it the new thread got.
    pub carried: CarryOver,
}

impl LostHistory {
    pub(super) fn of(record: &BindingRecord) -> Self {
        Self {
            thread: record.thread.clone(),
            turns: record.turns,
            covered_through: record.history_covered_through,
            rollout_path: record.rollout_path.clone(),
            carried: CarryOver::Nothing,
        }
    }

    fn what(&self) -> String {
        match self.turns {
            0 => "the history".to_owned(),
            1 => "the only turn".to_owned(),
            turns => format!("the {turns} turns"),
        }
    }

    fn turns_with_verb(&self) -> String {
        match self.turns {
            1 => "its only turn is".to_owned(),
            turns => format!("its {turns} turns are"),
        }
    }

    const fn carried_clause(&self) -> &'static str {
        match self.carried {
            CarryOver::Summary { .. } => ", but it got a summary of them",
            CarryOver::History { .. } => ", but it got their messages",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use traj_core::binding::BindingOrigin;

    use super::*;

    #[test]
    fn a_notice_says_what_the_model_no_longer_sees() {
        let thread = ThreadId::parse("t1").unwrap();
        let mut record =
            BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH);
        record.turns = 3;
        let mut lost = LostHistory::of(&record);
        let reasons = vec![RotateReason::UserMcpServers, RotateReason::DynamicTools];
        let rotated = |lost: &LostHistory| {
            HowOpened::Rotated { lost: lost.clone(), reasons: reasons.clone() }.notice().unwrap()
        };
        insta::assert_snapshot!(rotated(&lost), @"A new thread was started, because these changed: user-mcp-servers, dynamic-tools. The model no longer sees the 3 turns of thread t1. Codex still has that thread.");
        lost.carried = CarryOver::summary();
        assert!(rotated(&lost).contains("t1, but it got a summary of them."), "{}", rotated(&lost));
        lost.turns = 1;
        insta::assert_snapshot!(HowOpened::Replaced { lost: lost.clone() }.notice().unwrap(), @"Codex no longer has thread t1. A new thread was started, and its only turn is lost.");
        lost.turns = 0;
        assert_eq!(HowOpened::Replaced { lost }.notice(), None, "nothing was lost");
        assert_eq!(HowOpened::Resumed.notice(), None);
    }
}
