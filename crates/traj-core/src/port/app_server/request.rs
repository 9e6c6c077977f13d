//! What the app-server asks, and how it is answered. Without an explicit word of the host nothing is
//! granted, and nothing stays unanswered.

use crate::id::{ThreadId, TurnId};
use crate::json::{Json, Object};

/// A question of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerRequest {
    /// What kind of question it is.
    pub kind: RequestKind,
    /// The method, as the server spells it.
    pub method: String,
    /// The thread it belongs to.
    pub thread: Option<ThreadId>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The particulars.
    pub params: Json<'static>,
}

impl ServerRequest {
    /// A question, its kind and owner read from method and particulars.
    #[must_use]
    pub fn new(method: &str, params: Json<'static>) -> Self {
        let text = |name: &str| params.get(name).and_then(Json::as_str).map(str::to_owned);
        let thread = text("threadId").or_else(|| text("conversationId"));
        Self {
            kind: RequestKind::of(method),
            method: method.to_owned(),
            thread: thread.and_then(|text| ThreadId::parse(text).ok()),
            turn: text("turnId").and_then(|text| TurnId::parse(text).ok()),
            params,
        }
    }
}

/// What kind of question the server asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// Run a tool of the host.
    ToolCall,
    /// May a command run, may files change, or anything else that asks for approval.
    Approval,
    /// An approval in the words of older servers.
    LegacyApproval,
    /// May the sandbox be widened.
    Permissions,
    /// A question to the person.
    UserInput,
    /// A question of an MCP server, or an approval of an MCP tool.
    Elicitation,
    /// A question this version does not know.
    Unknown,
}

impl RequestKind {
    fn of(method: &str) -> Self {
        match method {
            "item/tool/call" => Self::ToolCall,
            "item/permissions/requestApproval" => Self::Permissions,
            "item/tool/requestUserInput" => Self::UserInput,
            "mcpServer/elicitation/request" => Self::Elicitation,
            "applyPatchApproval" | "execCommandApproval" => Self::LegacyApproval,
            _ if method.contains("requestApproval") => Self::Approval,
            _ => Self::Unknown,
        }
    }
}

/// The host's explicit answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HostAnswer {
    /// What a tool did.
    Tool(ToolOutcome),
    /// A decision about an approval.
    Approval(ApprovalDecision),
    /// Permissions granted for this turn, as the server spells them.
    Permissions(Json<'static>),
    /// Answers by question id.
    UserInput(Vec<(String, Vec<String>)>),
    /// The form was filled in like this.
    ElicitationAccepted(Json<'static>),
}

/// What a tool of the host did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// What the model is told.
    pub text: String,
    /// Whether it worked.
    pub success: bool,
}

impl ToolOutcome {
    /// An outcome.
    #[must_use]
    pub const fn new(text: String, success: bool) -> Self {
        Self { text, success }
    }
}

/// A decision about an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// This once.
    Accept,
    /// For the rest of the thread's life in this server.
    AcceptForSession,
    /// Not this.
    Decline,
    /// Not this, and end the turn.
    Cancel,
}

/// What the model is told when nobody offers the tool.
const NO_TOOL: &str = "This tool is not available here.";

/// The answer to send, or none when the server must get an error because nothing safe fits.
///
/// An answer that does not fit the question counts as no answer: nothing is granted by mistake.
#[must_use]
pub fn answer_json(kind: RequestKind, answer: Option<&HostAnswer>) -> Option<Json<'static>> {
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
                ApprovalDecision::Decline => "decline",
                ApprovalDecision::Cancel => "cancel",
            },
        ),
        (RequestKind::Approval, _) => object("decision", "decline"),
        (RequestKind::LegacyApproval, Some(HostAnswer::Approval(decision))) => object(
            "decision",
            match decision {
                ApprovalDecision::Accept => "approved",
                ApprovalDecision::AcceptForSession => "approved_for_session",
                ApprovalDecision::Decline => "denied",
                ApprovalDecision::Cancel => "abort",
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
        (RequestKind::Unknown, _) => return None,
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
            questions.iter().map(|method| line(RequestKind::of(method), None)).collect();
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
        let tool = HostAnswer::Tool(ToolOutcome::new("done".to_owned(), true));
        assert_eq!(line(RequestKind::Approval, Some(&tool)), r#"{"decision":"decline"}"#);
    }

    #[test]
    fn the_owner_is_read_from_the_particulars() {
        let params = Json::parse(r#"{"threadId":"t","turnId":"u"}"#).unwrap();
        let request = ServerRequest::new("item/tool/call", params);
        assert_eq!(request.thread.unwrap().as_str(), "t");
        assert_eq!(request.turn.unwrap().as_str(), "u");
    }
}
