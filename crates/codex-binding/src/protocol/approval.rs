//! Questions of the server that ask for leave, and what the host said to them.

use traj_core::event::{Approval, ApprovalVerdict};
use traj_core::json::Json;
use traj_core::port::{ApprovalDecision, HostAnswer, RequestKind, ServerRequest};

/// What a question asks leave for; `None` when it asks for something else.
pub(crate) fn asked_approval(request: &ServerRequest) -> Option<Approval> {
    let text = |name: &str| request.params.get(name).and_then(Json::as_str).map(str::to_owned);
    let call = text("itemId").or_else(|| text("callId"));
    let mut approval = Approval::default();
    approval.subject = match request.kind {
        RequestKind::Approval | RequestKind::LegacyApproval => {
            let command = request.params.get("command").and_then(command);
            command.or_else(|| Some(subject_of(&request.method).to_owned()))
        }
        RequestKind::Permissions => Some("permissions".to_owned()),
        RequestKind::Elicitation => text("serverName").or_else(|| Some("elicitation".to_owned())),
        _ => return None,
    };
    approval.thread_id = request.thread.as_ref().map(|thread| thread.as_str().to_owned());
    approval.turn_id = request.turn.as_ref().map(|turn| turn.as_str().to_owned());
    approval.approval_id = text("approvalId").or_else(|| call.clone());
    approval.tool_call_id = call;
    approval.reason = text("reason").or_else(|| text("message"));
    Some(approval)
}

/// What the server is told, whatever the host meant: an answer that does not
/// fit the question grants nothing.
pub(crate) fn verdict(kind: RequestKind, answer: Option<&HostAnswer>) -> ApprovalVerdict {
    match (kind, answer) {
        (
            RequestKind::Approval | RequestKind::LegacyApproval,
            Some(HostAnswer::Approval(decision)),
        ) => match decision {
            ApprovalDecision::Accept => ApprovalVerdict::Approved,
            ApprovalDecision::AcceptForSession => ApprovalVerdict::ApprovedForSession,
            ApprovalDecision::Cancel => ApprovalVerdict::Cancelled,
            _ => ApprovalVerdict::Denied,
        },
        (RequestKind::Permissions, Some(HostAnswer::Permissions(_)))
        | (RequestKind::Elicitation, Some(HostAnswer::ElicitationAccepted(_))) => {
            ApprovalVerdict::Approved
        }
        _ => ApprovalVerdict::Denied,
    }
}

/// A command as it was typed: a text, or its words in the older protocol.
fn command(value: &Json<'_>) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = value.as_array()?.iter().filter_map(Json::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// What a question is about that names no command.
fn subject_of(method: &str) -> &str {
    match method {
        "applyPatchApproval" | "item/fileChange/requestApproval" => "file change",
        method => method,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, params: &'static str) -> Option<Approval> {
        asked_approval(&crate::protocol::read_request(method, Json::parse(params).unwrap()))
    }

    #[test]
    fn questions_of_both_protocols_say_what_they_are_about() {
        let command = asked(
            "item/commandExecution/requestApproval",
            r#"{"threadId":"t","turnId":"u","itemId":"c","command":"make test","reason":"why"}"#,
        )
        .unwrap();
        assert_eq!(command.subject.as_deref(), Some("make test"));
        assert_eq!(command.tool_call_id.as_deref(), Some("c"));
        assert_eq!(command.reason.as_deref(), Some("why"));
        assert_eq!(command.turn_id.as_deref(), Some("u"));
        let old = asked("execCommandApproval", r#"{"callId":"c","command":["make","test"]}"#);
        assert_eq!(old.unwrap().subject.as_deref(), Some("make test"));
        let patch = asked("item/fileChange/requestApproval", r#"{"itemId":"c"}"#);
        assert_eq!(patch.unwrap().subject.as_deref(), Some("file change"));
        assert_eq!(asked("item/tool/call", "{}"), None);
        assert_eq!(asked("item/tool/requestUserInput", "{}"), None);
    }

    #[test]
    fn what_does_not_fit_is_a_denial() {
        let accept = HostAnswer::Approval(ApprovalDecision::Accept);
        assert_eq!(verdict(RequestKind::Approval, Some(&accept)), ApprovalVerdict::Approved);
        assert_eq!(verdict(RequestKind::Approval, None), ApprovalVerdict::Denied);
        assert_eq!(verdict(RequestKind::Permissions, Some(&accept)), ApprovalVerdict::Denied);
        let cancel = HostAnswer::Approval(ApprovalDecision::Cancel);
        assert_eq!(verdict(RequestKind::LegacyApproval, Some(&cancel)), ApprovalVerdict::Cancelled);
    }
}
