//! Binding a conversation to a thread, within what the host permits.

use tokio_util::sync::CancellationToken;
use traj_core::binding::{BindingRecord, ConversationData, ExecRefusal, effective_permissions};
use traj_core::id::ThreadId;
use traj_core::port::{AppServerError, BindingKey, CloseCause, TurnLeaseError};

use super::lease::{NoLease, take_lease};
use super::{Conversations, HostPermissions, ServerChoice};
use crate::lifecycle::{LifecycleError, ThreadPlan};

/// Why a conversation is not bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The host does not permit Codex to execute here.
    #[error(transparent)]
    Refused(ExecRefusal),
    /// The server does not start, or the thread cannot be opened.
    #[error(transparent)]
    Thread(LifecycleError),
    /// Another process runs a turn of the conversation.
    #[error("a turn of this conversation is running in another process")]
    Busy,
    /// It is not known whether another process runs a turn of the conversation.
    #[error(transparent)]
    Lease(TurnLeaseError),
}

impl Conversations {
    /// Binds a conversation: to `thread`, or to a new one. A new thread is started even if the
    /// conversation is bound already; the record then names the former thread.
    ///
    /// Permissions that a person chose for the binding hold as long as the policy is untouched, as
    /// they do for a turn.
    ///
    /// # Errors
    /// The policy does not permit it, another process runs a turn of the conversation, the server does
    /// not start, or the thread cannot be opened. An earlier binding is unchanged.
    pub async fn bind(
        &self,
        plan: &ThreadPlan,
        thread: Option<&ThreadId>,
        server: &ServerChoice,
        permissions: &HostPermissions,
        cancel: &CancellationToken,
    ) -> Result<BindingRecord, BindError> {
        let lease = take_lease(self.options.leases.as_ref(), &plan.key).await;
        let _lease = lease.map_err(|missing| match missing {
            NoLease::Unknown(error) => BindError::Lease(error),
            NoLease::Busy => BindError::Busy,
            NoLease::Cancelled => BindError::Thread(LifecycleError::Cancelled),
        })?;
        let stored = self.lifecycle.load(&plan.key).await.map_err(BindError::Thread)?;
        let stored = stored.map(|stored| stored.record);
        // Refused before a server is started.
        let plan = permitted(plan, stored.as_ref(), permissions).map_err(BindError::Refused)?;
        let bound = self.bind_permitted(&plan, thread, stored.as_ref(), server, cancel).await;
        bound.map_err(BindError::Thread)
    }

    async fn bind_permitted(
        &self,
        plan: &ThreadPlan,
        thread: Option<&ThreadId>,
        stored: Option<&BindingRecord>,
        server: &ServerChoice,
        cancel: &CancellationToken,
    ) -> Result<BindingRecord, LifecycleError> {
        let lease = self.pool.lease(&server.key, server.connector.as_ref()).await;
        let lease = lease.map_err(LifecycleError::Server)?;
        let gone = AppServerError::Closed { cause: CloseCause::NotStarted };
        let connection = lease.server().ok_or(LifecycleError::Server(gone))?.as_ref();
        match thread {
            Some(thread) => self.lifecycle.attach(connection, plan, thread, cancel).await,
            None => {
                let replaces = stored.map(|stored| &stored.thread);
                let plan = plan.clone().in_conversation();
                self.lifecycle.bind_new(connection, lease.loaded(), &plan, replaces, cancel).await
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
}

/// The plan with the permissions that the host allows. The runtime's own are not a choice, so they
/// are stored only if the policy demands them.
fn permitted(
    plan: &ThreadPlan,
    stored: Option<&BindingRecord>,
    permissions: &HostPermissions,
) -> Result<ThreadPlan, ExecRefusal> {
    let asked = &plan.settings;
    let chosen = (
        asked.approval_policy.or_else(|| stored?.approval_policy),
        asked.sandbox.or_else(|| stored?.sandbox),
    );
    let allowed = effective_permissions(&permissions.policy, chosen, permissions.runtime)?;
    let mut plan = plan.clone();
    let target = if permissions.policy.touched { &mut plan.settings } else { &mut plan.defaults };
    target.approval_policy = Some(allowed.approval);
    target.sandbox = Some(allowed.sandbox);
    Ok(plan)
}
