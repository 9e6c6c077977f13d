//! The threads that a session was bound to before.
//!
//! Their ids are kept, because Codex keeps the threads: a history that was given up by mistake can
//! be attached again.

use crate::binding::BindingRecord;
use crate::id::ThreadId;
use crate::json::{Json, Object};
use crate::timestamp::UnixMillis;

/// The most former threads that a record keeps. The oldest are dropped first.
pub const MOST_FORMER_THREADS: usize = 16;

/// A thread that the session was bound to before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormerThread {
    /// The thread.
    pub thread: ThreadId,
    /// Why another thread took its place.
    pub reason: FormerReason,
    /// Turns that ended under the binding, as far as is known.
    pub turns: u64,
    /// The Codex home that the thread is in.
    pub codex_home: Option<String>,
    /// Where Codex kept the thread.
    pub rollout_path: Option<String>,
    /// When another thread took its place.
    pub replaced_at: UnixMillis,
}

/// Why another thread took the place of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormerReason {
    /// It no longer suited the configuration.
    Rotated,
    /// The server no longer had it.
    Gone,
    /// Somebody bound the session to another thread.
    Rebound,
}

impl FormerReason {
    /// The stored name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rotated => "rotated",
            Self::Gone => "gone",
            Self::Rebound => "rebound",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "rotated" => Self::Rotated,
            "gone" => Self::Gone,
            _ => Self::Rebound,
        }
    }
}

impl FormerThread {
    pub(super) fn from_json(value: &Json<'_>) -> Option<Self> {
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Some(Self {
            thread: ThreadId::parse(text("threadId")?).ok()?,
            reason: FormerReason::parse(&text("reason")?),
            turns: value.get("turns").and_then(Json::as_u64).unwrap_or(0),
            codex_home: text("codexHome"),
            rollout_path: text("rolloutPath"),
            replaced_at: UnixMillis::parse_lenient(&text("replacedAt")?)?,
        })
    }

    pub(super) fn to_json(&self) -> Json<'static> {
        let mut object = Object::new();
        object.push("threadId", self.thread.as_str().to_owned());
        object.push("reason", self.reason.as_str());
        object.push("turns", self.turns);
        object.push_some("codexHome", self.codex_home.clone());
        object.push_some("rolloutPath", self.rollout_path.clone());
        object.push("replacedAt", self.replaced_at.to_iso());
        object.into()
    }
}

impl BindingRecord {
    /// The former threads of the record that replaces this one: those of this record, and its own
    /// thread unless `successor` is the same.
    #[must_use]
    pub fn former_after(
        &self,
        successor: &ThreadId,
        reason: FormerReason,
        now: UnixMillis,
    ) -> Vec<FormerThread> {
        let own = FormerThread {
            thread: self.thread.clone(),
            reason,
            turns: self.turns,
            codex_home: self.home().map(str::to_owned),
            rollout_path: self.rollout_path.clone(),
            replaced_at: now,
        };
        let earlier = self.former_threads.iter().filter(|former| former.thread != self.thread);
        let all = earlier.cloned().chain([own]).filter(|former| former.thread != *successor);
        let mut former: Vec<FormerThread> = all.collect();
        let excess = former.len().saturating_sub(MOST_FORMER_THREADS);
        former.drain(..excess);
        former
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::BindingOrigin;

    fn record(thread: &str) -> BindingRecord {
        let thread = ThreadId::parse(thread).unwrap();
        BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH)
    }

    fn names(former: &[FormerThread]) -> Vec<&str> {
        former.iter().map(|former| former.thread.as_str()).collect()
    }

    #[test]
    fn former_threads_are_kept_once_and_the_oldest_are_dropped() {
        let mut current = record("t0");
        for number in 1..=40 {
            let mut next = record(&format!("t{number}"));
            next.former_threads =
                current.former_after(&next.thread, FormerReason::Rotated, UnixMillis::EPOCH);
            current = next;
        }
        assert_eq!(current.former_threads.len(), MOST_FORMER_THREADS);
        assert_eq!(names(&current.former_threads)[..2], ["t24", "t25"]);
        // Going back to a former thread takes it off the list.
        let back = ThreadId::parse("t30").unwrap();
        let former = current.former_after(&back, FormerReason::Rebound, UnixMillis::EPOCH);
        assert!(!names(&former).contains(&"t30"), "{former:?}");
        assert_eq!(names(&former).last(), Some(&"t40"));
    }

    #[test]
    fn the_same_thread_is_not_its_own_predecessor() {
        let record = record("t0");
        let former = record.former_after(&record.thread, FormerReason::Rebound, UnixMillis::EPOCH);
        assert_eq!(former, []);
    }
}
