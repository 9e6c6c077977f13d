//! What a person reads before the reply, if the model does not see everything.

use traj_core::binding::{ChangePolicy, RotateReason, RotationPolicy};
use traj_core::json::Json;

use super::*;

impl World {
    /// The reply to a message with this tool, or without tools.
    async fn say_with_tool(
        &self,
        text: &str,
        tool: Option<&str>,
        rotation: RotationPolicy,
    ) -> String {
        let mut inbound = self.message(text);
        let tools =
            tool.map(|name| Json::parse(&format!(r#"{{"name":"{name}"}}"#)).unwrap().into_owned());
        inbound.plan = inbound.plan.with_tools(tools.into_iter().collect());
        inbound.plan.wanted.rotation = rotation;
        match self.conversations.inbound(inbound, &CancellationToken::new()).await {
            Handled::Reply(reply) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_reply_begins_with_what_the_model_does_not_see() {
    let world = world();
    let rotate = RotationPolicy::default;
    assert_eq!(world.say_with_tool("one", Some("a"), rotate()).await, "echo: one");
    let separate = world.say_with_tool("two", None, rotate()).await;
    assert!(separate.starts_with("This turn ran on a thread of its own"), "{separate}");
    assert!(separate.ends_with("\n\necho: two"), "{separate}");
    let warn = rotate().with(RotateReason::DynamicTools, ChangePolicy::Warn);
    let stale = world.say_with_tool("three", Some("b"), warn).await;
    assert!(stale.starts_with("warning: dynamic-tools changed"), "{stale}");
    let ignore = rotate().with(RotateReason::DynamicTools, ChangePolicy::Ignore);
    assert_eq!(world.say_with_tool("four", Some("b"), ignore).await, "echo: four");
    let rotated = world.say_with_tool("five", Some("b"), rotate()).await;
    assert!(rotated.contains("no longer sees the 3 turns"), "{rotated}");
    assert!(rotated.ends_with("\n\necho: five"), "{rotated}");
}
