//! Questions of the server, and the answers to them. Nothing is granted without an explicit answer
//! of the host, and every question is answered.

use traj_core::event::ApprovalScope;
use traj_core::id::{ThreadId, TurnId};
use traj_core::json::{Json, Object};
use traj_core::port::{
    ApprovalDecision, HostAnswer, HostReply, RequestKind, ServerRequest, ToolContent, ToolOutcome,
};

use super::approval::permission_scope;

/// Parses a question. Its kind and its owner come from the method and the parameters.
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

/// The result that the model sees if nobody offers the tool.
const NO_TOOL: &str = "This tool is not available here.";

/// The answer to send. `None` if no safe answer fits, so that the server must get an error.
///
/// An answer that does not fit the question counts as no answer: nothing is granted by mistake.
pub(crate) fn answer_json(kind: RequestKind, reply: &HostReply) -> Option<Json<'static>> {
    let answer = reply.answer.as_ref();
    Some(match (kind, answer) {
        (RequestKind::ToolCall, Some(HostAnswer::Tool(outcome))) => tool_json(outcome),
        (RequestKind::ToolCall, _) => tool_json(&ToolOutcome::failed(NO_TOOL)),
        (RequestKind::Approval, Some(HostAnswer::Approval(decision))) => match decision {
            ApprovalDecision::Accept => object("decision", "accept"),
            ApprovalDecision::AcceptForSession => object("decision", "acceptForSession"),
            ApprovalDecision::Cancel => declined("cancel", reply),
            _ => declined("decline", reply),
        },
        (RequestKind::Approval, _) => declined("decline", reply),
        (RequestKind::LegacyApproval, Some(HostAnswer::Approval(decision))) => match decision {
            ApprovalDecision::Accept => object("decision", "approved"),
            ApprovalDecision::AcceptForSession => object("decision", "approved_for_session"),
            ApprovalDecision::Cancel => declined("abort", reply),
            _ => declined("denied", reply),
        },
        (RequestKind::LegacyApproval, _) => declined("denied", reply),
        (RequestKind::Permissions, answer) => {
            let (granted, scope) = match answer {
                Some(HostAnswer::Permissions { granted, scope }) => (granted.clone(), *scope),
                _ => (Object::new().into(), ApprovalScope::Turn),
            };
            let mut reply = Object::new();
            reply.push("permissions", granted);
            reply.push("scope", permission_scope(scope).as_str());
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

/// A decision that grants nothing, with its reason if there is one. Codex ignores the reason today.
fn declined(decision: &'static str, reply: &HostReply) -> Json<'static> {
    let mut object = Object::new();
    object.push("decision", decision);
    object.push_some("reason", reply.reason.clone());
    object.into()
}

fn object(name: &'static str, value: impl Into<Json<'static>>) -> Json<'static> {
    Json::Object(std::iter::once((name, value)).collect())
}

fn tool_json(outcome: &ToolOutcome) -> Json<'static> {
    let item = |kind: &'static str, name: &'static str, value: &str| {
        let mut item = Object::new();
        item.push("type", kind);
        item.push(name, value.to_owned());
        item
    };
    let items: Vec<Object<'static>> = outcome
        .content
        .iter()
        .filter_map(|content| match content {
            ToolContent::Text(text) => Some(item("inputText", "text", text)),
            ToolContent::Image(url) => Some(item("inputImage", "imageUrl", url)),
            _ => None,
        })
        .collect();
    let mut reply = Object::new();
    reply.push("contentItems", items);
    reply.push("success", outcome.success);
    reply.into()
}

fn answers_json(answers: &[(String, Vec<String>)]) -> Json<'static> {
    let members = answers.iter().map(|(id, texts)| (id.clone(), object("answers", texts.clone())));
    Json::Object(members.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: RequestKind, reply: impl Into<HostReply>) -> String {
        let answer = answer_json(kind, &reply.into());
        answer.map_or_else(|| "an error".to_owned(), |json| json.to_line())
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
            questions.iter().map(|method| line(kind_of(method), HostReply::none())).collect();
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
        let accept = ApprovalDecision::Accept;
        assert_eq!(line(RequestKind::Approval, accept), r#"{"decision":"accept"}"#);
        assert_eq!(line(RequestKind::Permissions, accept), r#"{"permissions":{},"scope":"turn"}"#);
        assert_eq!(line(RequestKind::Elicitation, accept), r#"{"action":"decline"}"#);
        let tool = ToolOutcome::succeeded("done");
        assert_eq!(line(RequestKind::Approval, tool), r#"{"decision":"decline"}"#);
    }

    #[test]
    fn a_decline_carries_its_reason() {
        let decline = HostReply::from(ApprovalDecision::Decline).because("not on a Friday");
        let expected = r#"{"decision":"decline","reason":"not on a Friday"}"#;
        assert_eq!(line(RequestKind::Approval, decline), expected);
        let accept = HostReply::from(ApprovalDecision::Accept).because("fine");
        assert_eq!(line(RequestKind::LegacyApproval, accept), r#"{"decision":"approved"}"#);
    }

    #[test]
    fn a_tool_answers_with_several_items_and_images() {
        let outcome = ToolOutcome::succeeded("two pictures")
            .and(ToolContent::Image("data:image/png;base64,AA==".to_owned()))
            .and(ToolContent::Text("the end".to_owned()));
        insta::assert_snapshot!(line(RequestKind::ToolCall, outcome), @r#"{"contentItems":[{"type":"inputText","text":"two pictures"},{"type":"inputImage","imageUrl":"data:image/png;base64,AA=="},{"type":"inputText","text":"the end"}],"success":true}"#);
    }

    #[test]
    fn the_owner_is_read_from_the_parameters() {
        let params = Json::parse(r#"{"threadId":"t","turnId":"u"}"#).unwrap();
        let request = read_request("item/tool/call", params);
        assert_eq!(request.thread.unwrap().as_str(), "t");
        assert_eq!(request.turn.unwrap().as_str(), "u");
    }
}
