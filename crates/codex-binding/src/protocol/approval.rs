//! Requests of the server that need approval, and how they are answered.

use traj_core::event::{Approval, ApprovalRuling, ApprovalScope, ApprovalVerdict, Decider};
use traj_core::json::{Json, Object};
use traj_core::port::{ApprovalDecision, HostAnswer, HostReply, RequestKind, ServerRequest};

/// What a request for approval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalTopic {
    /// Run a command.
    Command,
    /// Change files.
    FileChange,
    /// Get more permissions in the sandbox.
    Permissions,
    /// Call a tool of an MCP server.
    McpTool,
    /// Something that this version does not know.
    Other,
}

/// A request for approval, as a person reads it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalQuestion {
    /// What it is about.
    pub topic: ApprovalTopic,
    /// The command, the MCP server, or the kind of change.
    pub subject: String,
    /// Why the server asks.
    pub reason: Option<String>,
    /// Where the command runs.
    pub directory: Option<String>,
    /// The requested permissions, as the server spells them.
    pub permissions: Option<Json<'static>>,
    /// The server's request.
    pub request: ServerRequest,
}

impl ApprovalQuestion {
    /// Reads a request; `None` if it does not ask for approval. A form of an MCP server is a
    /// request for values, not for approval.
    #[must_use]
    pub fn of(request: &ServerRequest) -> Option<Self> {
        let text = |name: &str| request.params.get(name).and_then(Json::as_str).map(str::to_owned);
        let (topic, subject) = match request.kind {
            RequestKind::Approval | RequestKind::LegacyApproval => {
                let topic = topic_of(&request.method);
                let command = request.params.get("command").and_then(command);
                (topic, command.unwrap_or_else(|| subject_of(topic, &request.method)))
            }
            RequestKind::Permissions => (ApprovalTopic::Permissions, "permissions".to_owned()),
            RequestKind::Elicitation if is_tool_approval(&request.params) => {
                (ApprovalTopic::McpTool, text("serverName")?)
            }
            _ => return None,
        };
        let permissions = match topic {
            ApprovalTopic::Permissions => request.params.get("permissions"),
            _ => request.params.get("additionalPermissions"),
        };
        let permissions = permissions.filter(|value| !matches!(value, Json::Null));
        Some(Self {
            topic,
            subject,
            reason: text("reason").or_else(|| text("message")),
            directory: text("cwd"),
            permissions: permissions.cloned().map(Json::into_owned),
            request: request.clone(),
        })
    }

    /// The answer that carries out a decision; `None` if declining needs none.
    pub(crate) fn answer(&self, decision: ApprovalDecision) -> Option<HostAnswer> {
        let is_granted =
            matches!(decision, ApprovalDecision::Accept | ApprovalDecision::AcceptForSession);
        match self.topic {
            ApprovalTopic::Permissions => is_granted.then(|| HostAnswer::Permissions {
                granted: self.permissions.clone().unwrap_or_else(|| Object::new().into()),
                scope: match decision {
                    ApprovalDecision::AcceptForSession => ApprovalScope::Session,
                    _ => ApprovalScope::Turn,
                },
            }),
            ApprovalTopic::McpTool => {
                is_granted.then(|| HostAnswer::ElicitationAccepted(Object::new().into()))
            }
            _ => Some(HostAnswer::Approval(decision)),
        }
    }
}

/// The approval that a request asks for, as it is recorded; `None` if it asks for something else.
pub(crate) fn asked_approval(request: &ServerRequest) -> Option<Approval> {
    let text = |name: &str| request.params.get(name).and_then(Json::as_str).map(str::to_owned);
    let mut approval = Approval::default();
    match ApprovalQuestion::of(request) {
        Some(question) => {
            approval.subject = Some(question.subject);
            approval.reason = question.reason;
            approval.permissions = question.permissions;
        }
        // The values of a form may contain anything, so accepting one is recorded, too.
        None if request.kind == RequestKind::Elicitation => {
            approval.subject = text("serverName").or_else(|| Some("elicitation".to_owned()));
            approval.reason = text("message");
        }
        None => return None,
    }
    let call = text("itemId").or_else(|| text("callId"));
    approval.thread_id = request.thread.as_ref().map(|thread| thread.as_str().to_owned());
    approval.turn_id = request.turn.as_ref().map(|turn| turn.as_str().to_owned());
    approval.approval_id = text("approvalId").or_else(|| call.clone());
    approval.tool_call_id = call;
    Some(approval)
}

/// The decision that the server gets. An answer that does not fit the request grants nothing, and
/// counts as decided by nobody.
pub(crate) fn ruling(kind: RequestKind, reply: &HostReply) -> ApprovalRuling {
    let mut ruling = ApprovalRuling::new(ApprovalVerdict::Denied, reply.by);
    ruling.decider_name.clone_from(&reply.decider_name);
    ruling.reason.clone_from(&reply.reason);
    // The server asks again next time; the host may have decided for longer.
    let scope = reply.scope.unwrap_or(ApprovalScope::Once);
    match (kind, &reply.answer) {
        (
            RequestKind::Approval | RequestKind::LegacyApproval,
            Some(HostAnswer::Approval(decision)),
        ) => match decision {
            ApprovalDecision::Accept => grant(&mut ruling, scope),
            ApprovalDecision::AcceptForSession => grant(&mut ruling, ApprovalScope::Session),
            ApprovalDecision::Cancel => ruling.verdict = ApprovalVerdict::Cancelled,
            _ => {}
        },
        (RequestKind::Permissions, Some(HostAnswer::Permissions { granted, scope })) => {
            if granted.as_object().is_some_and(|granted| !granted.is_empty()) {
                grant(&mut ruling, permission_scope(*scope));
                ruling.permissions = Some(granted.clone());
            }
        }
        (RequestKind::Elicitation, Some(HostAnswer::ElicitationAccepted(_))) => {
            grant(&mut ruling, scope);
        }
        (_, Some(_)) => ruling.by = Decider::Nobody,
        (_, None) => {}
    }
    ruling
}

