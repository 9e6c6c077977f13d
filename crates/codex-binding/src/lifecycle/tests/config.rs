//! The configuration of a thread: layers, plugin apps, code mode.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use traj_core::binding::{CodeMode, PluginPolicyContext, RotateReason, WantedPlugins};
use traj_core::json::Object;

use super::*;

/// A server that keeps the configurations it was sent.
fn listening_server(sent: &Arc<Mutex<Vec<String>>>) -> MockServer {
    let mut server = mock_server();
    let (started, resumed) = (Arc::clone(sent), Arc::clone(sent));
    server.expect_start_thread().returning(move |start| {
        started.lock().unwrap().push(Json::Object(start.settings.config).to_line());
        Ok(OpenedThread::new(ThreadId::parse("t").unwrap()))
    });
    server.expect_resume_thread().returning(move |resume| {
        resumed.lock().unwrap().push(Json::Object(resume.settings.config).to_line());
        Ok(OpenedThread::new(resume.thread))
    });
    server
}

fn object(text: &str) -> Object<'static> {
    match Json::parse(text).unwrap().into_owned() {
        Json::Object(object) => object,
        _ => Object::new(),
    }
}

/// Apps with this configuration, or a failure.
#[derive(Debug)]
struct Apps {
    config: Option<&'static str>,
    built: Arc<AtomicUsize>,
}

#[async_trait]
impl PluginApps for Apps {
    async fn build(&self) -> Result<PluginBuild, Box<dyn std::error::Error + Send + Sync>> {
        self.built.fetch_add(1, Ordering::Relaxed);
        let config = self.config.ok_or("the inventory does not answer")?;
        let policy = PluginPolicyContext::new("f".to_owned());
        Ok(PluginBuild::new(Fingerprint::of(&Json::from(config)), policy, object(config)))
    }
}

fn with_apps(plan: &ThreadPlan, apps: Option<&'static str>) -> ThreadPlan {
    with_counted_apps(plan, apps, &Arc::default())
}

fn with_counted_apps(
    plan: &ThreadPlan,
    config: Option<&'static str>,
    built: &Arc<AtomicUsize>,
) -> ThreadPlan {
    let mut plan = plan.clone();
    let input = Fingerprint::of(&Json::from("policy"));
    plan.wanted.plugins = WantedPlugins::Enabled { input, any_enabled: true, built: None };
    plan.plugins = Some(Arc::new(Apps { config, built: Arc::clone(built) }));
    plan
}

#[tokio::test]
async fn code_mode_is_sent_with_every_thread() {
    let world = world();
    let sent = Arc::default();
    let server = listening_server(&sent);
    world.ready(&server).await.unwrap();
    world.ready(&server).await.unwrap();
    let default = r#"{"features.code_mode":true,"features.code_mode_only":false,"features.apply_patch_streaming_events":true}"#;
    assert_eq!(*sent.lock().unwrap(), [default, default]);
}

