//! Asks a callback about every approval.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use traj_core::event::{ApprovalScope, Decider};
use traj_core::port::{ApprovalDecision, DenyAll, HostReply, RequestHandler, ServerRequest};

use crate::protocol::ApprovalQuestion;

/// What a person or a program decided about an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalAnswer {
    /// The decision.
    pub decision: ApprovalDecision,
    /// Who decided.
    pub by: Decider,
    /// The name of the decider, as it is recorded.
    pub name: Option<String>,
    /// Why, as it is recorded.
    pub reason: Option<String>,
    /// How long the permission lasts, as it is recorded, if the callback will also allow similar
    /// requests.
    pub scope: Option<ApprovalScope>,
}

impl ApprovalAnswer {
    /// The same answer with the name of the person.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same answer with a reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The same answer for a longer time. This only changes the record: the callback itself must
    /// allow further requests in this time.
    #[must_use]
    pub const fn lasting(mut self, scope: ApprovalScope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// The same answer, decided by something other than a person.
    #[must_use]
    pub const fn decided_by(mut self, by: Decider) -> Self {
        self.by = by;
        self
    }
}

impl From<ApprovalDecision> for ApprovalAnswer {
    /// The decision of a person.
    fn from(decision: ApprovalDecision) -> Self {
        Self { decision, by: Decider::User, name: None, reason: None, scope: None }
    }
}

type Answering = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send>>;

/// Asks a callback about every approval. Other requests, such as calls of the host's tools, go to
/// another handler.
///
/// ```
/// use codex_binding::{ApprovalAnswer, AskHandler};
/// use traj_core::port::ApprovalDecision;
///
/// let handler = AskHandler::new(|question| async move {
///     // Ask the person here. This callback knows one harmless command.
///     let is_harmless = question.subject == "git status";
///     let decision = if is_harmless { ApprovalDecision::Accept } else { ApprovalDecision::Decline };
///     ApprovalAnswer::from(decision).named("alice")
/// });
/// # let _handler = handler;
/// ```
#[derive(Clone)]
pub struct AskHandler {
    ask: Arc<dyn Fn(ApprovalQuestion) -> Answering + Send + Sync>,
    otherwise: Arc<dyn RequestHandler>,
}

impl fmt::Debug for AskHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AskHandler").field("otherwise", &self.otherwise).finish()
    }
}

impl AskHandler {
    /// Asks `ask` about approvals and declines everything else. The callback must not block; an
    /// answer that takes longer than the client's limit grants nothing.
    #[must_use]
    pub fn new<F, A>(ask: F) -> Self
    where
        F: Fn(ApprovalQuestion) -> A + Send + Sync + 'static,
        A: Future<Output = ApprovalAnswer> + Send + 'static,
    {
        Self {
            ask: Arc::new(move |question| Box::pin(ask(question))),
            otherwise: Arc::new(DenyAll::new()),
        }
    }

    /// Sends requests that are not about approval to this handler.
    #[must_use]
    pub fn otherwise(mut self, handler: Arc<dyn RequestHandler>) -> Self {
        self.otherwise = handler;
        self
    }
}

#[async_trait]
impl RequestHandler for AskHandler {
    async fn answer(&self, request: &ServerRequest) -> HostReply {
        let Some(question) = ApprovalQuestion::of(request) else {
            return self.otherwise.answer(request).await;
        };
        let answer = (self.ask)(question.clone()).await;
        let mut reply = HostReply::none().decided_by(answer.by);
        reply.answer = question.answer(answer.decision);
        reply.decider_name = answer.name;
        reply.reason = answer.reason;
        reply.scope = answer.scope;
        reply
    }
}

#[cfg(test)]
mod tests {
    use traj_core::event::ApprovalVerdict;
    use traj_core::json::Json;
    use traj_core::port::HostAnswer;

    use super::*;
    use crate::protocol::{read_request, ruling};

    async fn asked(decision: ApprovalDecision, method: &str, params: &'static str) -> HostReply {
        let handler =
            AskHandler::new(move |_| async move { ApprovalAnswer::from(decision).named("alice") });
        handler.answer(&read_request(method, Json::parse(params).unwrap())).await
    }

    #[tokio::test]
    async fn a_person_decides_and_is_named() {
        let reply =
            asked(ApprovalDecision::Accept, "item/commandExecution/requestApproval", "{}").await;
        assert_eq!(reply.answer, Some(HostAnswer::Approval(ApprovalDecision::Accept)));
        assert_eq!((reply.by, reply.decider_name.as_deref()), (Decider::User, Some("alice")));
    }

    #[tokio::test]
    async fn an_answer_for_longer_is_recorded_as_such() {
        let answer = ApprovalAnswer::from(ApprovalDecision::Accept).lasting(ApprovalScope::Turn);
        let handler = AskHandler::new(move |_| std::future::ready(answer.clone()));
        for (method, params) in [
            ("item/commandExecution/requestApproval", "{}"),
            (
                "mcpServer/elicitation/request",
                r#"{"serverName":"docs","_meta":{"codex_approval_kind":"mcp_tool_call"}}"#,
            ),
        ] {
            let request = read_request(method, Json::parse(params).unwrap());
            let ruling = ruling(request.kind, &handler.answer(&request).await);
            assert_eq!(ruling.verdict, ApprovalVerdict::Approved, "{method}");
            assert_eq!(ruling.scope, Some(ApprovalScope::Turn), "{method}");
        }
    }

    /// What was requested is granted, and no more.
    #[tokio::test]
    async fn accepting_grants_what_was_requested() {
        let (method, params) =
            ("item/permissions/requestApproval", r#"{"permissions":{"network":{"enabled":true}}}"#);
        let reply = asked(ApprovalDecision::AcceptForSession, method, params).await;
        let granted = Json::parse(r#"{"network":{"enabled":true}}"#).unwrap();
        let expected = HostAnswer::Permissions { granted, scope: ApprovalScope::Session };
        assert_eq!(reply.answer, Some(expected));
        let reply = asked(ApprovalDecision::Decline, method, params).await;
        assert_eq!((reply.answer, reply.by), (None, Decider::User));
    }

    #[tokio::test]
    async fn a_tool_call_is_not_a_question_for_a_person() {
        let reply = asked(ApprovalDecision::Accept, "item/tool/call", "{}").await;
        assert_eq!((reply.answer, reply.by), (None, Decider::Policy));
    }
}
