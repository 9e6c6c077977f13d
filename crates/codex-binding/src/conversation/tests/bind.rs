//! Conversations that are bound to a thread: an existing one, or a new one.

use super::*;

impl World {
    pub(super) async fn bind(
        &self,
        thread: Option<&ThreadId>,
        layers: &[ExecLayer],
    ) -> Result<BindingRecord, BindError> {
        let mut inbound = self.message("x");
        inbound.permissions.policy = ExecPolicy::resolve(layers, None);
        let Inbound { plan, server, permissions, .. } = &inbound;
        let never = CancellationToken::new();
        self.conversations.bind(plan, thread, server, permissions, &never).await
    }
}

#[tokio::test]
async fn binding_attaches_or_starts() {
    let world = world();
    let bound = world.bind(None, &[]).await.unwrap();
    assert_eq!(world.say("one").await, "echo: one");
    assert_eq!(world.record().thread, bound.thread);
    world.conversations.bind_denied(&data(), &key()).await.unwrap();
    let attached = world.bind(Some(&bound.thread), &[]).await.unwrap();
    assert_eq!(attached.thread, bound.thread);
    world.conversations.choose_model(&key(), " other ").await.unwrap();
    assert_eq!(world.say("two").await, "echo: two");
    assert_eq!(world.record().model.as_deref(), Some("other"));
}

/// A conversation works where its binding says, whatever the host's default is.
#[tokio::test]
async fn the_bound_directory_counts() {
    let world = world();
    world.say("hello").await;
    let moved = |record: &mut BindingRecord| record.cwd = "/bound".to_owned();
    world.conversations.lifecycle.change(&key(), moved).await.unwrap();
    world.say("again").await;
    assert_eq!(world.record().cwd, "/bound");
}

/// Without a thread, a new one is started, whatever the conversation was bound to, and the record that
/// is returned is the stored one.
#[tokio::test]
async fn binding_starts_a_new_thread_when_asked_to() {
    let world = world();
    let first = world.bind(None, &[]).await.unwrap();
    assert_eq!(world.say("one").await, "echo: one");
    let second = world.bind(None, &[]).await.unwrap();
    assert_ne!(first.thread, second.thread);
    assert_eq!(world.record().thread, second.thread);
    assert_eq!(world.say("two").await, "echo: two");
    assert_eq!(world.record().thread, second.thread, "the next message runs on it");
}

/// A policy that forbids turns forbids binding, too, before a server is started.
#[tokio::test]
async fn binding_keeps_to_the_policy_of_the_host() {
    let world = world();
    for mode in ["deny", "allowlist", "ask"] {
        let refused = world.bind(None, &[ExecLayer::mode(mode)]).await;
        assert!(matches!(refused, Err(BindError::Refused(_))), "{mode}: {refused:?}");
    }
    assert!(world.connector.started.lock().unwrap().is_empty());
    let chosen = Permissions::new(ApprovalPolicy::OnRequest, SandboxMode::ReadOnly);
    world.bind(None, &[]).await.unwrap();
    world.conversations.choose_permissions(&key(), chosen).await.unwrap();
    let untouched = world.bind(None, &[]).await.unwrap();
    assert_eq!(untouched.sandbox, Some(SandboxMode::ReadOnly), "a person chose it");
    let touched = world.bind(None, &[ExecLayer::mode("full")]).await.unwrap();
    assert_eq!(touched.sandbox, Some(SandboxMode::WorkspaceWrite), "the policy overrides it");
}
