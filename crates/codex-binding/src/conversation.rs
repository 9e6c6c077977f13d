//! Chat conversations bound to Codex threads.
//!
//! A message is claimed by rules that send nothing. It waits in the queue of its conversation, runs
//! on the thread with the conversation's history, and is answered with the model's reply or with
//! the reason for the failure. Only the host's handler grants approvals, and a message from an
//! unauthorised sender is never run.

mod active;
mod bind;
mod inbound;
mod lease;
mod reply;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    BindingProfile, BindingRecord, ConversationData, MessageClaim, NodeRuntime, Permissions,
    ServiceTier, claim_message, effective_permissions,
};
use traj_core::port::{
    AppServerError, BindingKey, CloseCause, NodeSessions, NodeTurn, RequestHandler, TurnLeases,
};
use traj_core::redaction::Redactor;

pub use active::ControlOutcome;
pub use bind::BindError;
pub use inbound::{Handled, HostPermissions, Inbound, ServerChoice};

use active::ActiveTurns;
use lease::{NoLease, wait_for_lease};
use reply::{failure_reply, turn_reply};

use crate::bound_turn::{
    BoundTurn, BoundTurnError, BoundTurnRequest, LentServer, ServerSource, ServerState,
    run_on_servers,
};
use crate::keyed_queue::{KeyedQueue, QueueError};
use crate::lifecycle::{LifecycleError, ThreadLifecycle};
use crate::pool::ClientPool;
use crate::turn::TurnBounds;

/// A node gets this much more time than its turn, so that it can report why it failed.
const NODE_GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// The options that all conversations of a host share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConversationOptions {
    /// Wordings and limits.
    pub profile: BindingProfile,
    /// The host's answers to the server's requests.
    pub handler: Arc<dyn RequestHandler>,
    /// The host's connection to other nodes.
    pub nodes: Option<Arc<dyn NodeSessions>>,
    /// Hides secrets in failure messages.
    pub redactor: Redactor,
    /// Keeps other processes from running a turn of the same conversation at the same time; `None`
    /// if no other process serves these conversations.
    pub leases: Option<Arc<dyn TurnLeases>>,
}

impl ConversationOptions {
    /// The default options, without nodes and leases.
    #[must_use]
    pub fn standard(handler: Arc<dyn RequestHandler>, redactor: Redactor) -> Self {
        let profile = BindingProfile::standard();
        Self { profile, handler, nodes: None, redactor, leases: None }
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
    /// Conversations with the bindings of `lifecycle`, on servers of `pool`.
    #[must_use]
    pub fn new(lifecycle: ThreadLifecycle, pool: ClientPool, options: ConversationOptions) -> Self {
        let queue = KeyedQueue::new(options.profile.queue_limit);
        Self { lifecycle, pool, queue, active: ActiveTurns::default(), options }
    }

    /// Handles a message. Cancelling removes it from the queue, or interrupts its turn and waits for
    /// the end of it. Do not drop the future instead: the next message could then run into a turn
    /// that is still running.
    pub async fn inbound(&self, inbound: Inbound, cancel: &CancellationToken) -> Handled {
        let nodes = match self.options.nodes {
            Some(_) => NodeRuntime::Attached,
            None => NodeRuntime::Missing,
        };
        let claim = claim_message(inbound.data.as_ref(), &inbound.message, inbound.facts, nodes);
        let prompt = match claim {
            MessageClaim::NotOurs => return Handled::NotOurs,
            MessageClaim::Silent => return Handled::Silent,
            MessageClaim::Blocked { reply } => return Handled::Reply(reply.to_owned()),
            MessageClaim::Run { prompt } => prompt,
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
                let timeout = inbound.timeout.unwrap_or(self.options.profile.turn_timeout);
                let turn =
                    NodeTurn::new(node, session, timeout).with_prompt(prompt).in_directory(cwd);
                self.node_turn(turn).await
            }
            _ => match self.leased_turn(&queue_key, inbound, &prompt, cancel).await {
                Ok(reply) => reply,
                Err(NoLease::Cancelled) => return Handled::Silent,
                Err(error) => failure_reply("Codex is busy", &error, &self.options),
            },
        };
        drop(pass);
        Handled::Reply(reply)
    }

