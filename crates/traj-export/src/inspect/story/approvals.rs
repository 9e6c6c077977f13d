//! A request for permission and its decision as one step.

use traj_core::run::{ApprovalFact, ApprovalOutcome, Fact, RunEvent, Taken, one_line};

use super::queue::StepHold;
use super::{SHORT, StepNotes, Story, What};

impl<S: StepNotes> Story<S> {
    pub(super) fn approval(
        &mut self,
        approval: &ApprovalFact<'_>,
        event: &RunEvent<'_>,
        taken: &Taken,
    ) {
        let Some(state) = taken.approval.filter(|_| taken.is_new) else { return };
        let decided = matches!(event.fact, Fact::ApprovalDecided(_));
        let short = |text: Option<&str>| text.map(|text| one_line(text, SHORT));
        let waited = state.millis.and_then(|millis| u64::try_from(millis).ok());
        let decision = approval.decision.map(ApprovalOutcome::as_str);
        let notes = &mut self.notes;
        if decided
            && self.queue.change(StepHold::Approval(state.number), |step| {
                notes.join(&mut step.note, event);
                if let What::Approval {
                    subject,
                    decision: answer,
                    decider,
                    reason,
                    waited_millis,
                } = &mut step.what
                {
                    *answer = decision.or(Some("decided"));
                    *waited_millis = waited;
                    *decider = approval.decider();
                    *reason = short(approval.reason.as_deref()).or(reason.take());
                    *subject = subject.take().or_else(|| short(approval.subject.as_deref()));
                }
            })
        {
            self.queue.settle(StepHold::Approval(state.number));
            return;
        }
        let what = What::Approval {
            subject: short(approval.subject.as_deref().or(approval.call)),
            decision: decision.or_else(|| decided.then_some("decided")),
            decider: approval.decider(),
            reason: short(approval.reason.as_deref()),
            waited_millis: waited,
        };
        let hold = if decided { StepHold::Nothing } else { StepHold::Approval(state.number) };
        let step = self.step(event, what);
        // The request comes before its call, whichever was written first.
        self.queue.push_before_call(approval.call, step, hold);
    }
}
