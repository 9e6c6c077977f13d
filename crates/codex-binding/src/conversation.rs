//! Conversations of a chat bound to Codex threads.
//!
//! A message is claimed by rules that send nothing, waits for its turn in its conversation, runs on
//! the thread that holds the conversation's history, and is answered with the model's reply or with
//! the reason why it failed. Only the host's handler grants anything, and a message from somebody
//! who may not command is never run.

mod active;
mod inbound;
mod reply;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    BindingProfile, BindingRecord, Claim, ConversationData, Permissions, ServiceTier, claim,
    effective_permissions,
};
use traj_core::id::ThreadId;
use traj_core::port::{
    AppServerError, BindingKey, CloseCause, NodeSessions, NodeTurn, RequestHandler,
};
use traj_core::redaction::Redactor;

pub use active::ControlOutcome;
pub use inbound::{Handled, HostPermissions, Inbound, ServerChoice};

use active::ActiveTurns;
use reply::{failure_reply, turn_reply};

use crate::bound_turn::{BoundTurn, BoundTurnError, BoundTurnRequest, TurnSpec, run_bound_turn};
use crate::keyed_queue::{KeyedQueue, QueueError};
use crate::lifecycle::{LifecycleError, ThreadLifecycle, ThreadPlan};
use crate::pool::ClientPool;
use crate::turn::{TurnFacts, TurnOptions, TurnOutcome};

/// How often a server that exits before the turn begins is replaced.
const STARTS: u32 = 3;
/// A node gets this much longer than its turn, so that it can say why it failed.
const NODE_GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// What all conversations of a host share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConversationOptions {
    /// Wordings and limits.
    pub profile: BindingProfile,
    /// The host's answers to the server's requests.
    pub handler: Arc<dyn RequestHandler>,
    /// The host's reach to other nodes.
    pub nodes: Option<Arc<dyn NodeSessions>>,
    /// Hides secrets in what is shown of failures.
    pub redactor: Redactor,
}

impl ConversationOptions {
    /// The default behaviour, without nodes.
    #[must_use]
    pub fn standard(handler: Arc<dyn RequestHandler>, redactor: Redactor) -> Self {
        Self { profile: BindingProfile::standard(), handler, nodes: None, redactor }
    }
}

/// The bound conversations of a host. Clones share them.
#[derive(Clone, Debug)]
pub struct Conversations {
    lifecycle: ThreadLifecycle,
    pool: ClientPool,
    queue: KeyedQueue,
    active: ActiveTurns,
    options: ConversationOptions,
}

impl Conversations {
    /// Conversations whose bindings `lifecycle` keeps, on servers of `pool`.
    #[must_use]
    pub fn new(lifecycle: ThreadLifecycle, pool: ClientPool, options: ConversationOptions) -> Self {
        let queue = KeyedQueue::new(options.profile.queue_limit);
        Self { lifecycle, pool, queue, active: ActiveTurns::default(), options }
    }

    /// Handles a message. Cancelling takes it out of the queue, or interrupts its turn and waits for
    /// its end; dropping the future instead would let the next message meet a turn that still runs.
    pub async fn inbound(&self, inbound: Inbound, cancel: &CancellationToken) -> Handled {
        let prompt = match claim(inbound.data.as_ref(), &inbound.message, inbound.facts) {
            Claim::NotOurs => return Handled::NotOurs,
            Claim::Silent => return Handled::Silent,
            Claim::Blocked { reply } => return Handled::Reply(reply.to_owned()),
            Claim::Run { prompt } => prompt,
            _ => return Handled::Silent,
        };
        let Some(data) = inbound.data.clone() else { return Handled::NotOurs };
        let queue_key = data.queue_key();
        let pass = match self.queue.enter(&queue_key, cancel).await {
            Ok(pass) => pass,
            Err(QueueError::Cancelled) => return Handled::Silent,
            Err(error) => {
                return Handled::Reply(failure_reply("Codex is busy", &error, &self.options));
            }
        };
        let reply = match data {
            ConversationData::CliNode { node, session, cwd } => {
                self.node_turn(node, session, cwd, prompt).await
            }
            _ => self.app_server_turn(&queue_key, inbound, &prompt, cancel).await,
        };
        drop(pass);
        Handled::Reply(reply)
    }

