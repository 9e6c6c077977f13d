//! The cost of the client on top of the server: per turn, when it dies, with many conversations.

mod scripted;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use codex_binding::{Client, TurnOptions};
use serde_json::{Value, json};
use traj_core::port::DenyAll;
use traj_tests::codex_rig::{CodexRig, newest};
use traj_tests::model_server::Reply;

use crate::figure::Figure;
use crate::measure::percentile;
use crate::{Bench, Outcome};

pub(crate) fn run(bench: &Bench) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut figures = runtime.block_on(scripted::run(bench))?;
    if let Some(rig) = CodexRig::new(newest()) {
        figures.extend(runtime.block_on(with_codex(bench, &rig))?);
    }
    Ok(figures)
}

async fn with_codex(bench: &Bench, rig: &CodexRig) -> Outcome {
    let client = rig.connect().await;
    let ready = rig.ready(&client, &rig.plan()).await;
    let mut bare = BareScript::start(rig)?;
    let mut options = TurnOptions::standard(Arc::new(DenyAll::new()));
    options.timeout = Duration::from_secs(60);
    let rounds = bench.size(60, 2);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // In turn, so that a slow moment of the machine affects both.
    for round in 0..rounds {
        let prompt = format!("turn {round}");
        let began = Instant::now();
        rig.run(&client, &ready, &prompt, &options).await?;
        ours.push(began.elapsed());
        let began = Instant::now();
        bare.turn(&prompt)?;
        theirs.push(began.elapsed());
    }
    let ours = percentile(&mut ours, 50.0).as_secs_f64();
    let theirs = percentile(&mut theirs, 50.0).as_secs_f64();
    let noticed = death(rig, &client, &ready, &options).await;
    Ok(vec![
        Figure::new("turn through the client", ours * 1000.0, "ms"),
        Figure::ratio("turn through the client / bare script", ours, theirs).at_most(1.05),
        Figure::new("death of the server in a turn, noticed after", noticed * 1000.0, "ms")
            .at_most(1000.0),
    ])
}

/// Seconds between the kill and the end of the turn.
async fn death(
    rig: &CodexRig,
    client: &Client,
    ready: &codex_binding::ReadyThread,
    options: &TurnOptions,
) -> f64 {
    rig.model.script("doomed", [Reply::held("cut off")]);
    let killing = async {
        rig.asked("doomed").await;
        let process = client.process_id().and_then(|id| i32::try_from(id).ok());
        if let Some(process) = process.and_then(rustix::process::Pid::from_raw) {
            rustix::process::kill_process(process, rustix::process::Signal::KILL).ok();
        }
        Instant::now()
    };
    let (_lost, killed) = tokio::join!(rig.run(client, ready, "doomed", options), killing);
    killed.elapsed().as_secs_f64()
}

/// The same server with the simplest possible client.
struct BareScript {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    thread: Value,
    next: u64,
}

impl BareScript {
    fn start(rig: &CodexRig) -> std::io::Result<Self> {
        let mut child = Command::new(rig.program())
            .arg("app-server")
            .env_clear()
            .envs(rig.environment())
            .current_dir(rig.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || std::io::Error::other("a standard stream is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let mut script = Self { child, stdin, stdout, thread: Value::Null, next: 1 };
        let info = json!({"name": "bare", "version": "1"});
        let capabilities = json!({"experimentalApi": true});
        script.call("initialize", json!({"clientInfo": info, "capabilities": capabilities}))?;
        let cwd = rig.workspace().to_string_lossy().into_owned();
        let answer = script.call("thread/start", json!({"cwd": cwd}))?;
        script.thread = answer["result"]["thread"]["id"].clone();
        Ok(script)
    }

    fn call(&mut self, method: &str, params: Value) -> std::io::Result<Value> {
        let id = self.next;
        self.next += 1;
        writeln!(self.stdin, "{}", json!({"id": id, "method": method, "params": params}))?;
        self.read_until(|message| message["id"] == id)
    }

    fn turn(&mut self, prompt: &str) -> std::io::Result<()> {
        let input = json!([{"type": "text", "text": prompt, "text_elements": []}]);
        let thread = self.thread.clone();
        self.call("turn/start", json!({"threadId": thread, "input": input}))?;
        self.read_until(|message| message["method"] == "turn/completed").map(drop)
    }

    fn read_until(&mut self, wanted: impl Fn(&Value) -> bool) -> std::io::Result<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.stdout.read_line(&mut line)? == 0 {
                return Err(std::io::Error::other("the server ended"));
            }
            let message: Value = serde_json::from_str(&line)?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }
}

impl Drop for BareScript {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
