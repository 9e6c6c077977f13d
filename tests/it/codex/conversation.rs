//! A bound conversation on the real Codex CLI, through a shared server.

use std::sync::Arc;

use async_trait::async_trait;
use codex_binding::transport::ServerCommand;
use codex_binding::{
    ClientPool, Connection, Connector, ConversationOptions, Conversations, Handled,
    HostPermissions, Inbound, PoolKey, ServerChoice,
};
use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    ApprovalPolicy, BOUND_THREAD_INSTRUCTIONS, ConversationData, ExecPolicy, InboundMessage,
    MessageSender, Permissions, SandboxMode,
};
use traj_core::port::{AppServerError, DenyAll};
use traj_core::redaction::MarkerKey;
use traj_tests::codex_rig::{CodexRig, VERSIONS, client_options};

#[derive(Debug)]
struct RigConnector(Arc<CodexRig>);

#[async_trait]
impl Connector for RigConnector {
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError> {
        Ok(Arc::new(self.0.connect().await))
    }
}

fn message(rig: &Arc<CodexRig>, text: &str) -> Inbound {
    let data = ConversationData::AppServer {
        session_file: "session.jsonl".to_owned(),
        workspace: None,
        agent_dir: None,
    };
    let command = ServerCommand::codex(rig.program(), rig.environment(), rig.workspace());
    let server = PoolKey::of(&command, None, &MarkerKey::new([1; 32]));
    let runtime = Permissions::new(ApprovalPolicy::Never, SandboxMode::WorkspaceWrite);
    let connector = Arc::new(RigConnector(Arc::clone(rig)));
    Inbound::new(
        InboundMessage::new(MessageSender::Authorized, Some(text.to_owned()), None),
        rig.plan(),
        ServerChoice { key: server, connector },
        HostPermissions { policy: ExecPolicy::resolve(&[], None), runtime },
    )
    .in_conversation(data)
    .recorded_in(Arc::new(rig.events.clone()))
}

/// Turns on one server, its death, and turns on the next one share one thread and its history.
#[tokio::test]
async fn a_conversation_outlives_its_servers() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let rig = Arc::new(rig);
        let options =
            ConversationOptions::standard(Arc::new(DenyAll::new()), client_options().redactor);
        let pool = ClientPool::new();
        let conversations = Conversations::new(rig.keeper.clone(), pool.clone(), options);
        let never = CancellationToken::new();
        for round in 0..2 {
            for number in 0..2 {
                let text = format!("message {round}-{number}");
                let handled = conversations.inbound(message(&rig, &text), &never).await;
                assert_eq!(handled, Handled::Reply(format!("echo: {text}")), "{version}");
            }
            pool.stop().await;
        }
        let history = rig.model.requests().last().expect("a request").to_string();
        for text in ["message 0-0", "message 0-1", "message 1-0", "message 1-1"] {
            assert!(history.contains(text), "{version}: {text}");
        }
        let record = rig.keeper.load(&rig.plan().key).await.unwrap().unwrap().record;
        assert_eq!(record.turns, 4, "{version}");
    }
}

/// The model is told where its replies go: by the first message of a conversation, and by binding
/// it to a new thread.
#[tokio::test]
async fn the_model_is_told_where_its_replies_go() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let rig = Arc::new(rig);
        let options =
            ConversationOptions::standard(Arc::new(DenyAll::new()), client_options().redactor);
        let pool = ClientPool::new();
        let conversations = Conversations::new(rig.keeper.clone(), pool.clone(), options);
        let never = CancellationToken::new();
        let is_told = || {
            let asked = rig.model.requests().last().expect("a request").to_string();
            asked.contains(BOUND_THREAD_INSTRUCTIONS)
        };
        conversations.inbound(message(&rig, "hello"), &never).await;
        assert!(is_told(), "{version}: by the message");
        let mut silent = message(&rig, "again");
        let (server, permissions) = (&silent.server, &silent.permissions);
        let bound = conversations.bind(&silent.plan, None, server, permissions, &never).await;
        let former = bound.expect("it is bound").former_threads;
        assert_eq!(former.len(), 1, "{version}: to a new thread");
        // The message itself sends no instructions.
        silent.plan.settings.developer_instructions = Some(" ".to_owned());
        conversations.inbound(silent, &never).await;
        assert!(is_told(), "{version}: by the binding");
        pool.stop().await;
    }
}
