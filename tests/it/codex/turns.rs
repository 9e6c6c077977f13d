//! Turns with the real Codex CLI, on every pinned version: requests, interruptions, crashes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use codex_binding::{Client, HowOpened, TurnError, TurnOptions, TurnOutcome};
use serde_json::json;
use traj_core::binding::TurnInput;
use traj_core::json::Json;
use traj_core::port::{
    BindingKey, DenyAll, HostReply, RequestHandler, RequestKind, ServerRequest, ToolOutcome,
    TurnService as _,
};
use traj_tests::codex_rig::{CodexRig, PATIENCE, VERSIONS, newest};
use traj_tests::model_server::Reply;

fn options() -> TurnOptions {
    let mut options = TurnOptions::standard(Arc::new(DenyAll::new()));
    options.timeout = PATIENCE;
    options.interrupt_timeout = PATIENCE;
    options
}

/// Remembers all requests, and answers only tool calls.
#[derive(Debug, Default)]
struct ToolsOnly {
    asked: Mutex<Vec<RequestKind>>,
}

#[async_trait]
impl RequestHandler for ToolsOnly {
    async fn answer(&self, request: &ServerRequest) -> HostReply {
        self.asked.lock().unwrap().push(request.kind);
        let text = request.params.get("arguments").map(Json::to_line).unwrap_or_default();
        match request.kind {
            RequestKind::ToolCall => ToolOutcome::succeeded(format!("delivered {text}")).into(),
            _ => HostReply::none(),
        }
    }
}

/// The last request to the model, as a string.
fn sent(rig: &CodexRig) -> String {
    rig.model.requests().last().expect("a request").to_string()
}

/// An approval that nobody grants is declined, and the command does not run.
#[tokio::test]
async fn approvals_are_declined() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let forbidden = rig.workspace().join("forbidden");
        let command = format!("touch {}", forbidden.display());
        rig.model.script("escalate", [Reply::escalated_shell(&command), Reply::text("well then")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        let handler = Arc::new(ToolsOnly::default());
        let report = rig.turn_with(&client, &ready, "escalate", handler.clone()).await;
        assert_eq!(report.outcome, TurnOutcome::Completed, "{version}");
        assert_eq!(report.text, "well then", "{version}");
        assert_eq!(*handler.asked.lock().unwrap(), [RequestKind::Approval], "{version}");
        assert!(!forbidden.exists(), "{version}: the command did not run");
        assert!(sent(&rig).contains("rejected by user"), "{version}");
        client.stop().await;
    }
}

/// A tool of the host is called, answered and recorded; it survives a restart without being sent again.
#[tokio::test]
async fn tools_of_the_host_are_answered() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let call = || Reply::call("message", json!({"text": "ahoy"}));
        rig.model.script("deliver", [call(), Reply::text("done it")]);
        let tool = r#"{"type":"function","name":"message","description":"Sends","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}"#;
        let plan = rig.plan().with_tools(vec![Json::parse(tool).unwrap()]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        let report =
            rig.turn_with(&client, &ready, "deliver", Arc::new(ToolsOnly::default())).await;
        assert_eq!(report.text, "done it", "{version}");
        assert!(sent(&rig).contains("delivered"), "{version}: the model heard the tool");
        let kinds = rig.events.kinds();
        assert!(kinds.contains(&"tool.call".to_owned()), "{version}: {kinds:?}");
        assert!(kinds.contains(&"tool.result".to_owned()), "{version}: {kinds:?}");
        let usage = report.usage.expect("tokens were counted");
        assert_eq!(usage.total, 300, "{version}: two responses of 150");
        client.stop().await;

        let client = rig.connect().await;
        let resumed = rig.ready(&client, &plan).await;
        assert_eq!(resumed.how, HowOpened::Resumed, "{version}");
        let nobody = rig.turn(&client, &resumed, "deliver once more").await;
        assert_eq!(nobody.outcome, TurnOutcome::Completed, "{version}");
        assert!(sent(&rig).contains("not available"), "{version}: refused without a host");
        client.stop().await;
    }
}

/// An interrupted turn has a distinct outcome; the next turn works on the same thread.
#[tokio::test]
async fn a_turn_is_interrupted_and_the_thread_goes_on() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("hold", [Reply::held("partial words")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        let options = options();
        let interrupting = async {
            rig.asked("hold").await;
            options.cancel.cancel();
        };
        let (report, ()) =
            tokio::join!(rig.run(&client, &ready, "hold on", &options), interrupting);
        assert_eq!(report.unwrap().outcome, TurnOutcome::Interrupted, "{version}");
        assert_eq!(rig.turn(&client, &ready, "next").await.text, "echo: next", "{version}");
        client.stop().await;
    }
}

/// If the model is too slow, the turn is interrupted, and Codex confirms it (scenario 63).
#[tokio::test]
async fn a_slow_model_times_out() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("slow", [Reply::held("never done")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        let mut options = options();
        options.timeout = Duration::from_millis(700);
        let report = rig.run(&client, &ready, "slow one", &options).await.unwrap();
        assert_eq!(report.outcome, TurnOutcome::TimedOut { confirmed: true }, "{version}");
        assert_eq!(rig.turn(&client, &ready, "next").await.text, "echo: next", "{version}");
        client.stop().await;
    }
}