    /// Runs a turn while no other process runs one of the same conversation. Waiting for that
    /// counts towards the message's timeout.
    async fn leased_turn(
        &self,
        queue_key: &str,
        mut inbound: Inbound,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> Result<String, NoLease> {
        let timeout = inbound.timeout.unwrap_or(self.options.profile.turn_timeout);
        let began = Instant::now();
        let leases = self.options.leases.as_ref();
        let deadline = began.checked_add(timeout);
        let lease = wait_for_lease(leases, &inbound.plan.key, deadline, cancel).await?;
        inbound.timeout = Some(timeout.saturating_sub(began.elapsed()));
        // On the heap: callers nest the future deeply.
        let reply = Box::pin(self.app_server_turn(queue_key, inbound, prompt, cancel)).await;
        drop(lease);
        Ok(reply)
    }

    async fn node_turn(&self, turn: NodeTurn) -> String {
        // The claim has checked that there is a node runtime.
        let Some(nodes) = &self.options.nodes else {
            return self.options.profile.empty_reply.clone();
        };
        let limit = turn.timeout.saturating_add(NODE_GRACE);
        let run = tokio::time::timeout(limit, nodes.resume(turn)).await;
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
            // Rejected before anything is sent.
            Err(refusal) => return failure_reply(FAILED, &refusal, &self.options),
        };
        let mut inbound = inbound;
        inbound.plan = inbound.plan.in_conversation();
        inbound.plan.cwd = inbound.plan.working_directory(stored.as_ref()).to_owned();
        let settings = &mut inbound.plan.settings;
        settings.approval_policy = Some(permissions.approval);
        settings.sandbox = Some(permissions.sandbox);
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
        let mut input = inbound.media.clone();
        prompt.clone_into(&mut input.text);
        let profile = &self.options.profile;
        let mut request = BoundTurnRequest::new(inbound.plan.clone(), input)
            .session_file(queue_key)
            .recorded_in(Arc::clone(&inbound.sink))
            .answered_by(Arc::clone(&self.options.handler))
            .timeout(inbound.timeout.unwrap_or(profile.turn_timeout))
            .cancelled_by(cancel.child_token())
            .observed_by(self.active.observer(queue_key));
        request.options.interrupt_timeout = profile.interrupt_timeout;
        request.options.early_notifications = profile.early_notifications;
        let bounds = TurnBounds::of(&request.options);
        let source = PooledServers { conversations: self, choice: &inbound.server, queue_key };
        let turn = run_on_servers(&self.lifecycle, &source, &request, &bounds).await;
        self.active.ended(queue_key);
        turn
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

/// Servers of the pool for the turn of one message.
struct PooledServers<'a> {
    conversations: &'a Conversations,
    choice: &'a ServerChoice,
    queue_key: &'a str,
}

#[async_trait]
impl ServerSource for PooledServers<'_> {
    async fn lend(&self) -> Result<LentServer, AppServerError> {
        let Conversations { pool, active, .. } = self.conversations;
        let lease = pool.lease(&self.choice.key, self.choice.connector.as_ref()).await?;
        let gone = || AppServerError::Closed { cause: CloseCause::NotStarted };
        let connection = Arc::clone(lease.server().ok_or_else(gone)?);
        active.runs_on(self.queue_key, &connection);
        Ok(LentServer { connection, loaded: lease.loaded().clone(), lease: Some(lease) })
    }

    async fn give_back(&self, server: LentServer, state: ServerState) {
        if let Some(lease) = server.lease.filter(|_| state == ServerState::Unusable) {
            // The turn may still run there, or the server hangs: no other turn may use it.
            self.conversations.pool.retire(&lease);
        }
    }
}

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
