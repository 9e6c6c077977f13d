//! The host's word on questions of the app-server, and its reach to other nodes.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use super::app_server::{HostAnswer, ServerRequest};

/// Answers questions for the threads of one host. Only what it says explicitly is granted.
#[async_trait]
pub trait RequestHandler: Debug + Send + Sync {
    /// The host's answer; none leaves the question to the safe default.
    async fn answer(&self, request: &ServerRequest) -> Option<HostAnswer>;
}

/// A host that grants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll(());

impl DenyAll {
    /// The host that grants nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

#[async_trait]
impl RequestHandler for DenyAll {
    async fn answer(&self, _request: &ServerRequest) -> Option<HostAnswer> {
        None
    }
}

/// A turn to run with the Codex CLI on another node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeTurn {
    /// The node.
    pub node: String,
    /// The session there.
    pub session: String,
    /// The message.
    pub prompt: String,
    /// Where the agent works there.
    pub cwd: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
}

impl NodeTurn {
    /// A turn.
    #[must_use]
    pub const fn new(
        node: String,
        session: String,
        prompt: String,
        cwd: Option<String>,
        timeout: Duration,
    ) -> Self {
        Self { node, session, prompt, cwd, timeout }
    }
}

/// Why a turn on a node failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeTurnError {
    /// The node answered something that is not a reply.
    #[error("the node's answer is not a reply")]
    InvalidPayload,
    /// The node cannot be reached, or its run failed.
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
