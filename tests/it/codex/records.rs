//! What a bound turn on the real Codex CLI leaves behind: instructions, approvals, and no secret.

use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use codex_binding::transport::ServerCommand;
use codex_binding::{
    AllowList, ApprovalAnswer, AskHandler, BoundTurnRequest, CodexProcess, LoadedThreads,
    ThreadLifecycle, TurnOutcome, run_bound_turn, run_connected_turn,
};
use serde_json::Value;
use traj_core::binding::TurnInput;
use traj_core::event::RunContext;
use traj_core::id::SessionId;
use traj_core::json::{Json, Object};
use traj_core::port::{ApprovalDecision, RequestHandler};
use traj_core::redaction::{MarkerKey, RedactionPolicy, Redactor};
use traj_core::settings::Settings;
use traj_fs::{FsBindingStore, FsTrajectoryStore, Recorder, SystemClock};
use traj_tests::codex_rig::{CodexRig, PATIENCE, VERSIONS, client_options};
use traj_tests::model_server::Reply;

/// The developer messages of a request to the model.
pub(super) fn developer_messages(request: &Value) -> Vec<String> {
    let items = request["input"].as_array().expect("a request has input").iter();
    items.filter(|item| item["role"] == "developer").map(Value::to_string).collect()
}

/// Instructions for one turn reach the model in that turn, and the next turn ends them. The
/// configured effort applies throughout.
#[tokio::test]
async fn instructions_of_a_turn_hold_for_that_turn_only() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let client = rig.connect().await;
        let loaded = LoadedThreads::new();
        let mut requests = Vec::new();
        for instructions in [None, Some("Speak like a pirate."), None] {
            let mut plan = rig.plan();
            plan.settings.config.insert("model_reasoning_effort", "high");
            let mut request = BoundTurnRequest::new(plan, TurnInput::text("hello"))
                .timeout(PATIENCE)
                .recorded_in(Arc::new(rig.events.clone()));
            request.blocks.turn = instructions.map(str::to_owned);
            let turn = run_bound_turn(&rig.keeper, &client, &loaded, &request).await;
            assert_eq!(turn.expect("the turn runs").report.outcome, TurnOutcome::Completed);
            requests.push(rig.model.requests().last().expect("a request").clone());
        }
        let told: Vec<bool> = requests
            .iter()
            .map(|request| {
                let messages = developer_messages(request);
                messages.last().is_some_and(|last| last.contains("pirate"))
            })
            .collect();
        assert_eq!(told, [false, true, false], "{version}: the last word of the host");
        // The older version does not send the effort of a model that it does not know.
        let efforts: Vec<&Value> =
            requests.iter().map(|request| &request["reasoning"]["effort"]).collect();
        assert!(version == "0.135.0" || efforts == ["high"; 3], "{version}: {efforts:?}");
        let systems: Vec<bool> = rig
            .events
            .events()
            .into_iter()
            .filter(|event| event.kind.as_str() == "context.compiled")
            .map(|event| Json::Object(event.into_data().unwrap()).to_line().contains("pirate"))
            .collect();
        assert_eq!(systems, [false, true, false], "{version}: the record agrees");
        client.stop().await;
    }
}

/// Allows everything that the test asks for.
fn everything() -> Arc<dyn RequestHandler> {
    Arc::new(AskHandler::new(|_| async {
        ApprovalAnswer::from(ApprovalDecision::Accept).named("alice").because("it is a test")
    }))
}

/// What is allowed runs, and the record says who allowed it.
#[tokio::test]
async fn allowed_commands_run_and_the_record_names_who_allowed_them() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let path = |name: &str| rig.root().join(name);
        let touch = |name: &str| format!("touch {}", path(name).display());
        let list = AllowList::new("test rules").command(touch("listed"));
        let handlers: [(&str, Arc<dyn RequestHandler>, &str); 3] = [
            (
                "asked",
                everything(),
                r#""decision":"approved","decidedBy":"user","deciderName":"alice","scope":"once""#,
            ),
            (
                "listed",
                Arc::new(list.clone()),
                r#""decision":"approved","decidedBy":"policy","deciderName":"test rules","scope":"once""#,
            ),
            ("another", Arc::new(list), r#""decision":"denied","decidedBy":"policy""#),
        ];
        let client = rig.connect().await;
        let loaded = LoadedThreads::new();
        for (name, handler, decided) in handlers {
            rig.model.script(name, [Reply::escalated_shell(&touch(name)), Reply::text("done")]);
            let prompt = format!("please touch it: {name}");
            let request = BoundTurnRequest::new(rig.plan(), TurnInput::text(&prompt))
                .timeout(PATIENCE)
                .answered_by(handler)
                .recorded_in(Arc::new(rig.events.clone()));
            let turn = run_bound_turn(&rig.keeper, &client, &loaded, &request).await;
            assert_eq!(turn.expect("the turn runs").report.outcome, TurnOutcome::Completed);
            assert_eq!(path(name).exists(), name != "another", "{version}: {name}");
            let decisions: Vec<String> = rig
                .events
                .events()
                .into_iter()
                .filter(|event| event.kind.as_str() == "approval.decided")
                .map(|event| Json::Object(event.into_data().unwrap()).to_line())
                .collect();
            let last = decisions.last().expect("a decision");
            assert!(last.contains(decided), "{version}: {name}: {last}");
        }
        client.stop().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory of the test's own")]
fn open_directory(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).expect("it opens")
}

