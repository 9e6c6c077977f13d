//! Answers questions of the server outside the driver, so that a slow host blocks nothing else.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use traj_core::json::Json;
use traj_core::port::{HostReply, RequestHandler, ServerRequest, ThreadListener};

use super::ClientOptions;
use crate::protocol::answer_json;

/// The questions that are being answered.
#[derive(Debug)]
pub(super) struct OpenQuestions {
    permits: Arc<Semaphore>,
    handler: Arc<dyn RequestHandler>,
    timeout: Duration,
    answers: mpsc::Sender<AnsweredQuestion>,
}

/// An answer to be sent to the server. The question counts as open until this is dropped.
#[derive(Debug)]
pub(super) struct AnsweredQuestion {
    pub(super) id: Json<'static>,
    pub(super) answer: Option<Json<'static>>,
    _permit: OwnedSemaphorePermit,
}

impl OpenQuestions {
    /// No questions yet, and the queue in which their answers arrive.
    pub(super) fn new(options: &ClientOptions) -> (Self, mpsc::Receiver<AnsweredQuestion>) {
        // Each answer holds its permit, so the queue is never full.
        let limit = options.open_questions.clamp(1, Semaphore::MAX_PERMITS);
        let (answers, answered) = mpsc::channel(limit);
        let questions = Self {
            permits: Arc::new(Semaphore::new(options.open_questions.min(limit))),
            handler: Arc::clone(&options.handler),
            timeout: options.profile.tool_timeout,
            answers,
        };
        (questions, answered)
    }

    /// Asks the host. Returns false if too many questions are already open.
    pub(super) fn ask(
        &self,
        id: &Json<'static>,
        request: &ServerRequest,
        listeners: Option<Vec<Arc<dyn ThreadListener>>>,
    ) -> bool {
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            listeners.iter().flatten().for_each(|listener| listener.declined(request));
            return false;
        };
        let (handler, timeout) = (Arc::clone(&self.handler), self.timeout);
        let (id, request, answers) = (id.clone(), request.clone(), self.answers.clone());
        // The task ends with the answer or at the timeout.
        drop(tokio::spawn(async move {
            let asking = ask_host(&request, listeners, handler.as_ref());
            let reply = tokio::time::timeout(timeout, asking).await;
            let answer = answer_json(request.kind, &reply.unwrap_or_else(|_| HostReply::none()));
            // Without a driver there is no server to answer.
            let _gone = answers.send(AnsweredQuestion { id, answer, _permit: permit }).await;
        }));
        true
    }
}

/// Asks the listeners of the question's thread, or the host's handler if it has no thread.
async fn ask_host(
    request: &ServerRequest,
    listeners: Option<Vec<Arc<dyn ThreadListener>>>,
    handler: &dyn RequestHandler,
) -> HostReply {
    let Some(listeners) = listeners else { return handler.answer(request).await };
    for listener in listeners {
        if let Some(reply) = listener.request(request).await {
            return reply;
        }
    }
    HostReply::none()
}
