//! Tests of the client with servers that behave, misbehave and die.

mod queue_limits;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines, ReadHalf};
use traj_core::id::{ThreadId, TurnId};
use traj_core::port::{
    ApprovalDecision, HostReply, ServerRequest, StartTurn, ThreadEvent, ThreadListener,
    ThreadService as _, TurnService as _,
};
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};

use super::*;
use crate::transport::{MemoryPeer, memory};

fn options() -> ClientOptions {
    let policy = RedactionPolicy::standard(MarkerKey::new([7; 32]));
    ClientOptions::standard(Redactor::new(policy))
}

/// The server's end of the connection, driven by the test.
struct Peer {
    lines: Lines<BufReader<ReadHalf<tokio::io::DuplexStream>>>,
    writer: tokio::io::WriteHalf<tokio::io::DuplexStream>,
}

impl Peer {
    fn new(peer: MemoryPeer) -> Self {
        Self { lines: BufReader::new(peer.reader).lines(), writer: peer.writer }
    }

    async fn read(&mut self) -> Json<'static> {
        let line = self.lines.next_line().await.unwrap().unwrap();
        Json::parse(&line).unwrap().into_owned()
    }

    async fn write(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    async fn introduce(&mut self, agent: &str) {
        let hello = self.read().await;
        let client = format!(
            r#"{{"name":"traj","title":"traj","version":"{}"}}"#,
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(
            hello.to_line(),
            format!(
                r#"{{"id":1,"method":"initialize","params":{{"clientInfo":{client},"capabilities":{{"experimentalApi":true}}}}}}"#
            )
        );
        self.write(&format!(r#"{{"id":1,"result":{{"userAgent":"{agent}"}}}}"#)).await;
    }
}

async fn connected() -> (Client, Peer) {
    connected_with(options()).await
}

async fn connected_with(options: ClientOptions) -> (Client, Peer) {
    let (transport, peer) = memory();
    let mut peer = Peer::new(peer);
    let (client, ()) =
        tokio::join!(Client::connect(transport, options), peer.introduce("traj/0.166.0 (x)"));
    let told = peer.read().await;
    assert_eq!(told.to_line(), r#"{"method":"initialized"}"#);
    (client.unwrap(), peer)
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).unwrap()
}

#[derive(Debug, Default)]
struct Hearing {
    events: Mutex<Vec<ThreadEvent>>,
    lost: Mutex<Option<CloseCause>>,
    accepts: bool,
}

#[async_trait]
impl ThreadListener for Hearing {
    fn event(&self, event: &ThreadEvent) {
        self.events.lock().unwrap().push(event.clone());
    }

    async fn request(&self, _request: &ServerRequest) -> Option<HostReply> {
        self.accepts.then_some(ApprovalDecision::Accept.into())
    }

    fn lost(&self, cause: CloseCause) {
        *self.lost.lock().unwrap() = Some(cause);
    }
}

/// Scenario 73: a server that is too old, or reports no version, is stopped before `initialized`.
#[tokio::test]
async fn an_old_server_is_refused() {
    for agent in ["traj/0.124.9 (x)", "traj"] {
        let (transport, peer) = memory();
        let mut peer = Peer::new(peer);
        let (client, ()) =
            tokio::join!(Client::connect(transport, options()), peer.introduce(agent));
        let error = client.unwrap_err();
        let is_version = matches!(
            error,
            AppServerError::Closed { cause: CloseCause::UnsupportedVersion { .. } }
        );
        assert!(is_version, "{error}");
        assert_eq!(peer.lines.next_line().await.unwrap(), None, "nothing more is said");
    }
}

/// Scenario 80: a server that never completes the handshake is stopped at the timeout.
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    let (transport, _peer) = memory();
    let error = Client::connect(transport, options()).await.unwrap_err();
    assert!(matches!(error, AppServerError::TimedOut { method: "initialize" }), "{error}");
}

/// Scenario 75: the end of the server ends calls and listeners at once, and later calls too.
#[tokio::test]
async fn the_end_of_the_server_is_heard_at_once() {
    let (client, mut peer) = connected().await;
    let hearing = Arc::new(Hearing::default());
    let _listening = client.listen(&thread("t"), hearing.clone());
    let waiting = client.clone();
    let call = tokio::spawn(async move { waiting.read_thread(&thread("t")).await });
    peer.read().await;
    drop(peer);
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, AppServerError::Closed { .. }), "{error}");
    assert!(matches!(client.wait_closed().await, CloseCause::Exited { .. }));
    let later = client.read_thread(&thread("t")).await.unwrap_err();
    assert!(matches!(later, AppServerError::Closed { .. }), "{later}");
    let late = Arc::new(Hearing::default());
    let _listening = client.listen(&thread("t"), late.clone());
    assert!(hearing.lost.lock().unwrap().is_some());
    assert!(late.lost.lock().unwrap().is_some());
}

