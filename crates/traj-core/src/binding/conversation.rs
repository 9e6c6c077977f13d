//! Which inbound messages belong to a bound conversation, and what happens to them.
//!
//! - `exec_policy`: what a bound conversation may execute.
//! - `display`: makes untrusted text safe for a chat.

mod display;
mod exec_policy;

use crate::json::{Json, Object};

pub use display::chat_text;
pub use exec_policy::{
    ExecAsk, ExecLayer, ExecPolicy, ExecRefusal, ExecSecurity, Permissions, effective_permissions,
};

/// What the host stores with a bound conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversationData {
    /// An app-server thread, found through the session file's binding record.
    AppServer {
        /// The session file, which identifies the conversation.
        session_file: String,
        /// The agent's workspace; `None` means the host's working directory.
        workspace: Option<String>,
        /// The agent's own directory.
        agent_dir: Option<String>,
    },
    /// A Codex CLI session on another node.
    CliNode {
        /// The node.
        node: String,
        /// The session on that node.
        session: String,
        /// The agent's working directory on that node.
        cwd: Option<String>,
    },
}

const APP_SERVER_KIND: &str = "codex-app-server-session";
const CLI_NODE_KIND: &str = "codex-cli-node-session";

impl ConversationData {
    /// Reads the stored value; `None` if it is not a binding of traj.
    #[must_use]
    pub fn from_json(value: &Json<'_>) -> Option<Self> {
        if value.get("version")?.as_u64()? != 1 {
            return None;
        }
        let text =
            |name: &str| value.get(name).and_then(Json::as_str).filter(|t| !t.trim().is_empty());
        let trimmed = |name: &str| text(name).map(|text| text.trim().to_owned());
        match value.get("kind")?.as_str()? {
            APP_SERVER_KIND => Some(Self::AppServer {
                session_file: text("sessionFile")?.to_owned(),
                workspace: text("workspaceDir").map(str::to_owned),
                agent_dir: text("agentDir").map(str::to_owned),
            }),
            CLI_NODE_KIND => Some(Self::CliNode {
                node: trimmed("nodeId")?,
                session: trimmed("sessionId")?,
                cwd: text("cwd").map(str::to_owned),
            }),
            _ => None,
        }
    }

    /// The value for the host to store.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let kept = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let mut object = Object::new();
        match self {
            Self::AppServer { session_file, workspace, agent_dir } => {
                object.push("kind", APP_SERVER_KIND);
                object.push("version", 1_u64);
                object.push("sessionFile", session_file.clone());
                object.push_some("workspaceDir", kept(workspace));
                object.push_some("agentDir", kept(agent_dir));
            }
            Self::CliNode { node, session, cwd } => {
                object.push("kind", CLI_NODE_KIND);
                object.push("version", 1_u64);
                object.push("nodeId", node.clone());
                object.push("sessionId", session.clone());
                object.push_some("cwd", kept(cwd));
            }
        }
        object.into()
    }

    /// The queue key: messages with the same key run one after another.
    #[must_use]
    pub fn queue_key(&self) -> String {
        match self {
            Self::AppServer { session_file, .. } => session_file.clone(),
            Self::CliNode { node, session, .. } => format!("{node}:{session}"),
        }
    }
}

/// Who sent a message, according to the host's own checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageSender {
    /// Somebody who may give commands.
    Authorized,
    /// Anybody else, or somebody whom the host did not check.
    #[default]
    Other,
}

/// A message that arrived in a bound conversation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InboundMessage {
    /// Who sent it.
    pub sender: MessageSender,
    /// The text as prepared for agents.
    pub agent_body: Option<String>,
    /// The text as it was written.
    pub content: Option<String>,
}

impl InboundMessage {
    /// A message with both versions of its text.
    #[must_use]
    pub const fn new(
        sender: MessageSender,
        agent_body: Option<String>,
        content: Option<String>,
    ) -> Self {
        Self { sender, agent_body, content }
    }
}

/// What the host knows about the session before anything runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionFacts {
    /// The host sandboxes this session; Codex would run outside the sandbox.
    pub host_sandbox_active: bool,
    /// The host executes on another node; Codex would run on this one.
    pub executes_on_node: bool,
}

/// Whether the host can run turns on other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it can or it cannot")]
pub enum NodeRuntime {
    /// It can.
    Attached,
    /// It cannot.
    Missing,
}

/// What happens to an inbound message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageClaim {
    /// The message is not for traj; others may handle it.
    NotOurs,
    /// The message is dropped without a reply.
    Silent,
    /// The message is answered without running anything.
    Blocked {
        /// The answer.
        reply: &'static str,
    },
    /// The message runs as a turn.
    Run {
        /// The prompt for the model.
        prompt: String,
    },
}

