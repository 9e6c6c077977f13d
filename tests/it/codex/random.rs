//! Random sequences of turns, kills, restarts, changes of tools and losses of rollouts, with the
//! real server: no answered message and no binding is ever lost, unless its rollout is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use codex_binding::{Client, HowOpened, LoadedThreads, ReadyThread, ThreadPlan, TurnOptions};
use codex_binding::{LifecycleError, TurnOutcome};
use tokio_util::sync::CancellationToken;
use traj_core::binding::CarryOver;
use traj_core::id::ThreadId;
use traj_core::json::Json;
use traj_core::port::{BindingStore as _, DenyAll, ThreadService as _};
use traj_tests::codex_rig::{CodexRig, PATIENCE, is_sweep, newest};
use traj_tests::dice::Dice;

/// Sequences per run; the same test in memory runs hundreds of them.
const SEQUENCES: u64 = 4;
/// Sequences in the long run before a release.
const SWEEP_SEQUENCES: u64 = 200;
const STEPS: u64 = 8;

/// A session on a server, and what must be true of it.
struct World {
    rig: CodexRig,
    client: Client,
    dice: Dice,
    /// The number of the tool that the plan offers.
    tool: u64,
    /// The thread that the session must be bound to.
    thread: Option<ThreadId>,
    /// The messages that the model must know.
    answered: Vec<String>,
    /// How many turns ended on the thread.
    turns: u64,
    /// Whether the thread was used, so that Codex has it on disk.
    is_on_disk: bool,
    is_rollout_lost: bool,
}

impl World {
    async fn new(sequence: u64) -> Option<Self> {
        let rig = CodexRig::new(newest())?;
        let client = rig.connect().await;
        Some(Self {
            rig,
            client,
            dice: Dice::new(sequence + 1),
            tool: 0,
            thread: None,
            answered: Vec::new(),
            turns: 0,
            is_on_disk: false,
            is_rollout_lost: false,
        })
    }

    fn plan(&self) -> ThreadPlan {
        let tool = format!(
            r#"{{"type":"function","name":"look{}","description":"Looks.","inputSchema":{{"type":"object","properties":{{}}}}}}"#,
            self.tool
        );
        let tool = Json::parse(&tool).map(Json::into_owned).expect("a tool");
        let mut plan = self.rig.plan().with_tools(vec![tool]);
        plan.carry_over = CarryOver::history();
        plan
    }

    async fn step(&mut self, name: &str) {
        match self.dice.below(10) {
            0 => self.client.stop().await,
            1 => kill(&self.client),
            2 | 3 => self.tool += 1,
            4 => self.lose_rollout().await,
            5..=7 => self.turn(name, true).await,
            _ => self.turn(name, false).await,
        }
    }

    /// Removes the thread's file while no server has it open.
    async fn lose_rollout(&mut self) {
        self.client.stop().await;
        let Some(stored) = self.rig.store.load(&self.rig.plan().key).expect("a record") else {
            return;
        };
        if let Some(path) = &stored.record.rollout_path {
            self.is_rollout_lost |= remove(Path::new(path));
        }
    }

    /// Runs a turn; the server may be killed meanwhile.
    async fn turn(&mut self, prompt: &str, may_kill: bool) {
        if self.client.closed().is_some() {
            self.client = self.rig.connect().await;
        }
        let Some(ready) = self.open(prompt).await else { return };
        let mut options = TurnOptions::standard(Arc::new(DenyAll::new()));
        options.timeout = PATIENCE;
        let kills = may_kill && self.dice.below(2) == 0;
        let delay = Duration::from_millis(self.dice.below(150));
        let client = self.client.clone();
        let turn = self.rig.run(&client, &ready, prompt, &options);
        let death = async {
            if kills {
                tokio::time::sleep(delay).await;
                kill(&client);
            }
        };
        let (report, ()) = tokio::join!(turn, death);
        if report.is_ok_and(|report| report.outcome == TurnOutcome::Completed) {
            self.is_on_disk = true;
            self.answered.push(prompt.to_owned());
            self.turns += 1;
            let noted = self.rig.keeper.turn_ended(&self.rig.plan().key, ready.thread()).await;
            noted.expect("the turn is noted");
        }
    }