/// Layers merge member by member, plugins do not hide the user's servers, and the final
/// configuration has the last word; only a forced code mode comes after it.
#[tokio::test]
async fn the_final_configuration_wins_over_plugins_and_code_mode_over_both() {
    let mut world = world();
    let apps = r#"{"mcp_servers":{"app":{"url":"a"}},"apps":{"x":{"on":true}},"limit":1,"features.code_mode":false}"#;
    world.plan =
        with_apps(&world.plan, Some(apps)).with_user_mcp(object(r#"{"mine":{"command":"m"}}"#));
    world.plan.settings.config = object(r#"{"apps":{"y":{"on":true}},"limit":0}"#);
    world.plan.final_config = object(r#"{"limit":2,"apps":{"x":{"on":false}}}"#);
    world.plan.code_mode = CodeMode::Only;
    let sent = Arc::default();
    let server = listening_server(&sent);
    world.ready(&server).await.unwrap();
    let started = sent.lock().unwrap().join("\n");
    insta::assert_snapshot!(started, @r#"{"features.code_mode":true,"features.code_mode_only":true,"features.apply_patch_streaming_events":true,"apps":{"y":{"on":true},"x":{"on":false}},"limit":2,"mcp_servers":{"mine":{"command":"m"},"app":{"url":"a"}}}"#);
    // A thread that is resumed has its apps already.
    assert_eq!(world.ready(&server).await.unwrap().how, HowOpened::Resumed);
    let resumed = sent.lock().unwrap()[1].clone();
    insta::assert_snapshot!(resumed, @r#"{"features.code_mode":true,"features.code_mode_only":true,"features.apply_patch_streaming_events":true,"apps":{"y":{"on":true},"x":{"on":false}},"limit":2,"mcp_servers":{"mine":{"command":"m"}}}"#);
}

/// Scenario 25.
#[tokio::test]
async fn a_registry_gives_an_agent_its_own_servers() {
    let mut world = world();
    let registry =
        object(r#"{"a":{"command":"x"},"b":{"command":"y","codex":{"agents":["other"]}}}"#);
    let plain = world.plan.clone();
    world.plan = plain.clone().with_mcp_registry(&registry, Some("main"));
    let sent = Arc::default();
    let server = listening_server(&sent);
    world.ready(&server).await.unwrap();
    let started = sent.lock().unwrap().join("\n");
    assert!(started.ends_with(r#""mcp_servers":{"a":{"command":"x"}}}"#), "{started}");
    let none = object(r#"{"b":{"command":"y","enabled":false}}"#);
    let plan = plain.clone().with_mcp_registry(&none, Some("main"));
    assert_eq!((plan.user_mcp, plan.wanted.user_mcp), (None, None), "as if there were none");
}

/// Scenarios 27 to 29: apps are looked up once for a decision, and those that differ, or are gone,
/// start a new thread.
#[tokio::test]
async fn apps_are_built_once_and_a_removed_one_rotates() {
    let mut world = world();
    let plain = world.plan.clone();
    let sent = Arc::default();
    let server = listening_server(&sent);
    let built = Arc::default();
    let two = r#"{"apps":{"x":{"on":true},"y":{"on":true}}}"#;
    let one = r#"{"apps":{"x":{"on":true}}}"#;
    let none = "{}";
    for (apps, expected) in
        [(none, "started"), (none, "resumed"), (two, "rotated"), (two, "resumed"), (one, "rotated")]
    {
        world.plan = with_counted_apps(&plain, Some(apps), &built);
        let before = built.load(Ordering::Relaxed);
        let ready = world.ready(&server).await.unwrap();
        assert_eq!(ready.how.as_str(), expected, "{apps}");
        assert_eq!(built.load(Ordering::Relaxed), before + 1, "{apps}: {expected}");
        let last = sent.lock().unwrap().last().cloned().unwrap_or_default();
        assert_eq!(last.contains(r#""apps""#), expected == "rotated", "{last}");
    }
}

/// Scenario 27: a thread from before there were plugins has no apps.
#[tokio::test]
async fn a_thread_without_plugin_data_is_replaced_by_one_with_apps() {
    let mut world = world();
    let sent = Arc::default();
    let server = listening_server(&sent);
    world.ready(&server).await.unwrap();
    world.plan = with_apps(&world.plan, Some(r#"{"apps":{"x":{"on":true}}}"#));
    let ready = world.ready(&server).await.unwrap();
    let HowOpened::Rotated { reasons, .. } = &ready.how else { panic!("{:?}", ready.how) };
    assert_eq!(*reasons, [RotateReason::PluginApps]);
    let started = sent.lock().unwrap()[1].clone();
    assert!(started.contains(r#""apps":{"x":{"on":true}}"#), "{started}");
    assert!(world.stored().unwrap().plugin_policy.is_some());
    assert_eq!(world.ready(&server).await.unwrap().how, HowOpened::Resumed);
}

/// Scenario 44.
#[tokio::test]
async fn a_lightweight_thread_reads_no_project_documents() {
    let mut world = world();
    world.plan.lightweight = true;
    world.plan.final_config = object(r#"{"project_doc_max_bytes":9}"#);
    let sent = Arc::default();
    world.ready(&listening_server(&sent)).await.unwrap();
    let started = sent.lock().unwrap().join("\n");
    assert!(started.contains(r#""project_doc_max_bytes":0"#), "{started}");
}

#[tokio::test]
async fn a_thread_without_codex_tools_has_no_servers_and_no_environments() {
    let mut world = world();
    world.plan = world.plan.clone().with_user_mcp(object(r#"{"mine":{"command":"m"}}"#));
    world.plan.wanted.tool_surface = ToolSurface::Disabled;
    let mut server = mock_server();
    server.expect_start_thread().times(1).returning(|start| {
        let config = Json::Object(start.settings.config).to_line();
        assert_eq!(config, r#"{"features.code_mode":false,"features.code_mode_only":false}"#);
        assert_eq!(start.environments, Some(vec![]));
        Ok(OpenedThread::new(ThreadId::parse("t").unwrap()))
    });
    world.ready(&server).await.unwrap();
}

#[tokio::test]
async fn a_plugin_build_that_fails_starts_no_thread() {
    let mut world = world();
    world.plan = with_apps(&world.plan, None);
    let error = world.ready(&mock_server()).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Plugins { .. }), "{error}");
    assert_eq!(world.stored(), None);
    let error = world.bind_new(&mock_server(), None).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Plugins { .. }), "{error}");
}

/// The thread has its apps already; only whether they changed is not known.
#[tokio::test]
async fn a_plugin_check_that_fails_resumes_the_thread_as_it_is() {
    let mut world = world();
    let plain = world.plan.clone();
    world.plan = with_apps(&plain, Some("{}"));
    let sent = Arc::default();
    let server = listening_server(&sent);
    world.ready(&server).await.unwrap();
    let before = world.stored().unwrap();
    world.plan = with_apps(&plain, None);
    assert_eq!(world.ready(&server).await.unwrap().how, HowOpened::Resumed);
    assert_eq!(world.stored().unwrap().fingerprints, before.fingerprints);
    world.plan = with_apps(&plain, Some(r#"{"apps":{}}"#));
    let ready = world.ready(&server).await.unwrap();
    assert!(matches!(ready.how, HowOpened::Rotated { .. }), "{:?}", ready.how);
}