/// Scenario 61: a thread's events and questions reach its listener and nobody else.
#[tokio::test]
async fn threads_do_not_hear_each_other() {
    let (client, mut peer) = connected().await;
    let mine = Arc::new(Hearing { accepts: true, ..Hearing::default() });
    let _listening = client.listen(&thread("mine"), mine.clone());
    peer.write(r#"{"method":"turn/started","params":{"threadId":"other","turn":{"id":"u"}}}"#)
        .await;
    peer.write(r#"{"method":"turn/started","params":{"threadId":"mine","turn":{"id":"u"}}}"#).await;
    let question = |thread: &str, id: u64| {
        format!(
            r#"{{"id":{id},"method":"item/commandExecution/requestApproval","params":{{"threadId":"{thread}","turnId":"u"}}}}"#
        )
    };
    peer.write(&question("other", 0)).await;
    assert_eq!(peer.read().await.to_line(), r#"{"id":0,"result":{"decision":"decline"}}"#);
    peer.write(&question("mine", 1)).await;
    assert_eq!(peer.read().await.to_line(), r#"{"id":1,"result":{"decision":"accept"}}"#);
    let turn = TurnId::parse("u").unwrap();
    assert_eq!(*mine.events.lock().unwrap(), [ThreadEvent::TurnStarted { turn }]);
}

/// Scenario 76: every question is answered, unknown ones with an error, and nothing is granted.
#[tokio::test]
async fn questions_without_a_host_are_answered() {
    let (_client, mut peer) = connected().await;
    peer.write(r#"{"id":"a","method":"item/tool/requestUserInput","params":{"threadId":"t"}}"#)
        .await;
    assert_eq!(peer.read().await.to_line(), r#"{"id":"a","result":{"answers":{}}}"#);
    peer.write(r#"{"id":7,"method":"account/chatgptAuthTokens/refresh","params":{}}"#).await;
    let answer = peer.read().await;
    assert!(answer.get("error").is_some() && answer.get("result").is_none());
}

/// Scenario 76: if the host hangs, the client answers for it at the timeout.
#[tokio::test(start_paused = true)]
async fn a_hanging_tool_is_answered_for() {
    #[derive(Debug)]
    struct Hanging;
    #[async_trait]
    impl ThreadListener for Hanging {
        fn event(&self, _event: &ThreadEvent) {}
        async fn request(&self, _request: &ServerRequest) -> Option<HostReply> {
            std::future::pending().await
        }
        fn lost(&self, _cause: CloseCause) {}
    }
    let (client, mut peer) = connected().await;
    let _listening = client.listen(&thread("t"), Arc::new(Hanging));
    let began = Instant::now();
    peer.write(r#"{"id":0,"method":"item/tool/call","params":{"threadId":"t"}}"#).await;
    let answer = peer.read().await;
    assert_eq!(began.elapsed().as_secs(), 600, "the paused clock shows when it was answered");
    assert_eq!(answer.get("result").and_then(|r| r.get("success")), Some(&Json::Bool(false)));
}

/// Scenario 74 over a connection: garbage, broken and huge lines do not end it.
#[tokio::test]
async fn garbage_does_not_end_the_connection() {
    let mut options = options();
    options.longest_line = 1_000;
    let (client, mut peer) = connected_with(options).await;
    peer.write("warning: something on the wrong stream").await;
    peer.write(&"x".repeat(5_000)).await;
    peer.write(r#"{"id":99,"result":{}}"#).await;
    let start = StartTurn::new(thread("t"), vec![]);
    let answering = async {
        peer.read().await;
        peer.write(r#"{"id":2,"result":{"turn":{"id":"u"}}}"#).await;
    };
    let (turn, ()) = tokio::join!(client.start_turn(start), answering);
    assert_eq!(turn.unwrap().as_str(), "u");
    let counters = client.counters();
    assert_eq!(
        (counters.garbage_lines, counters.oversized_lines, counters.stray_answers),
        (1, 1, 1)
    );
}

/// Scenario 70: a timeout is never too short to be met or too long for the clock.
#[tokio::test(start_paused = true)]
async fn timeouts_are_kept_within_reason() {
    let (client, mut peer) = connected().await;
    let began = Instant::now();
    let error = client.call("thread/read", Json::Null, Duration::ZERO).await.unwrap_err();
    assert!(matches!(error, AppServerError::TimedOut { .. }), "{error}");
    assert_eq!(began.elapsed(), SHORTEST_TIMEOUT);
    let answering = async {
        peer.read().await;
        peer.read().await;
        peer.write(r#"{"id":3,"result":1}"#).await;
    };
    let (answer, ()) =
        tokio::join!(client.call("thread/read", Json::Null, Duration::MAX), answering);
    assert_eq!(answer.unwrap(), Json::from(1_u64));
}

/// A dropped caller is removed, and its late answer is ignored.
#[tokio::test]
async fn an_abandoned_call_is_forgotten() {
    let (client, mut peer) = connected().await;
    let target = thread("t");
    let abandoned = tokio::time::timeout(Duration::from_millis(1), client.read_thread(&target));
    assert!(abandoned.await.is_err());
    let next = client.release_thread(&target);
    let answering = async {
        peer.read().await;
        // The second call is written after the first one was forgotten.
        peer.read().await;
        peer.write(r#"{"id":2,"result":{}}"#).await;
        peer.write(r#"{"id":3,"result":{"status":"notLoaded"}}"#).await;
    };
    let (released, ()) = tokio::join!(next, answering);
    released.unwrap();
    assert_eq!(client.counters().stray_answers, 1);
}

/// A flood of notifications costs time, not memory: each is handled before the next is read.
#[tokio::test]
async fn a_flood_of_notifications_is_survived() {
    #[derive(Debug, Default)]
    struct Counting(AtomicU64);
    #[async_trait]
    impl ThreadListener for Counting {
        fn event(&self, _event: &ThreadEvent) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        async fn request(&self, _request: &ServerRequest) -> Option<HostReply> {
            None
        }
        fn lost(&self, _cause: CloseCause) {}
    }
    const FLOOD: u64 = 20_000;
    let (client, mut peer) = connected().await;
    let counting = Arc::new(Counting::default());
    let _listening = client.listen(&thread("t"), counting.clone());
    let note = r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"i","delta":"x"}}"#;
    for _ in 0..FLOOD {
        peer.write(note).await;
    }
    let target = thread("t");
    let next = client.release_thread(&target);
    let answering = async {
        peer.read().await;
        peer.write(r#"{"id":2,"result":{}}"#).await;
    };
    let (released, ()) = tokio::join!(next, answering);
    released.unwrap();
    assert_eq!(counting.0.load(Ordering::Relaxed), FLOOD);
}