    /// Opens the thread, and checks how that was done.
    async fn open(&mut self, name: &str) -> Option<ReadyThread> {
        let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
        let (plan, client) = (self.plan(), self.client.clone());
        let ready = match self.rig.keeper.ready(&client, &loaded, &plan, &cancel).await {
            Err(LifecycleError::Server(_)) => {
                // The server is dead: the binding is as it was.
                assert_eq!(self.bound(), self.thread, "{name}");
                return None;
            }
            ready => ready.expect(name),
        };
        match &ready.how {
            HowOpened::Started => assert_eq!(self.thread, None, "{name}"),
            HowOpened::Resumed => {
                assert_eq!(self.thread.as_ref(), Some(ready.thread()), "{name}");
                assert!(!self.is_rollout_lost, "{name}");
            }
            HowOpened::Replaced { lost } => {
                assert_eq!(Some(&lost.thread), self.thread.as_ref(), "{name}");
                assert_eq!(lost.turns, self.turns, "{name}");
                if self.is_rollout_lost {
                    self.answered.clear();
                } else {
                    assert!(!self.is_on_disk, "{name}: {lost:?}");
                }
            }
            HowOpened::Rotated { lost, .. } => {
                assert_eq!(Some(&lost.thread), self.thread.as_ref(), "{name}");
                if self.is_rollout_lost {
                    self.answered.clear();
                }
            }
            other => assert_eq!(other.as_str(), "resumed", "{name}"),
        }
        if let Some(former) = self.thread.as_ref().filter(|thread| *thread != ready.thread()) {
            let known = &ready.record.former_threads;
            assert!(known.iter().any(|known| known.thread == *former), "{name}: {former} is kept");
            (self.turns, self.is_on_disk, self.is_rollout_lost) = (0, false, false);
        }
        self.thread = Some(ready.thread().clone());
        assert_eq!(self.bound(), self.thread, "{name}");
        Some(ready)
    }

    fn bound(&self) -> Option<ThreadId> {
        let stored = self.rig.store.load(&self.rig.plan().key).expect("a record that can be read");
        stored.map(|loaded| loaded.record.thread)
    }

    /// The model still knows everything that was answered.
    async fn check(mut self, name: &str) {
        self.client.stop().await;
        self.client = self.rig.connect().await;
        let ready = self.open(name).await.expect("the server runs");
        let client = self.client.clone();
        self.rig.turn(&client, &ready, "the last one").await;
        let history = self.rig.model.requests().last().expect("a request").to_string();
        for prompt in &self.answered {
            assert!(history.contains(prompt.as_str()), "{name} lost {prompt}");
        }
        let summary = client.read_thread(ready.thread()).await.expect("the thread is known");
        assert!(summary.turns.is_some_and(|turns| turns > self.turns), "{name}");
        client.stop().await;
    }
}

fn kill(client: &Client) {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(process) = client.process_id().and_then(|id| i32::try_from(id).ok()) else { return };
    // It may be dead already.
    let _gone = Pid::from_raw(process).map(|process| kill_process(process, Signal::KILL));
}

/// Removes a file; whether it was there.
#[expect(clippy::disallowed_methods, reason = "a file in the test's own directory")]
fn remove(path: &Path) -> bool {
    std::fs::remove_file(path).is_ok()
}

#[tokio::test]
async fn no_answered_message_and_no_binding_is_ever_lost() {
    let sequences = if is_sweep() { SWEEP_SEQUENCES } else { SEQUENCES };
    for sequence in 0..sequences {
        let Some(mut world) = World::new(sequence).await else { return };
        for step in 0..STEPS {
            // No name is the beginning of another one.
            world.step(&format!("message {sequence}-{step}.")).await;
        }
        world.check(&format!("sequence {sequence}")).await;
    }
}
