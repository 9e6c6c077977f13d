//! A selection of calls: the slowest, and the first that failed.

use crate::timestamp::UnixMillis;

/// How many calls are kept in each list.
const KEPT: usize = 10;

/// A call to show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallExample {
    /// Its number among the calls of the run.
    pub number: u64,
    /// Its position among the events.
    pub seq: u64,
    /// Its id.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What it ran or worked on.
    pub command: Option<String>,
    /// The name of its outcome.
    pub outcome: &'static str,
    /// The exit code, if known.
    pub exit_code: Option<i64>,
    /// How long it took, in milliseconds.
    pub millis: Option<i64>,
    /// The last lines of the output, if it failed.
    pub output: Option<String>,
    /// When it began.
    pub started_at: Option<UnixMillis>,
    /// The position of its failure among the events.
    pub(super) failed_at: u64,
}

/// The slowest calls, and the first that failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Examples {
    pub(super) slowest: Vec<CallExample>,
    pub(super) failed: Vec<CallExample>,
}

impl Examples {
    pub(super) fn take(&mut self, call: CallExample) {
        if call.failed_at != u64::MAX {
            keep(&mut self.failed, call.clone(), |call| (call.failed_at, call.seq));
        }
        if call.millis.is_some_and(|millis| millis > 0) {
            keep(&mut self.slowest, call, |call| {
                (u64::MAX - call.millis.unwrap_or_default().unsigned_abs(), call.seq)
            });
        }
    }
}

/// Keeps the calls with the smallest keys, in order.
fn keep<K: Ord>(kept: &mut Vec<CallExample>, call: CallExample, key: impl Fn(&CallExample) -> K) {
    let at = kept.partition_point(|other| key(other) <= key(&call));
    if at < KEPT {
        kept.insert(at, call);
        kept.truncate(KEPT);
    }
}
