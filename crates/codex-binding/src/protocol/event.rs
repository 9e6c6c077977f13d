//! Parses notifications into events of a thread.

use traj_core::id::{ThreadId, TurnId};
use traj_core::json::{Json, Object};
use traj_core::port::{ItemDetail, ThreadEvent, ThreadItem, TokenUsage, TurnStatus};

/// The thread and the event of a notification; `None` if it does not belong to a thread.
pub(crate) fn read_event(method: &str, params: &Json<'_>) -> Option<(ThreadId, ThreadEvent)> {
    let text = |name: &str| params.get(name).and_then(Json::as_str);
    let turn_member = |name: &str| params.get("turn").and_then(|turn| turn.get(name));
    let thread = turn_member("threadId").and_then(Json::as_str).or_else(|| text("threadId"))?;
    let thread = ThreadId::parse(thread).ok()?;
    let turn = text("turnId").or_else(|| turn_member("id").and_then(Json::as_str));
    let turn = turn.and_then(|turn| TurnId::parse(turn).ok());
    let other = || ThreadEvent::Other { method: method.to_owned() };
    let Some(turn) = turn else { return Some((thread, other())) };
    let event = match method {
        "turn/started" => ThreadEvent::TurnStarted { turn },
        "item/started" => match params.get("item").and_then(item) {
            Some(item) => ThreadEvent::ItemStarted { turn, item },
            None => other(),
        },
        "item/completed" => match params.get("item").and_then(item) {
            Some(item) => ThreadEvent::ItemCompleted { turn, item },
            None => other(),
        },
        "item/agentMessage/delta" => ThreadEvent::MessageDelta {
            turn,
            item: text("itemId").unwrap_or("assistant").to_owned(),
            text: text("delta").unwrap_or_default().to_owned(),
        },
        "thread/tokenUsage/updated" => ThreadEvent::TokenUsage { turn, usage: usage(params) },
        "error" => {
            let will_retry = params.get("willRetry").and_then(Json::as_bool).unwrap_or(false);
            ThreadEvent::Trouble { turn, will_retry }
        }
        "turn/completed" => {
            let items = turn_member("items").and_then(Json::as_array).unwrap_or_default();
            let items = items.iter().filter_map(item).collect();
            let status = turn_member("status").and_then(Json::as_str).unwrap_or("completed");
            let status = status_of(status, turn_member("error"));
            ThreadEvent::TurnCompleted { turn, status, items }
        }
        _ => other(),
    };
    Some((thread, event))
}

fn status_of(status: &str, error: Option<&Json<'_>>) -> TurnStatus {
    match status {
        "completed" => TurnStatus::Completed,
        "interrupted" => TurnStatus::Interrupted,
        // An unknown status, from a later version, is not a success.
        _ => {
            let message = error.and_then(|error| error.get("message")).and_then(Json::as_str);
            TurnStatus::Failed { message: message.map(str::to_owned) }
        }
    }
}

fn usage(params: &Json<'_>) -> TokenUsage {
    let last = params.get("tokenUsage").and_then(|usage| usage.get("last"));
    let count = |name: &str| last.and_then(|last| last.get(name)).and_then(Json::as_u64);
    let count = |name: &str| count(name).unwrap_or(0);
    let mut usage = TokenUsage::default();
    usage.input = count("inputTokens");
    usage.cached_input = count("cachedInputTokens");
    usage.output = count("outputTokens");
    usage.reasoning = count("reasoningOutputTokens");
    usage.total = count("totalTokens");
    usage
}

fn item(value: &Json<'_>) -> Option<ThreadItem> {
    let kind = value.get("type")?.as_str()?;
    let id = value.get("id").and_then(Json::as_str).unwrap_or("assistant").to_owned();
    let text = |name: &str| value.get(name).and_then(Json::as_str);
    let status = text("status");
    let is_done = status.is_some_and(|status| status != "inProgress");
    let success = value.get("success").and_then(Json::as_bool);
    let success = success.or(is_done.then_some(status == Some("completed")));
    let tool = |name: &str, arguments: Json<'static>, output: &[&'static str]| ItemDetail::Tool {
        name: name.to_owned(),
        arguments,
        output: is_done.then(|| members(value, output)),
        success,
    };
    let detail = match kind {
        "agentMessage" => ItemDetail::AgentMessage {
            text: text("text").unwrap_or_default().to_owned(),
            phase: text("phase").map(str::to_owned),
        },
        "commandExecution" => tool(
            "exec",
            members(value, &["command", "cwd"]),
            &["aggregatedOutput", "exitCode", "status"],
        ),
        "fileChange" => tool("apply_patch", members(value, &["changes"]), &["status"]),
        "webSearch" => tool("web_search", members(value, &["query"]), &["status"]),
        "dynamicToolCall" | "mcpToolCall" => {
            let arguments = value.get("arguments").cloned().map_or(Json::Null, Json::into_owned);
            let name = text("tool").unwrap_or(kind);
            tool(name, arguments, &["contentItems", "result", "error", "status"])
        }
        other => ItemDetail::Other { kind: other.to_owned() },
    };
    Some(ThreadItem::new(id, detail))
}

/// The named members that exist and are not null.
fn members(value: &Json<'_>, names: &[&'static str]) -> Json<'static> {
    let mut object = Object::new();
    for name in names {
        let member = value.get(name).filter(|member| !matches!(member, Json::Null));
        object.push_some(*name, member.cloned().map(Json::into_owned));
    }
    object.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(method: &str, params: &str) -> Option<ThreadEvent> {
        read_event(method, &Json::parse(params).unwrap()).map(|(_, event)| event)
    }

    #[test]
    fn notifications_without_a_thread_are_ignored() {
        assert_eq!(event("account/rateLimits/updated", r#"{"rateLimits":{}}"#), None);
        assert_eq!(event("configWarning", r#"{"summary":"x"}"#), None);
    }

    #[test]
    fn an_unknown_status_is_not_a_success() {
        let text = r#"{"threadId":"t","turn":{"id":"u","status":"paused"}}"#;
        let status = TurnStatus::Failed { message: None };
        let turn = TurnId::parse("u").unwrap();
        let expected = ThreadEvent::TurnCompleted { turn, status, items: vec![] };
        assert_eq!(event("turn/completed", text), Some(expected));
    }

    #[test]
    fn tools_are_reported_with_input_and_output() {
        let text = r#"{"type":"commandExecution","id":"i","command":"ls","cwd":"/w","status":"completed","aggregatedOutput":"a","exitCode":0}"#;
        let read = item(&Json::parse(text).unwrap()).unwrap();
        let object = |text: &'static str| Json::parse(text).unwrap();
        let detail = ItemDetail::Tool {
            name: "exec".to_owned(),
            arguments: object(r#"{"command":"ls","cwd":"/w"}"#),
            output: Some(object(r#"{"aggregatedOutput":"a","exitCode":0,"status":"completed"}"#)),
            success: Some(true),
        };
        assert_eq!(read, ThreadItem::new("i".to_owned(), detail));
    }

    #[test]
    fn unknown_notifications_of_a_thread_are_passed_on_by_name() {
        let told = event("thread/future", r#"{"threadId":"t"}"#);
        assert_eq!(told, Some(ThreadEvent::Other { method: "thread/future".to_owned() }));
    }
}