const APP_SERVER_SANDBOXED: &str = "Codex app-server conversation binding is unavailable because sandboxing is active for this session.";
const APP_SERVER_ON_NODE: &str = "Codex app-server conversation binding is unavailable because commands of this session run on a node.";
const NODE_SANDBOXED: &str = "Codex CLI node conversation binding is unavailable because sandboxing is active for this session.";
const NODE_MISSING: &str =
    "Codex CLI node binding is unavailable because no node runtime is attached.";

/// Decides what happens to a message, before anything is sent.
///
/// Messages from unauthorized senders and messages without text are dropped: they are neither run
/// nor answered.
#[must_use]
pub fn claim_message(
    data: Option<&ConversationData>,
    message: &InboundMessage,
    facts: ExecutionFacts,
    nodes: NodeRuntime,
) -> MessageClaim {
    let Some(data) = data else { return MessageClaim::NotOurs };
    if message.sender != MessageSender::Authorized {
        return MessageClaim::Silent;
    }
    let texts = [&message.agent_body, &message.content];
    let mut texts = texts.into_iter().filter_map(|text| text.as_deref()).map(str::trim);
    let Some(prompt) = texts.find(|text| !text.is_empty()) else { return MessageClaim::Silent };
    let block = match data {
        ConversationData::AppServer { .. } if facts.host_sandbox_active => {
            Some(APP_SERVER_SANDBOXED)
        }
        ConversationData::AppServer { .. } if facts.executes_on_node => Some(APP_SERVER_ON_NODE),
        ConversationData::CliNode { .. } if facts.host_sandbox_active => Some(NODE_SANDBOXED),
        ConversationData::CliNode { .. } if nodes == NodeRuntime::Missing => Some(NODE_MISSING),
        _ => None,
    };
    match block {
        Some(reply) => MessageClaim::Blocked { reply },
        None => MessageClaim::Run { prompt: prompt.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Option<ConversationData> {
        ConversationData::from_json(&Json::parse(text).unwrap())
    }

    fn message(sender: MessageSender, agent: &str, content: &str) -> InboundMessage {
        InboundMessage::new(sender, Some(agent.to_owned()), Some(content.to_owned()))
    }

    const APP: &str = r#"{"kind":"codex-app-server-session","version":1,"sessionFile":"s.jsonl","workspaceDir":"/w"}"#;
    const NODE: &str =
        r#"{"kind":"codex-cli-node-session","version":1,"nodeId":"n","sessionId":"s"}"#;

    #[test]
    fn both_kinds_round_trip_and_others_are_rejected() {
        for text in [APP, NODE] {
            assert_eq!(data(text).unwrap().to_json().to_line(), text);
        }
        for text in [
            "[]",
            r#"{"kind":"other","version":1}"#,
            &APP.replace(":1,", ":2,"),
            &APP.replace("s.jsonl", " "),
        ] {
            assert_eq!(data(text), None, "{text}");
        }
        let padded = NODE.replace("\"n\"", "\" n \"");
        assert_eq!(data(&padded).unwrap().queue_key(), "n:s");
    }

    /// Scenarios 49, 50 and 51, and every other row of the claim table.
    #[test]
    fn every_row_of_the_claim_table() {
        let free = ExecutionFacts::default();
        let sandboxed = ExecutionFacts { host_sandbox_active: true, ..free };
        let on_node = ExecutionFacts { executes_on_node: true, ..free };
        let (app, node) = (data(APP), data(NODE));
        let (authorized, other) = (MessageSender::Authorized, MessageSender::default());
        let yes = message(authorized, " hi ", "raw");
        let run = |prompt: &str| MessageClaim::Run { prompt: prompt.to_owned() };
        let blocked = |reply| MessageClaim::Blocked { reply };
        let rows = [
            (None, yes.clone(), free, MessageClaim::NotOurs),
            (app.as_ref(), message(other, "hi", ""), free, MessageClaim::Silent),
            (app.as_ref(), message(other, "hi", ""), sandboxed, MessageClaim::Silent),
            (app.as_ref(), message(authorized, " ", "\n"), sandboxed, MessageClaim::Silent),
            (app.as_ref(), message(authorized, " ", " raw "), free, run("raw")),
            (app.as_ref(), yes.clone(), free, run("hi")),
            (app.as_ref(), yes.clone(), sandboxed, blocked(APP_SERVER_SANDBOXED)),
            (app.as_ref(), yes.clone(), on_node, blocked(APP_SERVER_ON_NODE)),
            (node.as_ref(), yes.clone(), on_node, run("hi")),
            (node.as_ref(), yes.clone(), sandboxed, blocked(NODE_SANDBOXED)),
        ];
        for (data, message, facts, expected) in rows {
            let claimed = claim_message(data, &message, facts, NodeRuntime::Attached);
            assert_eq!(claimed, expected, "{data:?} {message:?} {facts:?}");
        }
        let claimed = claim_message(node.as_ref(), &yes, free, NodeRuntime::Missing);
        assert_eq!(claimed, blocked(NODE_MISSING));
    }
}
