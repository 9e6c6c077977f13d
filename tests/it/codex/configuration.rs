//! The configuration of a thread, as the real Codex CLI takes it: code mode, layers, plugin apps and
//! MCP servers.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use codex_binding::{
    Client, HowOpened, LifecycleError, LoadedThreads, PluginApps, PluginBuild, ThreadPlan,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use traj_core::binding::{CodeMode, Fingerprint, PluginPolicyContext, WantedPlugins};
use traj_core::json::{Json, Object};
use traj_core::port::{BindingKey, BindingStore as _};
use traj_tests::codex_rig::{CodexRig, VERSIONS};

use super::command::write;

/// The words of the workspace's project document.
const DOCUMENT: &str = "Mention heliotrope in every answer.";

fn object(text: &str) -> Object<'static> {
    match Json::parse(text).map(Json::into_owned) {
        Ok(Json::Object(object)) => object,
        other => unreachable!("not an object: {other:?}"),
    }
}

/// Runs a turn on the session's thread, on a separate server; returns how the thread was opened,
/// and what the model was asked.
async fn turn(rig: &CodexRig, plan: &ThreadPlan) -> (HowOpened, Value) {
    let client = rig.connect().await;
    let ready = rig.ready(&client, plan).await;
    rig.turn(&client, &ready, "hello").await;
    client.stop().await;
    (ready.how, rig.model.requests().last().cloned().expect("a request"))
}

