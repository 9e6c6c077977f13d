//! One turn of a bound session, as a host asks for it.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    BindingProfile, TurnBlocks, TurnInput, TurnMode, TurnTrigger, decide_turn_mode,
    developer_instructions, reasoning_effort, turn_instructions,
};
use traj_core::port::{DenyAll, EventSink, NoEvents, RequestHandler, StartTurn};

use super::BoundTurnError;
use crate::lifecycle::{ReadyThread, ThreadPlan};
use crate::turn::{TurnFacts, TurnObserver, TurnOptions};

/// One turn of a bound session: its thread, its input, and how it runs.
///
/// Everything is stated once. The recording takes the prompt from the input, and the tools, the
/// instructions and the credential profile from the plan.
///
/// ```
/// use std::time::Duration;
///
/// use codex_binding::{BoundTurnRequest, ThreadPlan};
/// use traj_core::binding::TurnInput;
/// use traj_core::port::BindingKey;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plan = ThreadPlan::new(BindingKey::parse("session.jsonl")?, "/work");
/// let request = BoundTurnRequest::new(plan, TurnInput::text("What changed?"))
///     .effort("low")
///     .instructions("Answer in one sentence.")
///     .timeout(Duration::from_secs(60));
/// # let _request = request;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoundTurnRequest {
    /// The session, and the requirements of the turn on its thread.
    pub plan: ThreadPlan,
    /// The prompt and the images.
    pub input: TurnInput,
    /// The requested reasoning effort; `None` keeps an earlier choice.
    pub effort: Option<String>,
    /// Why the turn runs.
    pub trigger: TurnTrigger,
    /// Instructions for this turn only.
    pub blocks: TurnBlocks,
    /// The session file, as it is recorded.
    pub session_file: Option<String>,
    /// Limits, approvals and cancellation.
    pub options: TurnOptions,
    /// Where the turn is recorded.
    pub sink: Arc<dyn EventSink>,
}

impl BoundTurnRequest {
    /// A turn for a person's message. It grants nothing, is not recorded, and has the default
    /// limits.
    #[must_use]
    pub fn new(plan: ThreadPlan, input: TurnInput) -> Self {
        Self {
            plan,
            input,
            effort: None,
            trigger: TurnTrigger::User,
            blocks: TurnBlocks::default(),
            session_file: None,
            options: TurnOptions::standard(Arc::new(DenyAll::new())),
            sink: Arc::new(NoEvents::new()),
        }
    }

    /// Asks for this reasoning effort: `minimal`, `low`, `medium`, `high` or `xhigh`. Any other
    /// level leaves the choice to the model.
    #[must_use]
    pub fn effort(mut self, level: impl Into<String>) -> Self {
        self.effort = Some(level.into());
        self
    }

