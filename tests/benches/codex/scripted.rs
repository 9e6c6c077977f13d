//! A thousand conversations on one scripted server, twice. The second round must not add memory.

use std::sync::Arc;

use async_trait::async_trait;
use codex_binding::transport::{MemoryPeer, ServerCommand, memory};
use codex_binding::{
    Client, ClientPool, Connection, Connector, ConversationOptions, Conversations, Handled,
    HostPermissions, Inbound, PoolKey, ServerChoice, ThreadLifecycle, ThreadPlan,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;
use traj_core::binding::{
    ApprovalPolicy, ConversationData, ExecPolicy, InboundMessage, MessageSender, Permissions,
    SandboxMode,
};
use traj_core::json::Json;
use traj_core::memory::{FixedClock, MemoryBindingStore};
use traj_core::port::{AppServerError, BindingKey, DenyAll};
use traj_core::redaction::MarkerKey;
use traj_tests::codex_rig::client_options;

use crate::figure::Figure;
use crate::measure::resident_mib;
use crate::{Bench, Outcome};

pub(super) async fn run(bench: &Bench) -> Outcome {
    let count = bench.size(1_000, 20);
    let keeper =
        ThreadLifecycle::new(Arc::new(MemoryBindingStore::new()), Arc::new(FixedClock::default()));
    let options =
        ConversationOptions::standard(Arc::new(DenyAll::new()), client_options().redactor);
    let conversations = Conversations::new(keeper, ClientPool::new(), options);
    round(&conversations, count).await?;
    let before = resident_mib()?;
    let began = std::time::Instant::now();
    round(&conversations, count).await?;
    let seconds = began.elapsed().as_secs_f64();
    let growth = resident_mib()? - before;
    Ok(vec![
        Figure::new(format!("{count} more conversations, memory"), growth, "MiB").at_most(4.0),
        Figure::new(format!("{count} more conversations, two messages each"), seconds, "s"),
    ])
}

/// Two messages in each of `count` conversations, all waiting at once.
async fn round(
    conversations: &Conversations,
    count: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..count {
        for _ in 0..2 {
            let conversations = conversations.clone();
            let inbound = message(&format!("s{number}.jsonl"))?;
            let never = CancellationToken::new();
            tasks.spawn(async move { conversations.inbound(inbound, &never).await });
        }
    }
    while let Some(handled) = tasks.join_next().await {
        match handled? {
            Handled::Reply(reply) if reply == "scripted" => {}
            other => return Err(format!("unexpected: {other:?}").into()),
        }
    }
    Ok(())
}

fn message(session: &str) -> Result<Inbound, Box<dyn std::error::Error>> {
    let session_file = session.to_owned();
    let data = ConversationData::AppServer { session_file, workspace: None, agent_dir: None };
    let command = ServerCommand::codex("scripted", vec![], "/");
    let server = PoolKey::of(&command, None, &MarkerKey::new([1; 32]));
    let runtime = Permissions::new(ApprovalPolicy::Never, SandboxMode::ReadOnly);
    let inbound = Inbound::new(
        InboundMessage::new(MessageSender::Authorized, Some("hello".to_owned()), None),
        ThreadPlan::new(BindingKey::parse(session)?, "/"),
        ServerChoice { key: server, connector: Arc::new(Scripted) },
        HostPermissions { policy: ExecPolicy::resolve(&[], None), runtime },
    );
    Ok(inbound.in_conversation(data))
}

#[derive(Debug)]
struct Scripted;

#[async_trait]
impl Connector for Scripted {
    async fn connect(&self) -> Result<Arc<dyn Connection>, AppServerError> {
        let (transport, peer) = memory();
        // The task ends with the connection.
        drop(tokio::spawn(serve(peer)));
        Ok(Arc::new(Client::connect(transport, client_options()).await?))
    }
}

/// Answers every call; a turn has one message and completes.
async fn serve(peer: MemoryPeer) -> Option<()> {
    let mut lines = BufReader::new(peer.reader).lines();
    let mut writer = peer.writer;
    let mut threads = 0_u64;
    while let Some(line) = lines.next_line().await.ok()? {
        let message = Json::parse(&line).ok()?;
        let Some(id) = message.get("id").map(Json::to_line) else { continue };
        let thread = message.get("params").and_then(|params| params.get("threadId"));
        let thread = thread.and_then(Json::as_str).unwrap_or_default();
        let answer = match message.get("method").and_then(Json::as_str)? {
            "initialize" => format!(r#"{{"id":{id},"result":{{"userAgent":"traj/0.166.0 (x)"}}}}"#),
            "thread/start" => {
                threads += 1;
                format!(r#"{{"id":{id},"result":{{"thread":{{"id":"t{threads}"}}}}}}"#)
            }
            "thread/resume" => format!(r#"{{"id":{id},"result":{{"thread":{{"id":"{thread}"}}}}}}"#),
            "turn/start" => [
                format!(r#"{{"id":{id},"result":{{"turn":{{"id":"u{id}"}}}}}}"#),
                format!(r#"{{"method":"item/completed","params":{{"threadId":"{thread}","turnId":"u{id}","item":{{"type":"agentMessage","id":"m","text":"scripted"}}}}}}"#),
                format!(r#"{{"method":"turn/completed","params":{{"threadId":"{thread}","turn":{{"id":"u{id}","status":"completed","items":[]}}}}}}"#),
            ]
            .join("\n"),
            _ => format!(r#"{{"id":{id},"result":{{}}}}"#),
        };
        writer.write_all(format!("{answer}\n").as_bytes()).await.ok()?;
    }
    Some(())
}
