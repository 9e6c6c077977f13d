//! The run that events belong to.

use crate::id::{RunId, SessionId};
use crate::json::Object;

/// The members that are the same on every line of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunContext {
    /// The recorded session; its id is also the trace id.
    pub session: SessionId,
    /// The harness's name for the conversation.
    pub session_key: Option<String>,
    /// The run within the session.
    pub run: Option<RunId>,
    /// The directory the agent works in.
    pub workspace_dir: Option<String>,
    /// The model provider.
    pub provider: Option<String>,
    /// The model.
    pub model_id: Option<String>,
    /// The API of the model.
    pub model_api: Option<String>,
}

impl RunContext {
    /// A context with only a session.
    #[must_use]
    pub const fn new(session: SessionId) -> Self {
        Self {
            session,
            session_key: None,
            run: None,
            workspace_dir: None,
            provider: None,
            model_id: None,
            model_api: None,
        }
    }

    /// The members after the sequence numbers on a line, in order.
    pub(crate) fn members(&self) -> Object<'static> {
        let mut members = Object::with_capacity(7);
        members.push("sessionId", self.session.as_str().to_owned());
        members.push_some("sessionKey", self.session_key.clone());
        members.push_some("runId", self.run.as_ref().map(|run| run.as_str().to_owned()));
        members.push_some("workspaceDir", self.workspace_dir.clone());
        members.push_some("provider", self.provider.clone());
        members.push_some("modelId", self.model_id.clone());
        members.push_some("modelApi", self.model_api.clone());
        members
    }
}