/// A message that is sent while the turn runs reaches the model.
#[tokio::test]
async fn a_running_turn_is_steered() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("begin", [Reply::held("thinking")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        let running = Arc::new(Running::default());
        let mut options = options();
        options.observer = Some(running.clone());
        let steering = async {
            rig.asked("begin").await;
            let turn = running.turn().await;
            let more = TurnInput::text("and mention violets").items();
            client.steer_turn(ready.thread(), &turn, more).await.unwrap();
            rig.model.release("begin");
        };
        let (report, ()) = tokio::join!(rig.run(&client, &ready, "begin", &options), steering);
        let report = report.unwrap();
        assert_eq!(report.outcome, TurnOutcome::Completed, "{version}");
        let all: String = rig.model.requests().iter().map(ToString::to_string).collect();
        assert!(all.contains("violets"), "{version}: {report:?}");
        client.stop().await;
    }
}

/// The running turn, once its start is reported.
#[derive(Debug)]
struct Running(tokio::sync::watch::Sender<Option<traj_core::id::TurnId>>);

impl Default for Running {
    fn default() -> Self {
        Self(tokio::sync::watch::Sender::new(None))
    }
}

impl Running {
    async fn turn(&self) -> traj_core::id::TurnId {
        let mut turn = self.0.subscribe();
        turn.wait_for(Option::is_some).await.unwrap().clone().unwrap()
    }
}

impl codex_binding::TurnObserver for Running {
    fn event(&self, event: &traj_core::port::ThreadEvent) {
        if let Some(turn) = event.turn() {
            self.0.send_replace(Some(turn.clone()));
        }
    }
}

/// Two threads of one server run at once and do not mix (scenario 64).
#[tokio::test]
async fn two_threads_run_at_once() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("first", [Reply::held("first answer")]);
        let client = rig.connect().await;
        let one = rig.ready(&client, &rig.plan()).await;
        let mut other_plan = rig.plan();
        other_plan.key = BindingKey::parse("other.jsonl").unwrap();
        let two = rig.ready(&client, &other_plan).await;
        assert_ne!(one.thread(), two.thread());
        let options = options();
        let second = async {
            rig.asked("first").await;
            let report = rig.run(&client, &two, "second", &options).await.unwrap();
            rig.model.release("first");
            report
        };
        let (first, second) = tokio::join!(rig.run(&client, &one, "first", &options), second);
        assert_eq!(first.unwrap().text, "first answer", "{version}");
        assert_eq!(second.text, "echo: second", "{version}: ended while the first still ran");
        client.stop().await;
    }
}

/// If the server is killed during a turn, the turn ends at once, without a timeout or a loss.
#[tokio::test]
async fn a_server_killed_in_a_turn_is_noticed_at_once() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("doomed", [Reply::held("cut off")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        rig.turn(&client, &ready, "the word is gorse").await;
        let options = options();
        let killing = async {
            rig.asked("doomed").await;
            kill(&client);
            Instant::now()
        };
        let (report, killed) = tokio::join!(rig.run(&client, &ready, "doomed", &options), killing);
        assert!(matches!(report, Err(TurnError::Lost { .. })), "{version}: {report:?}");
        assert!(killed.elapsed() < PATIENCE / 3, "{version}: it did not wait for the timeout");
        client.stop().await;

        let client = rig.connect().await;
        let resumed = rig.ready(&client, &rig.plan()).await;
        assert_eq!((resumed.thread(), &resumed.how), (ready.thread(), &HowOpened::Resumed));
        assert_eq!(rig.turn(&client, &resumed, "go on").await.outcome, TurnOutcome::Completed);
        let history = sent(&rig);
        assert!(history.contains("gorse") && history.contains("doomed"), "{version}");
        client.stop().await;
    }
}

/// A model can fail in several ways; the thread stays usable after each.
#[tokio::test]
async fn failing_models_fail_the_turn_only() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("refuse", [Reply::failure(400, "scripted refusal")]);
        rig.model.script("break", [Reply::failure(500, "scripted failure")]);
        rig.model.script("drop", [Reply::dropped("and then")]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &rig.plan()).await;
        for prompt in ["refuse", "break", "drop"] {
            let report = rig.turn(&client, &ready, prompt).await;
            assert!(matches!(report.outcome, TurnOutcome::Failed { .. }), "{version}: {report:?}");
        }
        assert_eq!(rig.turn(&client, &ready, "now").await.text, "echo: now", "{version}");
        client.stop().await;
    }
}

/// Commentary does not replace the answer (scenario 69).
#[tokio::test]
async fn commentary_is_not_an_answer() {
    let Some(rig) = CodexRig::new(newest()) else { return };
    let reply = Reply::text("so it is").and_text("the answer", Some("final_answer"));
    rig.model.script("phases", [reply.and_text("by the way", Some("commentary"))]);
    let client = rig.connect().await;
    let ready = rig.ready(&client, &rig.plan()).await;
    assert_eq!(rig.turn(&client, &ready, "phases").await.text, "the answer");
    client.stop().await;
}

fn kill(client: &Client) {
    use rustix::process::{Pid, Signal, kill_process};
    let process = i32::try_from(client.process_id().unwrap()).unwrap();
    kill_process(Pid::from_raw(process).unwrap(), Signal::KILL).unwrap();
}