    async fn node_turn(
        &self,
        node: String,
        session: String,
        cwd: Option<String>,
        prompt: String,
    ) -> String {
        // The claim has seen to it that there is a node runtime.
        let Some(nodes) = &self.options.nodes else {
            return self.options.profile.empty_reply.clone();
        };
        let timeout = self.options.profile.turn_timeout;
        let turn = NodeTurn::new(node, session, prompt, cwd, timeout);
        let run = tokio::time::timeout(timeout + NODE_GRACE, nodes.resume(turn)).await;
        match run {
            Ok(Ok(text)) if text.trim().is_empty() => self.options.profile.empty_reply.clone(),
            Ok(Ok(text)) => text.trim().to_owned(),
            Ok(Err(error)) => failure_reply("Codex CLI node turn failed", &error, &self.options),
            Err(_) => {
                let error = AppServerError::TimedOut { method: "node turn" };
                failure_reply("Codex CLI node turn failed", &error, &self.options)
            }
        }
    }

    async fn app_server_turn(
        &self,
        queue_key: &str,
        inbound: Inbound,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> String {
        const FAILED: &str = "Codex app-server turn failed";
        let stored = match self.lifecycle.load(&inbound.plan.key).await {
            Ok(stored) => stored.map(|stored| stored.record),
            Err(error) => return failure_reply(FAILED, &error, &self.options),
        };
        let chosen = stored.as_ref().map_or((None, None), |r| (r.approval_policy, r.sandbox));
        let allowed = &inbound.permissions;
        let permissions = match effective_permissions(&allowed.policy, chosen, allowed.runtime) {
            Ok(permissions) => permissions,
            // Refused before anything is sent anywhere.
            Err(refusal) => return failure_reply(FAILED, &refusal, &self.options),
        };
        let mut inbound = inbound;
        let settings = &mut inbound.plan.settings;
        settings.approval_policy = Some(permissions.approval);
        settings.sandbox = Some(permissions.sandbox);
        if settings.model.is_none() {
            settings.model = stored.as_ref().and_then(|record| record.model.clone());
        }
        match self.run(queue_key, &inbound, prompt, cancel).await {
            Ok(turn) => turn_reply(&turn, &self.options),
            Err(error) => failure_reply(FAILED, &error, &self.options),
        }
    }

    async fn run(
        &self,
        queue_key: &str,
        inbound: &Inbound,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> Result<BoundTurn, BoundTurnError> {
        let server_error = |error| BoundTurnError::Thread(LifecycleError::Server(error));
        let mut input = inbound.media.clone();
        prompt.clone_into(&mut input.text);
        let mut facts = TurnFacts::new(prompt);
        facts.workspace = Some(inbound.plan.cwd.clone());
        facts.session_file = Some(queue_key.to_owned());
        facts.images = u64::try_from(input.images.len()).unwrap_or(0);
        facts.tools.clone_from(&inbound.plan.tools);
        let spec = TurnSpec::new(input);
        let choice = &inbound.server;
        let mut starts = 1;
        loop {
            let lease = self.pool.lease(&choice.key, choice.connector.as_ref()).await;
            let lease = lease.map_err(server_error)?;
            let gone = || AppServerError::Closed { cause: CloseCause::NotStarted };
            let connection = Arc::clone(lease.server().ok_or_else(|| server_error(gone()))?);
            let profile = &self.options.profile;
            let mut options = TurnOptions::standard(Arc::clone(&self.options.handler));
            options.timeout = profile.turn_timeout;
            options.interrupt_timeout = profile.interrupt_timeout;
            options.early_notifications = profile.early_notifications;
            options.cancel = cancel.child_token();
            options.observer = Some(self.active.observer(queue_key, &connection));
            let request = BoundTurnRequest {
                plan: &inbound.plan,
                spec: &spec,
                options: &options,
                facts: &facts,
                sink: &inbound.sink,
            };
            let (server, loaded) = (connection.as_ref(), lease.loaded());
            let turn = run_bound_turn(&self.lifecycle, server, loaded, request).await;
            self.active.ended(queue_key);
            match turn {
                Err(error) if error.is_lost_before_start() && starts < STARTS => starts += 1,
                // The turn may still run there: nobody else shall meet it.
                Ok(turn) if turn.report.outcome == TurnOutcome::TimedOut { confirmed: false } => {
                    self.pool.retire(&lease);
                    return Ok(turn);
                }
                settled => return settled,
            }
        }
    }

    /// Binds a conversation: to a thread that exists, or to a new one.
    ///
    /// # Errors
    /// The server does not start, or the thread cannot be opened. An earlier binding is unchanged.
    pub async fn bind(
        &self,
        plan: &ThreadPlan,
        thread: Option<&ThreadId>,
        server: &ServerChoice,
        cancel: &CancellationToken,
    ) -> Result<BindingRecord, LifecycleError> {
        let lease = self.pool.lease(&server.key, server.connector.as_ref()).await;
        let lease = lease.map_err(LifecycleError::Server)?;
        let gone = AppServerError::Closed { cause: CloseCause::NotStarted };
        let connection = lease.server().ok_or(LifecycleError::Server(gone))?;
        match thread {
            Some(thread) => self.lifecycle.attach(connection.as_ref(), plan, thread).await,
            None => {
                let ready =
                    self.lifecycle.ready(connection.as_ref(), lease.loaded(), plan, cancel).await?;
                let (approval, sandbox) = (plan.settings.approval_policy, plan.settings.sandbox);
                let tier = plan.settings.service_tier.clone();
                self.lifecycle
                    .change(&plan.key, move |record| {
                        record.approval_policy = approval.or(record.approval_policy);
                        record.sandbox = sandbox.or(record.sandbox);
                        if tier.is_some() {
                            record.service_tier.clone_from(&tier);
                        }
                    })
                    .await
                    .map(
                        |record| {
                            if record.thread == *ready.thread() { record } else { ready.record }
                        },
                    )
            }
        }
    }

    /// Removes the binding after the host denied a request to bind. Returns whether there was one.
    ///
    /// # Errors
    /// The record cannot be read or removed.
    pub async fn bind_denied(
        &self,
        data: &ConversationData,
        key: &BindingKey,
    ) -> Result<bool, LifecycleError> {
        if !matches!(data, ConversationData::AppServer { .. }) {
            return Ok(false);
        }
        match self.lifecycle.load(key).await? {
            Some(stored) => self.lifecycle.clear(key, &stored.record.thread).await,
            None => Ok(false),
        }
    }

    /// Asks the running turn of a conversation to end.
    pub async fn stop(&self, data: &ConversationData) -> ControlOutcome {
        self.active.stop(&data.queue_key()).await
    }

    /// Adds input to the running turn of a conversation.
    pub async fn steer(&self, data: &ConversationData, text: &str) -> ControlOutcome {
        self.active.steer(&data.queue_key(), text).await
    }

    /// Chooses the model of a bound conversation; the next turn uses it.
    ///
    /// # Errors
    /// The session is not bound, or its record cannot be written.
    pub async fn choose_model(&self, key: &BindingKey, model: &str) -> Result<(), LifecycleError> {
        let model = model.trim().to_owned();
        self.lifecycle.change(key, move |record| record.model = Some(model.clone())).await.map(drop)
    }

    /// Chooses the service tier of a bound conversation.
    ///
    /// # Errors
    /// The session is not bound, or its record cannot be written.
    pub async fn choose_tier(&self, key: &BindingKey, tier: &str) -> Result<(), LifecycleError> {
        let tier = ServiceTier::parse(tier);
        self.lifecycle
            .change(key, move |record| record.service_tier.clone_from(&tier))
            .await
            .map(drop)
    }

    /// Chooses the permissions of a bound conversation.
    ///
    /// # Errors
    /// The session is not bound, or its record cannot be written.
    pub async fn choose_permissions(
        &self,
        key: &BindingKey,
        permissions: Permissions,
    ) -> Result<(), LifecycleError> {
        let change = move |record: &mut BindingRecord| {
            record.approval_policy = Some(permissions.approval);
            record.sandbox = Some(permissions.sandbox);
        };
        self.lifecycle.change(key, change).await.map(drop)
    }
}

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
