//! Approvals: the request and the decision, who decided, and how far the permission goes.

use super::{Event, EventKind};
use crate::json::{Json, Object};

/// Data of `approval.asked` and `approval.decided`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Approval {
    /// The thread on the app-server.
    pub thread_id: Option<String>,
    /// The turn it belongs to.
    pub turn_id: Option<String>,
    /// Distinguishes this request from others.
    pub approval_id: Option<String>,
    /// The tool call that waits for it.
    pub tool_call_id: Option<String>,
    /// What needs approval: a command, or a kind of change.
    pub subject: Option<String>,
    /// Why approval is requested.
    pub reason: Option<String>,
    /// The requested permissions, as the server spells them.
    pub permissions: Option<Json<'static>>,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalVerdict {
    /// Allowed once.
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

/// Who decided about an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decider {
    /// A person.
    User,
    /// A rule that was set up before, such as an allow-list.
    Policy,
    /// The host's program.
    Host,
    /// Nobody answered, so nothing was granted.
    Nobody,
}

impl Decider {
    /// The name used in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Policy => "policy",
            Self::Host => "host",
            Self::Nobody => "nobody",
        }
    }
}

/// How long a permission lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalScope {
    /// For this request only.
    Once,
    /// Until the turn ends.
    Turn,
    /// As long as the thread is loaded in the server.
    Session,
}

impl ApprovalScope {
    /// The name used in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }
}

/// A decision about an approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRuling {
    /// What was decided.
    pub verdict: ApprovalVerdict,
    /// Who decided.
    pub by: Decider,
    /// The name of the person or the rule.
    pub decider_name: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How long the permission lasts; `None` if nothing was granted.
    pub scope: Option<ApprovalScope>,
    /// The granted permissions, as the server spells them.
    pub permissions: Option<Json<'static>>,
}

impl ApprovalRuling {
    /// A decision without a reason. An approval holds once, or for the session.
    #[must_use]
    pub const fn new(verdict: ApprovalVerdict, by: Decider) -> Self {
        let scope = match verdict {
            ApprovalVerdict::Approved => Some(ApprovalScope::Once),
            ApprovalVerdict::ApprovedForSession => Some(ApprovalScope::Session),
            ApprovalVerdict::Denied | ApprovalVerdict::Cancelled => None,
        };
        Self { verdict, by, decider_name: None, reason: None, scope, permissions: None }
    }
}

impl Approval {
    /// The event for the request.
    #[must_use]
    pub fn asked(self) -> Event {
        Event::new(EventKind::ApprovalAsked, Some(self.data()))
    }

    /// The event for the decision. The reason and the permissions are those of the decision.
    #[must_use]
    pub fn decided(mut self, ruling: ApprovalRuling) -> Event {
        self.reason = ruling.reason;
        self.permissions = ruling.permissions;
        let mut data = self.data();
        data.push("decision", ruling.verdict.as_str());
        data.push("decidedBy", ruling.by.as_str());
        data.push_some("deciderName", ruling.decider_name);
        data.push_some("scope", ruling.scope.map(ApprovalScope::as_str));
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
        data.push_some("permissions", self.permissions);
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_names_who_allowed_what_and_for_how_long() {
        let approval = Approval {
            approval_id: Some("a".to_owned()),
            subject: Some("make test".to_owned()),
            reason: Some("outside the sandbox".to_owned()),
            ..Approval::default()
        };
        let mut ruling = ApprovalRuling::new(ApprovalVerdict::ApprovedForSession, Decider::User);
        ruling.decider_name = Some("alice".to_owned());
        let line = |event: Event| Json::Object(event.into_data().unwrap()).to_line();
        insta::assert_snapshot!(line(approval.clone().asked()), @r#"{"approvalId":"a","subject":"make test","reason":"outside the sandbox"}"#);
        insta::assert_snapshot!(line(approval.clone().decided(ruling)), @r#"{"approvalId":"a","subject":"make test","decision":"approvedForSession","decidedBy":"user","deciderName":"alice","scope":"session"}"#);
        let mut denied = ApprovalRuling::new(ApprovalVerdict::Denied, Decider::Policy);
        denied.reason = Some("not on the list".to_owned());
        insta::assert_snapshot!(line(approval.decided(denied)), @r#"{"approvalId":"a","subject":"make test","reason":"not on the list","decision":"denied","decidedBy":"policy"}"#);
    }
}
