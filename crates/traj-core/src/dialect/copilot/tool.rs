//! Tools: calls, results and approvals.

use std::borrow::Cow;

use super::super::result::error_in;
use super::super::{said, text};
use crate::json::Json;
use crate::run::{
    ApprovalFact, ApprovalOutcome, Arguments, Content, Failure, Outcome, ToolCallFact,
    ToolResultFact,
};

/// A call: as the model requested it, or as it began.
pub(super) fn call<'r>(data: &'r Json<'r>) -> ToolCallFact<'r> {
    let name = said(data, "toolName").or_else(|| said(data, "name")).unwrap_or("tool");
    let arguments = Arguments::of(data.get("arguments"));
    ToolCallFact { id: said(data, "toolCallId"), name, arguments }
}

/// A call that ended.
pub(super) fn result<'r>(data: &'r Json<'r>) -> ToolResultFact<'r> {
    let result = data.get("result");
    let members = ["content", "contents", "detailedContent"];
    let returned = result.and_then(|result| members.iter().find_map(|name| result.get(name)));
    let failure = data.get("error").and_then(|error| error.get("message"));
    ToolResultFact {
        id: said(data, "toolCallId"),
        name: None,
        outcome: outcome(data),
        content: Content::of(returned.or(failure)),
        duration: None,
        is_truncated: false,
    }
}

/// The outcome of a call or a hook. A command that exits with another code than 0
/// is recorded as a success.
pub(super) fn outcome<'r>(data: &'r Json<'r>) -> Outcome<'r> {
    let shell = data.get("shellExecution");
    let code = shell.and_then(|shell| shell.get("exitCode")).and_then(Json::as_i64);
    if let Some(code) = code.filter(|code| *code != 0) {
        return Outcome::Failed(Failure::exit(code));
    }
    if !super::is_failed(data) {
        return Outcome::Ok;
    }
    let error = data.get("error");
    let stated = error.and_then(|error| text(error, "code")).and_then(super::outcome_of_code);
    stated.unwrap_or_else(|| {
        let error = error.and_then(error_in);
        Outcome::Failed(Failure { error, ..Failure::default() })
    })
}

/// A request for permission.
pub(super) fn asked<'r>(data: &'r Json<'r>) -> ApprovalFact<'r> {
    let request = data.get("permissionRequest").unwrap_or(&Json::Null);
    let subjects = ["fullCommandText", "fileName", "path", "url", "toolName", "name", "operation"];
    ApprovalFact {
        id: said(data, "requestId"),
        call: said(request, "toolCallId"),
        subject: subjects.iter().find_map(|name| said(request, name)).map(Cow::Borrowed),
        reason: said(request, "intention").map(Cow::Borrowed),
        ..ApprovalFact::default()
    }
}

/// A decision. Its kind names how long it lasts, or who denied it.
pub(super) fn decided<'r>(data: &'r Json<'r>) -> ApprovalFact<'r> {
    let result = data.get("result").unwrap_or(&Json::Null);
    let kind = said(result, "kind").or_else(|| result.as_str()).unwrap_or_default();
    let decision = match kind {
        "approved" => ApprovalOutcome::Approved,
        kind if kind.starts_with("approved") => ApprovalOutcome::ApprovedForSession,
        kind if kind.starts_with("denied") => ApprovalOutcome::Denied,
        _ => ApprovalOutcome::Cancelled,
    };
    let decided_by = if kind.contains("interactively") || kind.contains("by-user") {
        Some("user")
    } else if kind.contains("rules") || kind.contains("policy") || kind.contains("hook") {
        Some("policy")
    } else {
        None
    };
    ApprovalFact {
        id: said(data, "requestId"),
        call: said(data, "toolCallId"),
        decision: Some(decision),
        reason: ["reason", "message", "feedback"]
            .iter()
            .find_map(|name| said(result, name))
            .map(Cow::Borrowed),
        decided_by,
        ..ApprovalFact::default()
    }
}