    /// Adds instructions that hold for this turn only.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.blocks.turn = Some(text.into());
        self
    }

    /// Says why the turn runs.
    #[must_use]
    pub fn triggered_by(mut self, trigger: TurnTrigger) -> Self {
        self.trigger = trigger;
        self
    }

    /// Names the session file in the recording.
    #[must_use]
    pub fn session_file(mut self, path: impl Into<String>) -> Self {
        self.session_file = Some(path.into());
        self
    }

    /// Answers the server's requests with this handler.
    #[must_use]
    pub fn answered_by(mut self, handler: Arc<dyn RequestHandler>) -> Self {
        self.options.handler = handler;
        self
    }

    /// Records the turn here.
    #[must_use]
    pub fn recorded_in(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = sink;
        self
    }

    /// Reports what happens during the turn to this observer.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn TurnObserver>) -> Self {
        self.options.observer = Some(observer);
        self
    }

    /// Limits the time, from starting the server to the end of the turn.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Stops when this token is cancelled, at every stage. A running turn is interrupted.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: CancellationToken) -> Self {
        self.options.cancel = cancel;
        self
    }

    /// Facts to record about the turn besides its events.
    pub(super) fn facts(&self, ready: Option<&ReadyThread>) -> TurnFacts {
        let plan = &self.plan;
        let mut facts = TurnFacts::new(&self.input.text);
        facts.trigger = Some(self.trigger.as_str().to_owned());
        facts.session_file.clone_from(&self.session_file);
        let record = ready.map(|ready| &ready.record);
        facts.workspace = Some(record.map_or(&plan.cwd, |record| &record.cwd).clone());
        facts.auth_profile = match record {
            Some(record) => record.auth_profile.clone(),
            None => plan.auth_profile.clone(),
        };
        let turn = turn_instructions(&self.trigger, &self.blocks);
        let settings = ready.map_or(&plan.settings, |ready| &ready.settings);
        let thread = settings.developer_instructions.as_deref();
        let told = developer_instructions(thread.into_iter().chain(turn.as_deref()));
        facts.instructions = (!told.is_empty()).then_some(told);
        facts.images = u64::try_from(self.input.images.len()).unwrap_or(0);
        facts.tools.clone_from(&plan.tools);
        facts
    }

    /// The turn on the thread that was opened for it.
    pub(super) fn start(&self, ready: &ReadyThread) -> Result<StartTurn, BoundTurnError> {
        let settings = &ready.settings;
        let mut start = StartTurn::new(ready.thread().clone(), self.input.items());
        start.cwd = Some(ready.record.cwd.clone());
        start.approval_policy = settings.approval_policy;
        start.approvals_reviewer = settings.approvals_reviewer;
        start.sandbox = settings.sandbox;
        start.model.clone_from(&settings.model);
        start.service_tier.clone_from(&settings.service_tier);
        // The record has the model that the server reported, if none was asked for.
        let model = ready.record.model.as_deref();
        let profile = BindingProfile::standard();
        let level = self.effort.as_deref();
        let effort =
            level.and_then(|level| reasoning_effort(level, model.unwrap_or_default(), &profile));
        start.effort = level.map(|_| effort.map(str::to_owned));
        // A mode states the effort, too. Without a choice, it must repeat the thread's own.
        let known = ready.effort.as_ref();
        let effort = if level.is_some() { effort } else { known.and_then(Option::as_deref) };
        let is_undecided = level.is_none() && known.is_none();
        let has_instructions = turn_instructions(&self.trigger, &self.blocks).is_some();
        start.collaboration_mode =
            match decide_turn_mode(model, effort, &self.trigger, &self.blocks) {
                // A thread whose effort is unknown has had no turn yet, so there is no mode to
                // end.
                TurnMode::Send(_) if is_undecided && !has_instructions => None,
                TurnMode::Send(mode) => Some(mode),
                TurnMode::Omit => None,
                _ => return Err(BoundTurnError::ModelUnknown),
            };
        start.environments.clone_from(&self.plan.environments);
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use traj_core::binding::{ApprovalPolicy, SandboxMode, ServiceTier};
    use traj_core::memory::{FixedClock, MemoryBindingStore, MemoryCodexHome};
    use traj_core::port::BindingKey;

    use super::*;
    use crate::lifecycle::{LoadedThreads, ThreadLifecycle};

    /// A request, and its thread.
    async fn opened() -> (BoundTurnRequest, ReadyThread) {
        let store = Arc::new(MemoryBindingStore::new());
        let lifecycle = ThreadLifecycle::new(store, Arc::new(FixedClock::default()));
        let plan = ThreadPlan::new(BindingKey::parse("s").unwrap(), "/w");
        let server = MemoryCodexHome::new().start_server();
        let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
        let ready = lifecycle.ready(&server, &loaded, &plan, &cancel).await.unwrap();
        (BoundTurnRequest::new(plan, TurnInput::text("hello")), ready)
    }

    #[tokio::test]
    async fn a_turn_without_instructions_ends_the_mode_of_an_earlier_turn() {
        let (request, mut ready) = opened().await;
        ready.effort = Some(Some("high".to_owned()));
        let mode = request.start(&ready).unwrap().collaboration_mode.unwrap();
        assert_eq!((mode.instructions, mode.effort.as_deref()), (None, Some("high")));
    }

    /// A turn repeats the settings of its binding, because the server may otherwise use others.
    #[tokio::test]
    async fn a_turn_runs_with_what_its_binding_holds() {
        let (request, mut ready) = opened().await;
        ready.record.cwd = "/bound".to_owned();
        ready.settings.model = Some("chosen".to_owned());
        ready.settings.sandbox = Some(SandboxMode::ReadOnly);
        ready.settings.approval_policy = Some(ApprovalPolicy::Never);
        ready.settings.service_tier = ServiceTier::parse("flex");
        let start = request.effort("low").start(&ready).unwrap();
        assert_eq!(start.cwd.as_deref(), Some("/bound"));
        assert_eq!(start.model.as_deref(), Some("chosen"));
        assert_eq!(start.sandbox, Some(SandboxMode::ReadOnly));
        assert_eq!(start.approval_policy, Some(ApprovalPolicy::Never));
        assert_eq!(start.service_tier, ServiceTier::parse("flex"));
        assert_eq!(start.effort, Some(Some("low".to_owned())));
        assert_eq!(start.collaboration_mode.unwrap().effort.as_deref(), Some("low"));
    }

    /// Scenario 46.
    #[tokio::test]
    async fn a_scheduled_turn_sends_and_records_its_standing_instructions() {
        let (request, ready) = opened().await;
        let request = request
            .triggered_by(TurnTrigger::Scheduled("Standing.".to_owned()))
            .instructions("Now.");
        let mode = request.start(&ready).unwrap().collaboration_mode.unwrap();
        assert_eq!(mode.instructions.as_deref(), Some("Standing.\n\nNow."));
        let facts = request.facts(Some(&ready));
        assert_eq!(facts.trigger.as_deref(), Some("cron"));
        assert_eq!(facts.instructions.as_deref(), Some("Standing.\n\nNow."));
    }

    #[tokio::test]
    async fn instructions_without_a_known_model_fail_the_turn() {
        let (request, mut ready) = opened().await;
        ready.record.model = None;
        assert_eq!(request.start(&ready).unwrap().collaboration_mode, None);
        let error = request.instructions("be brief").start(&ready).unwrap_err();
        assert!(matches!(error, BoundTurnError::ModelUnknown), "{error}");
    }
}
