//! Reasons why a run ended early.

/// The six flags that harnesses write in `model.completed`, `trace.artifacts`
/// and `session.ended`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a literal with `..Default::default()` is the constructor"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "six independent answers, as the format has them"
)]
pub struct Interruptions {
    /// The run was stopped.
    pub aborted: bool,
    /// It was stopped from outside.
    pub external_abort: bool,
    /// It timed out.
    pub timed_out: bool,
    /// It was idle for too long.
    pub idle_timed_out: bool,
    /// It timed out while the conversation was being compacted.
    pub timed_out_during_compaction: bool,
    /// It timed out while a tool was running.
    pub timed_out_during_tool_execution: bool,
}

impl Interruptions {
    /// Names and values, in the format's order.
    pub(super) const fn members(self) -> [(&'static str, bool); 6] {
        [
            ("aborted", self.aborted),
            ("externalAbort", self.external_abort),
            ("timedOut", self.timed_out),
            ("idleTimedOut", self.idle_timed_out),
            ("timedOutDuringCompaction", self.timed_out_during_compaction),
            ("timedOutDuringToolExecution", self.timed_out_during_tool_execution),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, EventKind};
    use crate::json::Json;

    #[test]
    fn members_follow_the_others_in_order() {
        let stopped = Interruptions { aborted: true, ..Interruptions::default() };
        let event = Event::new(EventKind::ModelCompleted, None)
            .with("usage", 1_u64)
            .with_interruptions(stopped);
        insta::assert_snapshot!(
            Json::Object(event.into_data().unwrap()).to_line(),
            @r#"{"usage":1,"aborted":true,"externalAbort":false,"timedOut":false,"idleTimedOut":false,"timedOutDuringCompaction":false,"timedOutDuringToolExecution":false}"#
        );
    }
}
