//! Approvals: matches decisions with their requests.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};

use super::names::short;
use super::taken::{ApprovalState, ByOrigin};
use crate::run::{ApprovalFact, ApprovalOutcome, DecidedApproval, Origin, Run, one_line};
use crate::timestamp::UnixMillis;

/// How many requests are remembered to match decisions with.
const REMEMBERED: usize = 1_024;

/// How many decisions are listed.
const LISTED: usize = 50;
/// The longest text of a decision that is listed, in characters.
const LONGEST_TEXT: usize = 200;

/// Counts a decision, and lists it unless the list is full.
pub(super) fn count_decision(run: &mut Run, approval: &ApprovalFact<'_>, seq: u64) {
    run.approvals_denied += u64::from(approval.decision == Some(ApprovalOutcome::Denied));
    if run.approvals.len() >= LISTED {
        return;
    }
    let text = |text: Option<&str>| text.map(|text| one_line(text, LONGEST_TEXT));
    run.approvals.push(DecidedApproval {
        seq,
        subject: text(approval.subject.as_deref().or(approval.call)),
        decision: approval.decision,
        decider: approval.decider().as_deref().map(short),
        scope: approval.scope.or(approval.decision.and_then(implied_scope)).map(short),
        reason: text(approval.reason.as_deref()),
    });
}

/// The scope of a decision that does not state one.
const fn implied_scope(decision: ApprovalOutcome) -> Option<&'static str> {
    match decision {
        ApprovalOutcome::ApprovedForSession => Some("session"),
        _ => None,
    }
}

/// A request for approval.
#[derive(Clone, Debug)]
struct OpenRequest {
    key: u64,
    number: u64,
    asked_at: Option<UnixMillis>,
    millis: Option<i64>,
    asked: ByOrigin<bool>,
    decided: ByOrigin<bool>,
}

impl OpenRequest {
    const fn state(&self) -> ApprovalState {
        ApprovalState { number: self.number, millis: self.millis }
    }

    const fn is_decided(&self) -> bool {
        self.decided.runtime || self.decided.transcript
    }
}

/// The approvals so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Approvals {
    requests: VecDeque<OpenRequest>,
    count: u64,
    hasher: RandomState,
}

impl Approvals {
    /// Takes a request; returns whether it is the first time that it is
    /// stated.
    pub(super) fn ask(
        &mut self,
        origin: Origin,
        approval: &ApprovalFact<'_>,
        at: Option<UnixMillis>,
    ) -> (bool, ApprovalState) {
        let key = self.key(approval);
        // The other witness states the same request. Ids may be reused.
        let is_it = |request: &OpenRequest| {
            request.key == key && !request.asked.get(origin) && !request.decided.get(origin)
        };
        let known = self.requests.iter().position(is_it);
        let place = known.unwrap_or_else(|| self.add(key, at));
        let request = &mut self.requests[place];
        *request.asked.of(origin) = true;
        (known.is_none(), request.state())
    }

    /// Takes a decision; returns whether it is the first time that it is
    /// stated.
    pub(super) fn decide(
        &mut self,
        origin: Origin,
        approval: &ApprovalFact<'_>,
        at: Option<UnixMillis>,
    ) -> (bool, ApprovalState) {
        let key = self.key(approval);
        let is_it = |request: &OpenRequest| request.key == key && !request.decided.get(origin);
        let known = self.requests.iter().position(is_it);
        let place = known.unwrap_or_else(|| self.add(key, None));
        let request = &mut self.requests[place];
        let is_first = !request.is_decided();
        *request.decided.of(origin) = true;
        if is_first && let (Some(asked), Some(at)) = (request.asked_at, at) {
            request.millis = Some(at.as_millis().saturating_sub(asked.as_millis()).max(0));
        }
        (is_first, request.state())
    }

    /// Adds a request; returns its index.
    fn add(&mut self, key: u64, asked_at: Option<UnixMillis>) -> usize {
        if self.requests.len() >= REMEMBERED {
            self.requests.pop_front();
        }
        self.count += 1;
        let (asked, decided) = (ByOrigin::default(), ByOrigin::default());
        let number = self.count;
        self.requests.push_back(OpenRequest {
            key,
            number,
            asked_at,
            millis: None,
            asked,
            decided,
        });
        self.requests.len() - 1
    }

    /// What matches a decision with its request: the id of the request, else the
    /// call, else the subject.
    fn key(&self, approval: &ApprovalFact<'_>) -> u64 {
        match (approval.id, approval.call) {
            (Some(id), _) => self.hasher.hash_one(("id", id)),
            (None, Some(call)) => self.hasher.hash_one(("call", call)),
            (None, None) => self.hasher.hash_one(("subject", approval.subject.as_deref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: Origin = Origin::Runtime;
    const TRANSCRIPT: Origin = Origin::Transcript;

    fn about(id: &str) -> ApprovalFact<'_> {
        ApprovalFact { id: Some(id), ..ApprovalFact::default() }
    }

    #[test]
    fn a_decision_belongs_to_its_request() {
        let mut approvals = Approvals::default();
        let at = |second: i64| UnixMillis::new(second * 1_000);
        let asked = |approvals: &mut Approvals, origin, id: &str, second| {
            let (is_new, state) = approvals.ask(origin, &about(id), at(second));
            (is_new, state.number)
        };
        let decided = |approvals: &mut Approvals, origin, id: &str, second| {
            let (is_new, state) = approvals.decide(origin, &about(id), at(second));
            (is_new, state.number, state.millis)
        };
        assert_eq!(asked(&mut approvals, RUNTIME, "a", 1), (true, 1));
        assert_eq!(asked(&mut approvals, RUNTIME, "b", 2), (true, 2));
        assert_eq!(asked(&mut approvals, TRANSCRIPT, "a", 2), (false, 1));
        assert_eq!(decided(&mut approvals, RUNTIME, "b", 5), (true, 2, Some(3_000)));
        assert_eq!(decided(&mut approvals, RUNTIME, "a", 4), (true, 1, Some(3_000)));
        assert_eq!(decided(&mut approvals, TRANSCRIPT, "a", 9), (false, 1, Some(3_000)));
        assert_eq!(asked(&mut approvals, RUNTIME, "a", 10), (true, 3), "the id again");
        assert_eq!(decided(&mut approvals, RUNTIME, "c", 11), (true, 4, None), "nobody asked");
    }

    #[test]
    fn memory_is_bounded() {
        let mut approvals = Approvals::default();
        for number in 0..3_000 {
            approvals.ask(RUNTIME, &about(&number.to_string()), None);
        }
        assert_eq!((approvals.requests.len(), approvals.count), (REMEMBERED, 3_000));
    }
}
