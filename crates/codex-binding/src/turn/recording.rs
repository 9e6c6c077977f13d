//! A bound turn as events of a run, so that an export explains it from beginning to end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use traj_core::event::{
    Approval, ContextCompiled, ModelCompleted, PromptSubmitted, RunStatus, SessionEnded,
    SessionStarted, ToolCall, ToolDefinition, ToolResult,
};
use traj_core::id::{ThreadId, TurnId};
use traj_core::json::{Json, Object};
use traj_core::port::{
    AppServerError, EventSink, HostReply, ItemDetail, RequestKind, ServerRequest, ThreadEvent,
    ThreadItem, TokenUsage,
};

use crate::protocol::{asked_approval, ruling, tool_definition};

use super::{StopCause, TurnError, TurnOutcome, TurnReport};

/// The facts that are recorded about a turn besides its events.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TurnFacts {
    /// Why it runs.
    pub trigger: Option<String>,
    /// The session file.
    pub session_file: Option<String>,
    /// The directory that the agent works in.
    pub workspace: Option<String>,
    /// The credential profile, by name.
    pub auth_profile: Option<String>,
    /// The developer instructions.
    pub instructions: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// The number of images.
    pub images: u64,
    /// Tools of the host.
    pub tools: Vec<Json<'static>>,
}

impl TurnFacts {
    /// A turn with this prompt.
    #[must_use]
    pub fn new(prompt: &str) -> Self {
        Self { prompt: prompt.to_owned(), ..Self::default() }
    }

    /// Records the beginning, and returns the recorder for the rest.
    pub(super) fn recorder(&self, thread: &ThreadId, sink: &Arc<dyn EventSink>) -> TurnRecorder {
        sink.record(self.started(Some(thread)).event());
        let tools: Vec<ToolDefinition> = self.tools.iter().filter_map(tool_definition).collect();
        let compiled = ContextCompiled {
            system_prompt: self.instructions.clone(),
            prompt: Some(self.prompt.clone()),
            tools: Some(tools),
            images_count: self.images,
            ..ContextCompiled::default()
        };
        sink.record(compiled.event());
        TurnRecorder {
            sink: Arc::clone(sink),
            thread: thread.as_str().to_owned(),
            prompt: self.prompt.clone(),
            images: self.images,
            open: Mutex::default(),
            texts: Mutex::default(),
            approvals: Mutex::default(),
        }
    }

    /// Records a run that ended before its turn could begin.
    pub(crate) fn never_began(
        &self,
        sink: &Arc<dyn EventSink>,
        stopped: Option<StopCause>,
        error: &dyn std::error::Error,
    ) {
        sink.record(self.started(None).event());
        let aborted = stopped == Some(StopCause::Cancelled);
        let ended = SessionEnded {
            status: if aborted { RunStatus::Interrupted } else { RunStatus::Error },
            thread_id: None,
            turn_id: None,
            timed_out: stopped == Some(StopCause::TimedOut),
            aborted,
            prompt_error: Some(error.to_string()),
        };
        sink.record(ended.event());
    }

    fn started(&self, thread: Option<&ThreadId>) -> SessionStarted {
        SessionStarted {
            trigger: self.trigger.clone(),
            session_file: self.session_file.clone(),
            thread_id: thread.map(|thread| thread.as_str().to_owned()),
            auth_profile_id: self.auth_profile.clone(),
            workspace_dir: self.workspace.clone(),
            client_tool_count: u64::try_from(self.tools.len()).ok(),
            ..SessionStarted::default()
        }
    }
}

/// Records one turn.
#[derive(Debug)]
pub(super) struct TurnRecorder {
    sink: Arc<dyn EventSink>,
    thread: String,
    prompt: String,
    images: u64,
    /// Tools that began and have not ended. Some never end.
    open: Mutex<BTreeMap<String, String>>,
    texts: Mutex<Vec<String>>,
    approvals: Mutex<OpenApprovals>,
}

/// The requests for approval that wait for a decision, in order.
#[derive(Debug, Default)]
struct OpenApprovals {
    asked: u64,
    waiting: BTreeMap<u64, (RequestKind, Approval)>,
}

impl TurnRecorder {
    pub(super) fn started(&self, turn: &TurnId) {
        let submitted = PromptSubmitted {
            thread_id: Some(self.thread.clone()),
            turn_id: Some(turn.as_str().to_owned()),
            prompt: self.prompt.clone(),
            images_count: self.images,
            ..PromptSubmitted::default()
        };
        self.sink.record(submitted.event());
    }

    pub(super) fn event(&self, event: &ThreadEvent) {
        match event {
            ThreadEvent::ItemStarted { turn, item } => self.tool(turn, item),
            ThreadEvent::ItemCompleted { turn, item } => {
                if let ItemDetail::AgentMessage { text, .. } = &item.detail {
                    let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
                    texts.push(text.clone());
                }
                self.tool(turn, item);
            }
            _ => {}
        }
    }

