//! Random deaths of the real server, also in the middle of turns: no answered message is lost.

use std::sync::Arc;
use std::time::Duration;

use codex_binding::{Client, HowOpened, LoadedThreads, TurnOptions, TurnOutcome};
use tokio_util::sync::CancellationToken;
use traj_core::port::{DenyAll, ThreadService as _};
use traj_tests::codex_rig::{CodexRig, PATIENCE};
use traj_tests::dice::Dice;

/// Sequences per run; the twin in memory plays hundreds of its own.
const SEQUENCES: u64 = 6;
const STEPS: u64 = 6;

fn kill(client: &Client) {
    use rustix::process::{Pid, Signal, kill_process};
    let process = i32::try_from(client.process_id().unwrap()).unwrap();
    // It may be dead already.
    let _gone = kill_process(Pid::from_raw(process).unwrap(), Signal::KILL);
}

#[tokio::test]
async fn no_answered_message_is_ever_lost() {
    for sequence in 0..SEQUENCES {
        let Some(rig) = CodexRig::new("0.166.0") else { return };
        let mut dice = Dice::new(sequence + 1);
        let plan = rig.plan();
        let mut client = rig.connect().await;
        let mut answered = Vec::new();
        for step in 0..STEPS {
            if client.closed().is_some() {
                client = rig.connect().await;
            }
            let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
            let ready = rig.keeper.ready(&client, &loaded, &plan, &cancel).await;
            let Ok(ready) = ready else { continue };
            if let HowOpened::Replaced { lost } = &ready.how {
                assert_eq!(lost.turns, 0, "sequence {sequence}, step {step}");
                assert!(answered.is_empty(), "sequence {sequence}, step {step}");
            }
            let mut options = TurnOptions::standard(Arc::new(DenyAll::new()));
            options.timeout = PATIENCE;
            let prompt = format!("message {sequence}-{step}");
            let turn = rig.run(&client, &ready, &prompt, &options);
            let death = async {
                if dice.below(2) == 0 {
                    let delay = Duration::from_millis(dice.below(150));
                    tokio::time::sleep(delay).await;
                    kill(&client);
                }
            };
            let (report, ()) = tokio::join!(turn, death);
            if report.is_ok_and(|report| report.outcome == TurnOutcome::Completed) {
                answered.push(prompt);
                rig.keeper.turn_ended(&plan.key, ready.thread()).await.unwrap();
            }
        }
        client.stop().await;
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        rig.turn(&client, &ready, "the last one").await;
        let history = rig.model.requests().last().unwrap().to_string();
        for prompt in &answered {
            assert!(history.contains(prompt.as_str()), "sequence {sequence} lost {prompt}");
        }
        let summary = client.read_thread(ready.thread()).await.unwrap();
        assert!(summary.turns.is_some_and(|turns| turns > u64::try_from(answered.len()).unwrap()));
        client.stop().await;
    }
}
