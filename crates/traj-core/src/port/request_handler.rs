//! The host's answers to requests of the app-server, and its access to other
//! nodes.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use super::app_server::{HostReply, ServerRequest};
use crate::event::Decider;

/// Answers requests for the threads of one host. Only explicit answers grant
/// anything.
#[async_trait]
pub trait RequestHandler: Debug + Send + Sync {
    /// The host's reply. Without an answer in it, nothing is granted.
    async fn answer(&self, request: &ServerRequest) -> HostReply;
}

/// A host that grants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll(());

impl DenyAll {
    /// A host that grants nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

#[async_trait]
impl RequestHandler for DenyAll {
    async fn answer(&self, _request: &ServerRequest) -> HostReply {
        HostReply::none().decided_by(Decider::Policy).because("everything is declined")
    }
}

/// A turn to run with the Codex CLI on another node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeTurn {
    /// The node.
    pub node: String,
    /// The session on that node.
    pub session: String,
    /// The message.
    pub prompt: String,
    /// The agent's working directory on that node.
    pub cwd: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
}

impl NodeTurn {
    /// A turn of a session on a node, with an empty message.
    #[must_use]
    pub const fn new(node: String, session: String, timeout: Duration) -> Self {
        Self { node, session, prompt: String::new(), cwd: None, timeout }
    }

    /// Sets the message.
    #[must_use]
    pub fn with_prompt(mut self, prompt: String) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets the agent's working directory on the node.
    #[must_use]
    pub fn in_directory(mut self, cwd: Option<String>) -> Self {
        self.cwd = cwd;
        self
    }
}

/// Why a turn on a node failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeTurnError {
    /// The node's answer is not a reply.
    #[error("the node sent an invalid reply")]
    InvalidPayload,
    /// The node is unreachable, or the run failed there.
    #[error("the turn on the node failed")]
    Failed {
        /// The host's cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Runs turns of CLI sessions on other nodes.
#[async_trait]
pub trait NodeSessions: Debug + Send + Sync {
    /// Runs one turn and returns its reply.
    async fn resume(&self, turn: NodeTurn) -> Result<String, NodeTurnError>;
}