    /// Records the beginning and the end of a tool once each, whichever events arrive.
    fn tool(&self, turn: &TurnId, item: &ThreadItem) {
        let ItemDetail::Tool { name, arguments, output, success } = &item.detail else { return };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.insert(item.id.clone(), name.clone()).is_none() {
            let mut call =
                ToolCall::new(item.id.clone(), name.clone()).arguments(arguments.clone());
            call.thread_id = Some(self.thread.clone());
            call.turn_id = Some(turn.as_str().to_owned());
            call.item_id = Some(item.id.clone());
            self.sink.record(call.event());
        }
        if let Some(output) = output {
            open.remove(&item.id);
            let mut result = ToolResult::new(item.id.clone(), name.clone(), output.clone());
            result.success = success.unwrap_or(false);
            result.thread_id = Some(self.thread.clone());
            result.turn_id = Some(turn.as_str().to_owned());
            result.item_id = Some(item.id.clone());
            self.sink.record(result.event());
        }
    }

    /// Records a request if it is for an approval, and returns its number.
    pub(super) fn asked(&self, request: &ServerRequest) -> Option<u64> {
        let approval = asked_approval(request)?;
        self.sink.record(approval.clone().asked());
        let mut open = self.approvals.lock().unwrap_or_else(PoisonError::into_inner);
        open.asked += 1;
        let id = open.asked;
        open.waiting.insert(id, (request.kind, approval));
        Some(id)
    }

    /// Records the decision about a request, unless the end of the turn decided it.
    pub(super) fn decided(&self, id: u64, reply: &HostReply) {
        let waiting =
            self.approvals.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id);
        if let Some((kind, approval)) = waiting {
            self.sink.record(approval.decided(ruling(kind, reply)));
        }
    }

    /// Denies what still waits for a decision when the turn ends. Called before the end is
    /// recorded.
    fn decide_the_rest(&self) {
        let mut open = self.approvals.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = HostReply::none().because("the turn ended before an answer");
        for (kind, approval) in std::mem::take(&mut open.waiting).into_values() {
            self.sink.record(approval.decided(ruling(kind, &reply)));
        }
    }

    pub(super) fn not_started(&self, error: &AppServerError) {
        self.decide_the_rest();
        let timed_out = matches!(error, AppServerError::TimedOut { .. });
        let aborted = matches!(error, AppServerError::Cancelled { .. });
        let status = if aborted { RunStatus::Interrupted } else { RunStatus::Error };
        self.session_ended(status, None, timed_out, aborted, Some(error.to_string()));
    }

    pub(super) fn ended(&self, turn: &TurnId, report: &Result<TurnReport, TurnError>) {
        self.decide_the_rest();
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for (id, name) in open {
            let mut result = ToolResult::missing(id, name);
            result.thread_id = Some(self.thread.clone());
            result.turn_id = Some(turn.as_str().to_owned());
            self.sink.record(result.event());
        }
        let (status, timed_out, aborted, error) = match report {
            Ok(report) => match &report.outcome {
                TurnOutcome::Completed => (RunStatus::Success, false, false, None),
                TurnOutcome::Interrupted => (RunStatus::Interrupted, false, true, None),
                TurnOutcome::TimedOut { .. } => (RunStatus::Interrupted, true, true, None),
                TurnOutcome::Failed { message } => {
                    let message = message.clone().unwrap_or_else(|| "the turn failed".to_owned());
                    (RunStatus::Error, false, false, Some(message))
                }
            },
            Err(error) => (RunStatus::Error, false, false, Some(error.to_string())),
        };
        let texts = std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner));
        let completed = ModelCompleted {
            thread_id: Some(self.thread.clone()),
            turn_id: Some(turn.as_str().to_owned()),
            timed_out,
            aborted,
            prompt_error: error.clone(),
            usage: report.as_ref().ok().and_then(|report| report.usage).map(usage_object),
            assistant_texts: texts,
            ..ModelCompleted::default()
        };
        self.sink.record(completed.event());
        self.session_ended(status, Some(turn), timed_out, aborted, error);
    }

    fn session_ended(
        &self,
        status: RunStatus,
        turn: Option<&TurnId>,
        timed_out: bool,
        aborted: bool,
        prompt_error: Option<String>,
    ) {
        let ended = SessionEnded {
            status,
            thread_id: Some(self.thread.clone()),
            turn_id: turn.map(|turn| turn.as_str().to_owned()),
            timed_out,
            aborted,
            prompt_error,
        };
        self.sink.record(ended.event());
    }
}

fn usage_object(usage: TokenUsage) -> Object<'static> {
    let mut object = Object::new();
    object.push("input", usage.input);
    object.push("cacheRead", usage.cached_input);
    object.push("output", usage.output);
    object.push("reasoning", usage.reasoning);
    object.push("totalTokens", usage.total);
    object
}