/// Every file below a directory, as one string.
#[expect(clippy::disallowed_methods, reason = "the test reads what was written")]
fn everything_in(directory: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&everything_in(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).expect("a file")));
        }
    }
    text
}

/// The key of the provider, the environment of an MCP server and a credential in a prompt are in no
/// file that traj writes: sidecar, blobs, pointer and binding, after a turn and after a failure.
#[tokio::test]
async fn secrets_of_a_turn_are_in_no_file_of_ours() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let canary = |name: &str| format!("canary{name}{}", "Q7wE2rT9yU4iO1pA6sD8fG3h");
        let (provider, mcp) = (canary("provider"), canary("mcp"));
        let prompt_key = ["sk", "proj", &canary("prompt")].join("-");
        let sessions = tempfile::tempdir().expect("a directory for the test");
        let open = || open_directory(sessions.path());
        let clock = Arc::new(SystemClock::new());
        let location = sessions.path().to_string_lossy().into_owned();
        let store = FsTrajectoryStore::beside(open(), &location, "chat.jsonl").expect("a store");
        let redactor = Redactor::new(RedactionPolicy::standard(MarkerKey::new([7; 32])));
        let context = RunContext::new(SessionId::parse("chat").expect("an id"));
        let recorder = Arc::new(Recorder::start(
            Arc::new(store),
            clock.clone(),
            redactor,
            context,
            &Settings::standard(),
        ));
        let bindings = FsBindingStore::new(open(), clock.clone());
        let lifecycle = ThreadLifecycle::new(Arc::new(bindings), clock);
        let mut environment = rig.environment();
        environment.retain(|(name, _)| name != "SCRIPTED_KEY");
        environment.push(("SCRIPTED_KEY".to_owned(), provider.clone()));
        let servers = format!(r#"{{"notes":{{"command":"false","env":{{"TOKEN":"{mcp}"}}}}}}"#);
        let Ok(Json::Object(servers)) = Json::parse(&servers).map(Json::into_owned) else {
            panic!("servers are an object")
        };
        let prompt = format!("Deploy with OPENAI_API_KEY={prompt_key} please");
        let request = |servers: Object<'static>| {
            let plan = rig.plan().with_user_mcp(servers);
            BoundTurnRequest::new(plan, TurnInput::text(&prompt))
                .instructions(format!("The key is {prompt_key}."))
                .timeout(PATIENCE)
                .answered_by(everything())
                .recorded_in(recorder.clone())
        };
        rig.model.script(
            "Deploy",
            [Reply::escalated_shell(&format!("echo {prompt_key}")), Reply::text(&prompt_key)],
        );
        let command = ServerCommand::codex(rig.program(), environment.clone(), rig.workspace());
        let process = CodexProcess::new(command, client_options());
        let turn = run_connected_turn(&lifecycle, &process, &request(servers.clone())).await;
        let turn = turn.expect("the turn runs");
        assert_eq!(turn.report.outcome, TurnOutcome::Completed, "{version}");

        // A server that prints its environment and exits.
        let mut broken = ServerCommand::codex("/bin/sh", environment, rig.workspace());
        broken.arguments = vec!["-c".to_owned(), "echo $SCRIPTED_KEY >&2; exit 1".to_owned()];
        let broken = CodexProcess::new(broken, client_options());
        let failed = run_connected_turn(&lifecycle, &broken, &request(servers)).await;
        let error = failed.expect_err("the server exits");
        assert!(!format!("{error} {error:?}").contains(&provider), "{version}: {error:?}");
        assert!(recorder.flush().is_complete(), "{version}");

        let written = everything_in(sessions.path());
        assert!(written.contains("approval.decided") && written.contains("<redacted:"));
        assert!(written.contains(turn.ready.thread().as_str()), "{version}: the binding is there");
        for secret in [&provider, &mcp, &prompt_key] {
            assert!(!written.contains(secret.as_str()), "{version}: {secret} was written");
        }
    }
}
