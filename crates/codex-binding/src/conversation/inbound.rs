//! An inbound message, and its result.

use std::sync::Arc;
use std::time::Duration;

use traj_core::binding::{
    ConversationData, ExecPolicy, ExecutionFacts, InboundMessage, Permissions, TurnInput,
};
use traj_core::port::{EventSink, NoEvents};

use crate::lifecycle::ThreadPlan;
use crate::pool::{Connector, PoolKey};

/// What a host permits a message to do.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers build it and name every part")]
pub struct HostPermissions {
    /// The host's policy for executing commands.
    pub policy: ExecPolicy,
    /// The permissions of the runtime.
    pub runtime: Permissions,
}

/// A server of the pool, and how to start it.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers build it and name every part")]
pub struct ServerChoice {
    /// The key of the server.
    pub key: PoolKey,
    /// Starts the server if it is not running.
    pub connector: Arc<dyn Connector>,
}

/// An inbound message, with everything that the host knows about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// The data that the host keeps with the conversation; `None` if it is not bound.
    pub data: Option<ConversationData>,
    /// The message.
    pub message: InboundMessage,
    /// The message's attachments.
    pub media: TurnInput,
    /// What the host knows about the session.
    pub facts: ExecutionFacts,
    /// What the host currently permits.
    pub permissions: HostPermissions,
    /// The plan for the thread; its permissions are filled in here.
    pub plan: ThreadPlan,
    /// The server that the turn runs on.
    pub server: ServerChoice,
    /// How long its turn may take; `None` for the profile's limit.
    pub timeout: Option<Duration>,
    /// Where the run is recorded.
    pub sink: Arc<dyn EventSink>,
}

impl Inbound {
    /// A message without media; its run is not recorded.
    #[must_use]
    pub fn new(
        message: InboundMessage,
        plan: ThreadPlan,
        server: ServerChoice,
        permissions: HostPermissions,
    ) -> Self {
        Self {
            data: None,
            message,
            media: TurnInput::text(""),
            facts: ExecutionFacts::default(),
            permissions,
            plan,
            server,
            timeout: None,
            sink: Arc::new(NoEvents::new()),
        }
    }

    /// The message as part of a bound conversation.
    #[must_use]
    pub fn in_conversation(mut self, data: ConversationData) -> Self {
        self.data = Some(data);
        self
    }

    /// The message with its own limit for its turn.
    #[must_use]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The message with its run recorded in `sink`.
    #[must_use]
    pub fn recorded_in(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = sink;
        self
    }
}

/// The result of an inbound message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handled {
    /// The message is not for Codex; others may handle it.
    NotOurs,
    /// The message was dropped without a reply.
    Silent,
    /// The reply to the message.
    Reply(String),
}
