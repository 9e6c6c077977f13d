//! Parameters and answers about turns.

use traj_core::binding::{ApprovalPolicy, ApprovalsReviewer};
use traj_core::id::{ThreadId, TurnId};
use traj_core::json::{Json, Object};
use traj_core::port::{AppServerError, StartTurn};

use super::thread::{PERSONALITY, tier};

pub(crate) fn turn_params(start: StartTurn) -> Json<'static> {
    let cwd = start.cwd.clone().unwrap_or_default();
    let mut params = Object::new();
    params.push("threadId", start.thread.as_str().to_owned());
    params.push("input", start.input);
    params.push_some("cwd", start.cwd);
    params.push_some("approvalPolicy", start.approval_policy.map(ApprovalPolicy::to_json));
    let reviewer = start.approvals_reviewer.map(ApprovalsReviewer::as_str);
    params.push_some("approvalsReviewer", reviewer);
    params.push_some("sandboxPolicy", start.sandbox.map(|mode| mode.turn_policy(&cwd)));
    params.push_some("model", start.model);
    params.push("personality", PERSONALITY);
    params.push_some("serviceTier", tier(start.service_tier.as_ref()));
    params.push_some("effort", start.effort.map(|effort| effort.map_or(Json::Null, Json::from)));
    params.push_some("environments", start.environments);
    params.push_some("collaborationMode", start.collaboration_mode);
    params.into()
}

pub(crate) fn steer_params(
    thread: &ThreadId,
    turn: &TurnId,
    input: Vec<Json<'static>>,
) -> Json<'static> {
    let mut params = Object::new();
    params.push("threadId", thread.as_str().to_owned());
    params.push("expectedTurnId", turn.as_str().to_owned());
    params.push("input", input);
    params.into()
}

/// The turn that was started. Only its id is required.
pub(crate) fn turn_id(method: &'static str, result: &Json<'_>) -> Result<TurnId, AppServerError> {
    let id = result.get("turn").and_then(|turn| turn.get("id")).and_then(Json::as_str);
    let missing = AppServerError::Decode { method, what: "turn.id" };
    id.and_then(|id| TurnId::parse(id).ok()).ok_or(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host's instructions determine the style, on every turn as on every thread.
    #[test]
    fn a_turn_asks_for_no_personality() {
        let start = StartTurn::new(ThreadId::parse("t").unwrap(), vec![]);
        insta::assert_snapshot!(turn_params(start).to_line(), @r#"{"threadId":"t","input":[],"personality":"none"}"#);
    }
}