/// The names of the tools that the model was offered.
fn tools(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().expect("tools").iter();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

/// Code mode is a setting of the thread: it holds when the thread starts, and when it is resumed on
/// another server, which gets the setting again.
#[tokio::test]
async fn code_mode_holds_for_new_and_resumed_threads() {
    for version in VERSIONS {
        for (code_mode, offers_code) in
            [(CodeMode::Default, true), (CodeMode::Only, true), (CodeMode::Off, false)]
        {
            let Some(rig) = CodexRig::new(version) else { continue };
            let mut plan = rig.plan();
            plan.code_mode = code_mode;
            for _ in 0..2 {
                let (how, request) = turn(&rig, &plan).await;
                let tools = tools(&request);
                let shown = format!("{version}: {code_mode:?}, {}: {tools:?}", how.as_str());
                assert_eq!(tools.contains(&"exec"), offers_code, "{shown}");
                let offers_shell = tools.contains(&"exec_command");
                assert_eq!(offers_shell, code_mode != CodeMode::Only, "{shown}");
            }
        }
    }
}

/// Apps with this configuration, or a failure.
#[derive(Debug)]
struct Apps(Option<String>);

#[async_trait]
impl PluginApps for Apps {
    async fn build(&self) -> Result<PluginBuild, Box<dyn std::error::Error + Send + Sync>> {
        let config = self.0.as_deref().ok_or("the inventory does not answer")?;
        let policy = PluginPolicyContext::new("f".to_owned());
        Ok(PluginBuild::new(Fingerprint::of(&Json::from(config)), policy, object(config)))
    }
}

fn with_apps(plan: &ThreadPlan, config: Option<String>) -> ThreadPlan {
    let mut plan = plan.clone();
    let input = Fingerprint::of(&Json::from("policy"));
    plan.wanted.plugins = WantedPlugins::Enabled { input, any_enabled: true, built: None };
    plan.plugins = Some(Arc::new(Apps(config)));
    plan
}

/// An MCP server that leaves a mark and exits: no version of Codex waits for it then.
fn marking_server(rig: &CodexRig, name: &str) -> (PathBuf, String) {
    let mark = rig.root().join(name);
    let command = format!("echo started > '{}'", mark.display());
    (mark, format!(r#"{{"command":"sh","args":["-c","{command}"]}}"#))
}

/// The final configuration wins over that of plugin apps, which wins over the base. Servers of apps
/// and servers of the user are all started.
#[tokio::test]
async fn layers_of_the_configuration_reach_codex_in_their_order() {
    for version in VERSIONS {
        for (base, apps, last, is_read) in
            [(0, 9_000, None, true), (9_000, 0, None, false), (0, 9_000, Some(0), false)]
        {
            let Some(rig) = CodexRig::new(version) else { continue };
            write(&rig.workspace().join("AGENTS.md"), DOCUMENT);
            let (mine, my_server) = marking_server(&rig, "mine");
            let (apps_own, app_server) = marking_server(&rig, "app");
            let limit = |bytes: u32| format!(r#""project_doc_max_bytes":{bytes}"#);
            let apps = format!(r#"{{{},"mcp_servers":{{"app":{app_server}}}}}"#, limit(apps));
            let mut plan = with_apps(&rig.plan(), Some(apps))
                .with_user_mcp(object(&format!(r#"{{"mine":{my_server}}}"#)));
            plan.settings.config = object(&format!("{{{}}}", limit(base)));
            plan.final_config =
                object(&last.map_or("{}".to_owned(), |last| format!("{{{}}}", limit(last))));
            let (_, request) = turn(&rig, &plan).await;
            let shown = format!("{version}: {base}, then {:?}", plan.final_config);
            assert_eq!(request.to_string().contains(DOCUMENT), is_read, "{shown}");
            assert!(mine.exists() && apps_own.exists(), "{shown}: both servers were started");
        }
    }
}

/// A lightweight thread reads no project documents.
#[tokio::test]
async fn a_lightweight_thread_reads_no_project_documents() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        write(&rig.workspace().join("AGENTS.md"), DOCUMENT);
        let (_, request) = turn(&rig, &rig.plan()).await;
        assert!(request.to_string().contains(DOCUMENT), "{version}");
        let mut plan = rig.plan();
        plan.key = BindingKey::parse("other.jsonl").expect("a plain name");
        plan.lightweight = true;
        let (_, request) = turn(&rig, &plan).await;
        assert!(!request.to_string().contains(DOCUMENT), "{version}");
    }
}

/// Without the apps that a thread must have, Codex is not asked for one.
#[tokio::test]
async fn a_plugin_build_that_fails_starts_no_thread_and_can_be_tried_again() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let client = rig.connect().await;
        let error = ready(&rig, &client, &with_apps(&rig.plan(), None)).await;
        assert!(matches!(error, Err(LifecycleError::Plugins { .. })), "{version}: {error:?}");
        assert!(rig.store.load(&rig.plan().key).unwrap().is_none(), "{version}");
        client.stop().await;
        let plan = with_apps(&rig.plan(), Some("{}".to_owned()));
        assert_eq!(turn(&rig, &plan).await.0, HowOpened::Started, "{version}");
        // The thread has its apps. Whether they changed is not known now, so it goes on.
        let unknown = with_apps(&rig.plan(), None);
        assert_eq!(turn(&rig, &unknown).await.0, HowOpened::Resumed, "{version}");
    }
}

async fn ready(rig: &CodexRig, client: &Client, plan: &ThreadPlan) -> Result<(), LifecycleError> {
    let (loaded, cancel) = (LoadedThreads::new(), CancellationToken::new());
    rig.keeper.ready(client, &loaded, plan, &cancel).await.map(drop)
}

/// Codex starts the servers that the user registered for this agent, and no other (scenario 25).
#[tokio::test]
async fn a_server_registered_for_another_agent_is_not_started() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let (mine, my_server) = marking_server(&rig, "mine");
        let (theirs, their_server) = marking_server(&rig, "theirs");
        let limited = their_server.replacen('{', r#"{"codex":{"agents":["other"]},"#, 1);
        let registry = object(&format!(r#"{{"mine":{my_server},"theirs":{limited}}}"#));
        let plan = rig.plan().with_mcp_registry(&registry, Some("main"));
        turn(&rig, &plan).await;
        assert!(mine.exists() && !theirs.exists(), "{version}");
        // The same registry, and an agent that may use the other server, too.
        let plan = rig.plan().with_mcp_registry(&registry, Some("other"));
        let (how, _) = turn(&rig, &plan).await;
        assert!(matches!(how, HowOpened::Rotated { .. }), "{version}: {how:?}");
        assert!(theirs.exists(), "{version}");
    }
}
