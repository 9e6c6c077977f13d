//! A message that arrives, and what becomes of it.

use std::sync::Arc;

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
    /// How far the host lets it execute.
    pub policy: ExecPolicy,
    /// The permissions of the runtime.
    pub runtime: Permissions,
}

/// A server of the pool, and how to start it.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers build it and name every part")]
pub struct ServerChoice {
    /// Which server it is.
    pub key: PoolKey,
    /// Starts it when it does not run.
    pub connector: Arc<dyn Connector>,
}

/// A message that arrived, with everything the host knows about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// What the host keeps with the conversation; none when it is not bound.
    pub data: Option<ConversationData>,
    /// The message.
    pub message: InboundMessage,
    /// The message's attachments.
    pub media: TurnInput,
    /// What the host knows about the session.
    pub facts: ExecutionFacts,
    /// What the host permits, resolved just now.
    pub permissions: HostPermissions,
    /// What the turn wants of its thread; permissions are filled in here.
    pub plan: ThreadPlan,
    /// The server it runs on.
    pub server: ServerChoice,
    /// Where the run is recorded.
    pub sink: Arc<dyn EventSink>,
}

impl Inbound {
    /// A message without media that is not recorded.
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
            sink: Arc::new(NoEvents::new()),
        }
    }

    /// The message as part of a bound conversation.
    #[must_use]
    pub fn in_conversation(mut self, data: ConversationData) -> Self {
        self.data = Some(data);
        self
    }

    /// The message with a record of its run.
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
    /// It is not ours; others may handle it.
    NotOurs,
    /// It was swallowed.
    Silent,
    /// It is answered.
    Reply(String),
}
