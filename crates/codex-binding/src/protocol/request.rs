//! Questions of the server, and the answers it gets. Without an explicit word of the host nothing is
//! granted, and nothing stays unanswered.

use traj_core::id::{ThreadId, TurnId};
use traj_core::json::{Json, Object};
use traj_core::port::{ApprovalDecision, HostAnswer, RequestKind, ServerRequest};

/// A question; its kind and its owner are read from the method and the parameters.
pub(crate) fn read_request(method: &str, params: Json<'static>) -> ServerRequest {
    let text = |name: &str| params.get(name).and_then(Json::as_str).map(str::to_owned);
    let thread = text("threadId").or_else(|| text("conversationId"));
    let turn = text("turnId");
    let mut request = ServerRequest::new(kind_of(method), method, params);
    request.thread = thread.and_then(|text| ThreadId::parse(text).ok());
    request.turn = turn.and_then(|text| TurnId::parse(text).ok());
    request
}

fn kind_of(method: &str) -> RequestKind {
    match method {
        "item/tool/call" => RequestKind::ToolCall,
        "item/permissions/requestApproval" => RequestKind::Permissions,
        "item/tool/requestUserInput" => RequestKind::UserInput,
        "mcpServer/elicitation/request" => RequestKind::Elicitation,
        "applyPatchApproval" | "execCommandApproval" => RequestKind::LegacyApproval,
        _ if method.contains("requestApproval") => RequestKind::Approval,
        _ => RequestKind::Unknown,
    }
}

/// What the model sees when nobody offers the tool.
const NO_TOOL: &str = "This tool is not available here.";

/// The answer to send, or none when the server must get an error because nothing safe fits.
///
/// An answer that does not fit the question counts as no answer: nothing is granted by mistake.
pub(crate) fn answer_json(kind: RequestKind, answer: Option<&HostAnswer>) -> Option<Json<'static>> {
    Some(match (kind, answer) {
        (RequestKind::ToolCall, Some(HostAnswer::Tool(outcome))) => {
            tool_json(&outcome.text, outcome.success)
        }
        (RequestKind::ToolCall, _) => tool_json(NO_TOOL, false),
        (RequestKind::Approval, Some(HostAnswer::Approval(decision))) => object(
            "decision",
            match decision {
                ApprovalDecision::Accept => "accept",
                ApprovalDecision::AcceptForSession => "acceptForSession",
                ApprovalDecision::Cancel => "cancel",
                _ => "decline",
            },
        ),
        (RequestKind::Approval, _) => object("decision", "decline"),
        (RequestKind::LegacyApproval, Some(HostAnswer::Approval(decision))) => object(
            "decision",
            match decision {
                ApprovalDecision::Accept => "approved",
                ApprovalDecision::AcceptForSession => "approved_for_session",
                ApprovalDecision::Cancel => "abort",
                _ => "denied",
            },
        ),
        (RequestKind::LegacyApproval, _) => object("decision", "denied"),
        (RequestKind::Permissions, answer) => {
            let granted = match answer {
                Some(HostAnswer::Permissions(granted)) => granted.clone(),
                _ => Object::new().into(),
            };
            let mut reply = Object::new();
            reply.push("permissions", granted);
            reply.push("scope", "turn");
            reply.into()
        }
        (RequestKind::UserInput, answer) => object(
            "answers",
            match answer {
                Some(HostAnswer::UserInput(answers)) => answers_json(answers),
                _ => Object::new().into(),
            },
        ),
        (RequestKind::Elicitation, Some(HostAnswer::ElicitationAccepted(content))) => {
            let mut reply = Object::new();
            reply.push("action", "accept");
            reply.push("content", content.clone());
            reply.into()
        }
        (RequestKind::Elicitation, _) => object("action", "decline"),
        _ => return None,
    })
}

fn object(name: &'static str, value: impl Into<Json<'static>>) -> Json<'static> {
    Json::Object(std::iter::once((name, value)).collect())
}

fn tool_json(text: &str, success: bool) -> Json<'static> {
    let mut content = Object::new();
    content.push("type", "inputText");
    content.push("text", text.to_owned());
    let mut reply = Object::new();
    reply.push("contentItems", vec![content]);
    reply.push("success", success);
    reply.into()
}

fn answers_json(answers: &[(String, Vec<String>)]) -> Json<'static> {
    let members = answers.iter().map(|(id, texts)| (id.clone(), object("answers", texts.clone())));
    Json::Object(members.collect())
}

#[cfg(test)]
mod tests {
    use traj_core::port::ToolOutcome;

    use super::*;

    fn line(kind: RequestKind, answer: Option<&HostAnswer>) -> String {
        answer_json(kind, answer).map_or_else(|| "an error".to_owned(), |json| json.to_line())
    }

    /// Scenario 76: every question is answered, and nothing is granted.
    #[test]
    fn without_a_host_nothing_is_granted() {
        let questions = [
            "item/tool/call",
            "item/commandExecution/requestApproval",
            "item/fileChange/requestApproval",
            "item/future/requestApproval",
            "item/permissions/requestApproval",
            "item/tool/requestUserInput",
            "mcpServer/elicitation/request",
            "applyPatchApproval",
            "account/chatgptAuthTokens/refresh",
        ];
        let answers: Vec<String> =
            questions.iter().map(|method| line(kind_of(method), None)).collect();
        insta::assert_snapshot!(answers.join("\n"), @r#"
        {"contentItems":[{"type":"inputText","text":"This tool is not available here."}],"success":false}
        {"decision":"decline"}
        {"decision":"decline"}
        {"decision":"decline"}
        {"permissions":{},"scope":"turn"}
        {"answers":{}}
        {"action":"decline"}
        {"decision":"denied"}
        an error
        "#);
    }

    #[test]
    fn an_answer_to_another_question_grants_nothing() {
        let accept = HostAnswer::Approval(ApprovalDecision::Accept);
        assert_eq!(line(RequestKind::Approval, Some(&accept)), r#"{"decision":"accept"}"#);
        assert_eq!(
            line(RequestKind::Permissions, Some(&accept)),
            r#"{"permissions":{},"scope":"turn"}"#
        );
        assert_eq!(line(RequestKind::Elicitation, Some(&accept)), r#"{"action":"decline"}"#);
        let tool = HostAnswer::Tool(ToolOutcome::succeeded("done".to_owned()));
        assert_eq!(line(RequestKind::Approval, Some(&tool)), r#"{"decision":"decline"}"#);
    }

    #[test]
    fn the_owner_is_read_from_the_particulars() {
        let params = Json::parse(r#"{"threadId":"t","turnId":"u"}"#).unwrap();
        let request = read_request("item/tool/call", params);
        assert_eq!(request.thread.unwrap().as_str(), "t");
        assert_eq!(request.turn.unwrap().as_str(), "u");
    }
}