fn grant(ruling: &mut ApprovalRuling, scope: ApprovalScope) {
    ruling.verdict = match scope {
        ApprovalScope::Session => ApprovalVerdict::ApprovedForSession,
        _ => ApprovalVerdict::Approved,
    };
    ruling.scope = Some(scope);
}

/// The scope of granted permissions: the server knows the turn and the session.
pub(super) const fn permission_scope(scope: ApprovalScope) -> ApprovalScope {
    match scope {
        ApprovalScope::Session => ApprovalScope::Session,
        _ => ApprovalScope::Turn,
    }
}

/// The words of a command that is sent as a list, which only older servers do.
pub(crate) fn command_words(params: &Json<'_>) -> Option<Vec<String>> {
    let words = params.get("command")?.as_array()?.iter();
    words.map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Whether a request asks for more than what its subject says: a root to write to, other
/// permissions, the network, or input for a process that already runs.
pub(crate) fn asks_for_more(params: &Json<'_>) -> bool {
    let members = ["grantRoot", "additionalPermissions", "networkApprovalContext"];
    let kind = params.get("kind").and_then(Json::as_str);
    kind.is_some_and(|kind| kind != "command")
        || members.iter().any(|name| params.get(name).is_some_and(|value| *value != Json::Null))
}

fn is_tool_approval(params: &Json<'_>) -> bool {
    let kind = params.get("_meta").and_then(|meta| meta.get("codex_approval_kind"));
    kind.and_then(Json::as_str) == Some("mcp_tool_call")
}

fn topic_of(method: &str) -> ApprovalTopic {
    match method {
        "item/commandExecution/requestApproval" | "execCommandApproval" => ApprovalTopic::Command,
        "item/fileChange/requestApproval" | "applyPatchApproval" => ApprovalTopic::FileChange,
        _ => ApprovalTopic::Other,
    }
}

/// A command line: a string, or a list of words in the older protocol.
fn command(value: &Json<'_>) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = value.as_array()?.iter().filter_map(Json::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The subject of a request that names no command.
fn subject_of(topic: ApprovalTopic, method: &str) -> String {
    match topic {
        ApprovalTopic::FileChange => "file change".to_owned(),
        _ => method.to_owned(),
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
    fn an_answer_that_does_not_fit_is_a_denial_by_nobody() {
        let decided = |kind, answer: HostAnswer| {
            let ruling = ruling(kind, &HostReply::from(answer).decided_by(Decider::User));
            (ruling.verdict, ruling.by, ruling.scope)
        };
        let accept = HostAnswer::Approval(ApprovalDecision::Accept);
        let once = (ApprovalVerdict::Approved, Decider::User, Some(ApprovalScope::Once));
        assert_eq!(decided(RequestKind::Approval, accept.clone()), once);
        let nobody = (ApprovalVerdict::Denied, Decider::Nobody, None);
        assert_eq!(decided(RequestKind::Permissions, accept), nobody);
        let cancel = HostAnswer::Approval(ApprovalDecision::Cancel);
        let cancelled = (ApprovalVerdict::Cancelled, Decider::User, None);
        assert_eq!(decided(RequestKind::LegacyApproval, cancel), cancelled);
        let none = ruling(RequestKind::Approval, &HostReply::none());
        assert_eq!((none.verdict, none.by), (ApprovalVerdict::Denied, Decider::Nobody));
    }

    #[test]
    fn granted_permissions_are_named_with_their_scope() {
        let requested = Json::parse(r#"{"network":{"enabled":true}}"#).unwrap();
        let answer = |granted: Json<'static>, scope| HostAnswer::Permissions { granted, scope };
        let session = answer(requested.clone(), ApprovalScope::Session);
        let ruled = ruling(RequestKind::Permissions, &session.into());
        assert_eq!(ruled.verdict, ApprovalVerdict::ApprovedForSession);
        assert_eq!(
            (ruled.scope, ruled.permissions),
            (Some(ApprovalScope::Session), Some(requested))
        );
        let nothing = answer(Object::new().into(), ApprovalScope::Turn);
        let ruled = ruling(RequestKind::Permissions, &nothing.into());
        assert_eq!((ruled.verdict, ruled.scope), (ApprovalVerdict::Denied, None));
    }

    /// A form asks for values: a person cannot accept it with a word.
    #[test]
    fn a_form_is_not_a_question_of_yes_or_no() {
        let asked = |params: &'static str| {
            let params = Json::parse(params).unwrap();
            let request = crate::protocol::read_request("mcpServer/elicitation/request", params);
            (ApprovalQuestion::of(&request).is_some(), asked_approval(&request).is_some())
        };
        assert_eq!(asked(r#"{"serverName":"s","message":"Name?"}"#), (false, true));
        let tool = r#"{"serverName":"s","_meta":{"codex_approval_kind":"mcp_tool_call"}}"#;
        assert_eq!(asked(tool), (true, true));
    }
}
