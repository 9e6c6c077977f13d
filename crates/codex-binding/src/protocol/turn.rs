//! Parameters and answers about turns.

use traj_core::binding::{
    ApprovalPolicy, ApprovalsReviewer, CollaborationMode, InputItem, SandboxMode,
};
use traj_core::id::{ThreadId, TurnId};
use traj_core::json::{Json, Object};
use traj_core::port::{AppServerError, StartTurn};

use super::thread::{PERSONALITY, tier};

pub(crate) fn turn_params(start: StartTurn) -> Json<'static> {
    let cwd = start.cwd.clone().unwrap_or_default();
    let mut params = Object::new();
    params.push("threadId", start.thread.as_str().to_owned());
    params.push("input", input_items(start.input));
    params.push_some("cwd", start.cwd);
    params.push_some("approvalPolicy", start.approval_policy.map(ApprovalPolicy::to_json));
    let reviewer = start.approvals_reviewer.map(ApprovalsReviewer::as_str);
    params.push_some("approvalsReviewer", reviewer);
    params.push_some("sandboxPolicy", start.sandbox.map(|mode| sandbox_policy(mode, cwd)));
    params.push_some("model", start.model);
    params.push("personality", PERSONALITY);
    params.push_some("serviceTier", tier(start.service_tier.as_ref()));
    params.push_some("effort", start.effort.map(|effort| effort.map_or(Json::Null, Json::from)));
    params.push_some("environments", start.environments);
    params.push_some("collaborationMode", start.collaboration_mode.map(mode_object));
    params.into()
}

fn input_items(items: Vec<InputItem>) -> Vec<Json<'static>> {
    items.into_iter().filter_map(input_item).collect()
}

fn input_item(item: InputItem) -> Option<Json<'static>> {
    let mut object = Object::new();
    match item {
        InputItem::Text(text) => {
            object.push("type", "text");
            object.push("text", text);
            object.push("text_elements", Vec::<Json<'_>>::new());
        }
        InputItem::Image(url) => {
            object.push("type", "image");
            object.push("url", url);
        }
        InputItem::LocalImage(path) => {
            object.push("type", "localImage");
            object.push("path", path);
        }
        _ => return None,
    }
    Some(object.into())
}

/// A thread takes a mode, a turn takes a policy. A mode that this version does not know is
/// read-only.
fn sandbox_policy(mode: SandboxMode, workspace: String) -> Json<'static> {
    let mut policy = Object::new();
    match mode {
        SandboxMode::DangerFullAccess => policy.push("type", "dangerFullAccess"),
        SandboxMode::WorkspaceWrite => {
            policy.push("type", "workspaceWrite");
            policy.push("writableRoots", vec![workspace]);
            policy.push("networkAccess", false);
            policy.push("excludeTmpdirEnvVar", false);
            policy.push("excludeSlashTmp", false);
        }
        _ => {
            policy.push("type", "readOnly");
            policy.push("networkAccess", false);
        }
    }
    policy.into()
}

fn mode_object(mode: CollaborationMode) -> Json<'static> {
    let or_null = |text: Option<String>| text.map_or(Json::Null, Json::from);
    let mut settings = Object::new();
    settings.push("model", mode.model);
    settings.push("reasoning_effort", or_null(mode.effort));
    settings.push("developer_instructions", or_null(mode.instructions));
    let mut object = Object::new();
    object.push("mode", "default");
    object.push("settings", settings);
    object.into()
}

pub(crate) fn steer_params(
    thread: &ThreadId,
    turn: &TurnId,
    input: Vec<InputItem>,
) -> Json<'static> {
    let mut params = Object::new();
    params.push("threadId", thread.as_str().to_owned());
    params.push("expectedTurnId", turn.as_str().to_owned());
    params.push("input", input_items(input));
    params.into()
}

/// Parameters that name a turn of a thread.
pub(crate) fn interrupt_params(thread: &ThreadId, turn: &TurnId) -> Json<'static> {
    let mut params = Object::new();
    params.push("threadId", thread.as_str().to_owned());
    params.push("turnId", turn.as_str().to_owned());
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
    use traj_core::binding::{TurnBlocks, TurnMode, TurnTrigger, decide_turn_mode};

    use super::*;

    /// The host's instructions determine the style, on every turn as on every thread.
    #[test]
    fn a_turn_asks_for_no_personality() {
        let start = StartTurn::new(ThreadId::parse("t").unwrap(), vec![]);
        insta::assert_snapshot!(turn_params(start).to_line(), @r#"{"threadId":"t","input":[],"personality":"none"}"#);
    }

    #[test]
    fn texts_and_images_are_items() {
        let items = [
            InputItem::Text("look".to_owned()),
            InputItem::Image("https://h/1".to_owned()),
            InputItem::LocalImage("/a".to_owned()),
        ];
        insta::assert_snapshot!(
            Json::from(input_items(items.into())).to_line(),
            @r#"[{"type":"text","text":"look","text_elements":[]},{"type":"image","url":"https://h/1"},{"type":"localImage","path":"/a"}]"#
        );
    }

    #[test]
    fn a_turn_takes_an_object_where_a_thread_takes_a_mode() {
        let policy = |mode| sandbox_policy(mode, "/w".to_owned()).to_line();
        insta::assert_snapshot!(
            policy(SandboxMode::WorkspaceWrite),
            @r#"{"type":"workspaceWrite","writableRoots":["/w"],"networkAccess":false,"excludeTmpdirEnvVar":false,"excludeSlashTmp":false}"#
        );
        insta::assert_snapshot!(policy(SandboxMode::ReadOnly), @r#"{"type":"readOnly","networkAccess":false}"#);
        insta::assert_snapshot!(policy(SandboxMode::DangerFullAccess), @r#"{"type":"dangerFullAccess"}"#);
    }

    /// Scenario 46: a mode without instructions ends that of an earlier turn.
    #[test]
    fn a_mode_states_what_it_leaves_out() {
        let (user, plain) = (TurnTrigger::User, TurnBlocks::default());
        let TurnMode::Send(mode) = decide_turn_mode(Some("m"), None, &user, &plain) else {
            panic!("no mode")
        };
        insta::assert_snapshot!(mode_object(mode).to_line(), @r#"{"mode":"default","settings":{"model":"m","reasoning_effort":null,"developer_instructions":null}}"#);
    }
}
