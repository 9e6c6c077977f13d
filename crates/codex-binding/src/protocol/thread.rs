//! Parameters and answers about threads.

use traj_core::binding::{ApprovalPolicy, ApprovalsReviewer, SandboxMode, ServiceTier};
use traj_core::event::ToolDefinition;
use traj_core::id::ThreadId;
use traj_core::json::{Json, Object};
use traj_core::port::{
    AppServerError, OpenedThread, ResumeThread, StartThread, ThreadSettings, ThreadSummary,
};

/// No personality, so that only the host's instructions apply.
pub(super) const PERSONALITY: &str = "none";

pub(crate) fn start_params(start: StartThread) -> Json<'static> {
    let mut params = Object::new();
    params.push("cwd", start.cwd);
    push_settings(&mut params, start.settings);
    params.push_some("serviceName", start.service_name);
    params.push_some("environments", start.environments);
    if !start.dynamic_tools.is_empty() {
        params.push("dynamicTools", start.dynamic_tools);
    }
    params.into()
}

pub(crate) fn resume_params(resume: ResumeThread) -> Json<'static> {
    let mut params = Object::new();
    params.push("threadId", resume.thread.as_str().to_owned());
    push_settings(&mut params, resume.settings);
    // Codex keeps the history; there is no need to send it back.
    params.push("excludeTurns", true);
    params.into()
}

fn push_settings(params: &mut Object<'static>, settings: ThreadSettings) {
    params.push_some("model", settings.model);
    params.push_some("modelProvider", settings.model_provider);
    params.push_some("approvalPolicy", settings.approval_policy.map(ApprovalPolicy::to_json));
    let reviewer = settings.approvals_reviewer.map(ApprovalsReviewer::as_str);
    params.push_some("approvalsReviewer", reviewer);
    params.push_some("sandbox", settings.sandbox.map(SandboxMode::as_str));
    params.push_some("serviceTier", tier(settings.service_tier.as_ref()));
    params.push("personality", PERSONALITY);
    if !settings.config.is_empty() {
        params.push("config", settings.config);
    }
    params.push_some("developerInstructions", settings.developer_instructions);
}

pub(super) fn tier(tier: Option<&ServiceTier>) -> Option<String> {
    tier.map(|tier| tier.as_str().to_owned())
}

/// A tool of the host, as threads are started with it.
pub(crate) fn tool_definition(tool: &Json<'_>) -> Option<ToolDefinition> {
    let name = tool.get("name")?.as_str()?.to_owned();
    let description = tool.get("description").and_then(Json::as_str).map(str::to_owned);
    let parameters = tool.get("inputSchema").cloned().map(Json::into_owned);
    Some(ToolDefinition { name, description, parameters })
}

/// The thread that was opened. Only its id is required.
pub(crate) fn opened_thread(
    method: &'static str,
    result: &Json<'_>,
) -> Result<OpenedThread, AppServerError> {
    let thread = result.get("thread");
    let text = |value: Option<&Json<'_>>, name: &str| {
        value.and_then(|value| value.get(name)).and_then(Json::as_str).map(str::to_owned)
    };
    let mut opened = OpenedThread::new(thread_id(method, thread)?);
    opened.cwd = text(Some(result), "cwd").or_else(|| text(thread, "cwd"));
    opened.model = text(Some(result), "model");
    opened.model_provider = text(Some(result), "modelProvider");
    opened.rollout_path = text(thread, "path");
    opened.effort = result.get("reasoningEffort").map(|effort| effort.as_str().map(str::to_owned));
    Ok(opened)
}

fn thread_id(method: &'static str, thread: Option<&Json<'_>>) -> Result<ThreadId, AppServerError> {
    // Older answers have both members, and some only the second one.
    let named = ["id", "sessionId"].iter().find_map(|name| thread?.get(name)?.as_str());
    let id = named.filter(|id| !id.trim().is_empty()).map(ThreadId::parse);
    match id {
        Some(Ok(id)) => Ok(id),
        _ => Err(AppServerError::Decode { method, what: "thread.id" }),
    }
}

/// What `thread/read` reports about a thread.
pub(crate) fn thread_summary(
    method: &'static str,
    result: &Json<'_>,
) -> Result<ThreadSummary, AppServerError> {
    let thread = result.get("thread");
    let member = |name: &str| thread.and_then(|thread| thread.get(name));
    let status = member("status").and_then(|status| status.get("type")).and_then(Json::as_str);
    let turns = member("turns").and_then(Json::as_array);
    let turns = turns.and_then(|turns| u64::try_from(turns.len()).ok());
    let is_loaded = status.is_some_and(|status| status != "notLoaded");
    let mut summary = ThreadSummary::new(thread_id(method, thread)?);
    summary.turns = turns;
    summary.is_loaded = is_loaded;
    summary.rollout_path = member("path").and_then(Json::as_str).map(str::to_owned);
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_id_is_required() {
        let read = |text: &str| opened_thread("thread/start", &Json::parse(text).unwrap());
        assert_eq!(read(r#"{"thread":{"sessionId":"t"}}"#).unwrap().thread.as_str(), "t");
        let full =
            read(r#"{"thread":{"id":"t","path":"/p"},"cwd":"/w","model":"m","new":1}"#).unwrap();
        assert_eq!((full.cwd.as_deref(), full.rollout_path.as_deref()), (Some("/w"), Some("/p")));
        for text in ["{}", r#"{"thread":{}}"#, r#"{"thread":{"id":" "}}"#, "null"] {
            assert!(matches!(read(text), Err(AppServerError::Decode { .. })), "{text}");
        }
    }

    #[test]
    fn retired_parameters_are_not_sent() {
        let mut settings = ThreadSettings::default();
        settings.sandbox = Some(SandboxMode::ReadOnly);
        let start = start_params(StartThread::new("/w".to_owned(), settings.clone()));
        insta::assert_snapshot!(start.to_line(), @r#"{"cwd":"/w","sandbox":"read-only","personality":"none"}"#);
        let resume = ResumeThread::new(ThreadId::parse("t").unwrap(), settings);
        insta::assert_snapshot!(resume_params(resume).to_line(), @r#"{"threadId":"t","sandbox":"read-only","personality":"none","excludeTurns":true}"#);
    }
}
