//! Implements the app-server ports of the domain for the client.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use traj_core::binding::{InputItem, PastMessage};
use traj_core::id::{ThreadId, TurnId};
use traj_core::json::Json;
use traj_core::port::{
    AppServerError, ListenGuard, OpenedThread, ResumeThread, StartThread, StartTurn,
    ThreadListener, ThreadService, ThreadSummary, TurnService,
};

use super::Client;
use crate::protocol::{
    history_params, interrupt_params, method, opened_thread, past_messages, resume_params,
    start_params, steer_params, thread_params, thread_summary, turn_id, turn_params, turns_params,
};

/// Releasing a thread is optional, so it has a short timeout.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

impl Client {
    async fn request(
        &self,
        method: &'static str,
        params: Json<'static>,
    ) -> Result<Json<'static>, AppServerError> {
        self.call(method, params, self.inner.options.request_timeout).await
    }
}

#[async_trait]
impl ThreadService for Client {
    async fn start_thread(&self, start: StartThread) -> Result<OpenedThread, AppServerError> {
        let answer = self.request(method::THREAD_START, start_params(start)).await?;
        opened_thread(method::THREAD_START, &answer)
    }

    async fn resume_thread(&self, resume: ResumeThread) -> Result<OpenedThread, AppServerError> {
        let answer = self.request(method::THREAD_RESUME, resume_params(resume)).await?;
        opened_thread(method::THREAD_RESUME, &answer)
    }

    async fn read_thread(&self, thread: &ThreadId) -> Result<ThreadSummary, AppServerError> {
        const METHOD: &str = method::THREAD_READ;
        match self.request(METHOD, turns_params(thread.as_str())).await {
            Ok(result) => thread_summary(METHOD, &result),
            Err(AppServerError::Refused { .. }) => {
                // The server does not list the turns of every thread. The thread may still exist.
                let result = self.request(METHOD, thread_params(thread.as_str())).await?;
                let mut summary = thread_summary(METHOD, &result)?;
                summary.turns = None;
                Ok(summary)
            }
            Err(error) => Err(error),
        }
    }

    async fn read_history(&self, thread: &ThreadId) -> Result<Vec<PastMessage>, AppServerError> {
        let params = turns_params(thread.as_str());
        Ok(past_messages(&self.request(method::THREAD_READ, params).await?))
    }

    async fn add_history(
        &self,
        thread: &ThreadId,
        messages: Vec<PastMessage>,
    ) -> Result<(), AppServerError> {
        let params = history_params(thread, &messages);
        self.request(method::THREAD_INJECT_ITEMS, params).await.map(drop)
    }

    fn home(&self) -> Option<String> {
        self.inner.home.get().cloned()
    }

    async fn release_thread(&self, thread: &ThreadId) -> Result<(), AppServerError> {
        let params = thread_params(thread.as_str());
        self.call(method::THREAD_UNSUBSCRIBE, params, RELEASE_TIMEOUT).await.map(drop)
    }
}

#[async_trait]
impl TurnService for Client {
    fn listen(&self, thread: &ThreadId, listener: Arc<dyn ThreadListener>) -> ListenGuard {
        self.inner.routes.listen(thread, listener)
    }

    async fn start_turn(&self, start: StartTurn) -> Result<TurnId, AppServerError> {
        let answer = self.request(method::TURN_START, turn_params(start)).await?;
        turn_id(method::TURN_START, &answer)
    }

    async fn steer_turn(
        &self,
        thread: &ThreadId,
        turn: &TurnId,
        input: Vec<InputItem>,
    ) -> Result<(), AppServerError> {
        self.request(method::TURN_STEER, steer_params(thread, turn, input)).await.map(drop)
    }

    async fn interrupt_turn(&self, thread: &ThreadId, turn: &TurnId) -> Result<(), AppServerError> {
        self.request(method::TURN_INTERRUPT, interrupt_params(thread, turn)).await.map(drop)
    }
}
