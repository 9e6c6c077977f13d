//! Approvals: the request and the decision.

use super::{Event, EventKind};
use crate::json::Object;

/// Data of `approval.asked` and `approval.decided`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<String>,
    /// Distinguishes this question from others.
    pub approval_id: Option<String>,
    /// The call that waits for it.
    pub tool_call_id: Option<String>,
    /// What needs approval: a command, or a kind of change.
    pub subject: Option<String>,
    /// Why it is asked.
    pub reason: Option<String>,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalVerdict {
    /// Allowed this once.
    Approved,
    /// Allowed for the rest of the session.
    ApprovedForSession,
    /// Not allowed.
    Denied,
    /// Not allowed, and the turn ends.
    Cancelled,
}

impl ApprovalVerdict {
    /// The name used in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ApprovedForSession => "approvedForSession",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Approval {
    /// The event that it was asked for.
    #[must_use]
    pub fn asked(self) -> Event {
        Event::new(EventKind::ApprovalAsked, Some(self.data()))
    }

    /// The event that it was decided.
    #[must_use]
    pub fn decided(self, verdict: ApprovalVerdict) -> Event {
        let mut data = self.data();
        data.push("decision", verdict.as_str());
        Event::new(EventKind::ApprovalDecided, Some(data))
    }

    fn data(self) -> Object<'static> {
        let mut data = Object::new();
        data.push_some("threadId", self.thread_id);
        data.push_some("turnId", self.turn_id);
        data.push_some("approvalId", self.approval_id);
        data.push_some("toolCallId", self.tool_call_id);
        data.push_some("subject", self.subject);
        data.push_some("reason", self.reason);
        data
    }
}
