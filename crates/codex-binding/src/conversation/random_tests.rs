//! Random crashes, failures and restarts: no answered message is ever lost.

use proptest::prelude::*;
use traj_core::binding::RefusalKind;
use traj_core::memory::MemoryFailure;

use super::tests::{World, world};

/// A step in the life of a conversation.
#[derive(Clone, Debug)]
enum Step {
    /// A message arrives.
    Say,
    /// The server dies between turns.
    Kill,
    /// The call with this number from now on fails in this way.
    Fail(u64, MemoryFailure),
    /// The store fails soon.
    FailStore(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let failure = prop_oneof![
        Just(MemoryFailure::Die),
        Just(MemoryFailure::DieAfter),
        Just(MemoryFailure::TimeOut),
        Just(MemoryFailure::Refuse(RefusalKind::Overloaded)),
        Just(MemoryFailure::Refuse(RefusalKind::Other)),
        Just(MemoryFailure::Refuse(RefusalKind::ThreadNotLoaded)),
        Just(MemoryFailure::Refuse(RefusalKind::ThreadOpenElsewhere)),
    ];
    prop_oneof![
        4 => Just(Step::Say),
        2 => Just(Step::Kill),
        3 => (1_u64..4, failure).prop_map(|(call, failure)| Step::Fail(call, failure)),
        1 => (1_u64..4).prop_map(Step::FailStore),
    ]
}

async fn play(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let world = world();
    let mut answered: Vec<String> = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Say => {
                let prompt = format!("message {number}");
                let reply = world.say(&prompt).await;
                prop_assert!(!reply.contains("no longer has"), "history was given up: {reply}");
                if reply == format!("echo: {prompt}") {
                    answered.push(prompt);
                }
            }
            Step::Kill => kill(&world),
            Step::Fail(call, failure) => {
                if let Some(server) = world.connector.started.lock().unwrap().last() {
                    server.fail_call(call, failure);
                }
            }
            Step::FailStore(call) => world.store.fail_call(call),
        }
    }
    // Clears failures that have not happened yet.
    kill(&world);
    world.store.fail_call(u64::MAX / 2);
    let last = world.say("the last one").await;
    prop_assert_eq!(last, "echo: the last one");
    let history = world.connector.home.prompts(&world.record().thread).unwrap();
    let mut rest = history.iter();
    for prompt in &answered {
        prop_assert!(rest.any(|known| known == prompt), "{prompt} is not in {history:?}");
    }
    Ok(())
}

fn kill(world: &World) {
    if let Some(server) = world.connector.started.lock().unwrap().last() {
        server.kill();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_answered_message_is_ever_lost(steps in proptest::collection::vec(any_step(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps))?;
    }
}
