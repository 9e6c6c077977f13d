//! What a change of tools, or of the model, does to the thread of `traj codex turn`, and what
//! the model gets from a tool.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use traj_core::json::Json;
use traj_core::port::{HostReply, RequestHandler, ServerRequest, ToolContent, ToolOutcome};
use traj_tests::codex_rig::{CodexRig, VERSIONS};
use traj_tests::model_server::Reply;

use super::command::{json, write};

const PLAIN: &str = r#"{"type":"object","properties":{"action":{"type":"string"}}}"#;
const LIMITED: &str =
    r#"{"type":"object","properties":{"action":{"type":"string","enum":["send"]}}}"#;

fn tool(name: &str, description: &str, schema: &str) -> String {
    format!(
        r#"{{"type":"function","name":"{name}","description":"{description}","inputSchema":{schema}}}"#
    )
}

/// Runs a turn with these tools; returns the thread, and how it was opened.
fn turn(rig: &CodexRig, tools: &[String]) -> (Value, String) {
    let file = rig.root().join("tools.json");
    write(&file, &format!("[{}]", tools.join(",")));
    let file = file.to_str().expect("a plain path");
    let turn = json(rig, "turn", &["--prompt", "hello", "--tools", file]);
    let how = turn["result"]["thread"].as_str().expect("how it was opened").to_owned();
    (turn["result"]["threadId"].clone(), how)
}

/// Scenarios 13 to 16, with real threads: words and order do not count, schemas do, and a turn
/// without tools leaves the session's thread alone.
#[test]
fn only_what_a_tool_accepts_decides_about_the_thread() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let (first, how) = turn(&rig, &[tool("a", "One.", PLAIN), tool("b", "Two.", PLAIN)]);
        assert_eq!(how, "started", "{version}");
        let reworded = [tool("b", "Two.", PLAIN), tool("a", "The first one.", PLAIN)];
        assert_eq!(turn(&rig, &reworded), (first.clone(), "resumed".to_owned()), "{version}");
        let (none, how) = turn(&rig, &[]);
        assert_eq!(how, "transient", "{version}");
        assert_ne!(none, first, "{version}");
        assert_eq!(turn(&rig, &reworded), (first.clone(), "resumed".to_owned()), "{version}");
        let (other, how) = turn(&rig, &[tool("a", "One.", LIMITED), tool("b", "Two.", PLAIN)]);
        assert_eq!(how, "rotated", "{version}");
        assert_ne!(other, first, "{version}");
        let status = json(&rig, "status", &["--offline"])["result"]["record"].clone();
        assert_eq!(status["threadId"], other, "{version}");
        assert_eq!(status["formerThreads"][0]["threadId"], first, "{version}");
    }
}

/// Scenario 41: another model does not mean another thread; Codex gets it when the thread is
/// resumed and with the turn.
#[test]
fn another_model_keeps_the_thread() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let first = json(&rig, "turn", &["--prompt", "hello"]);
        assert_eq!(rig.model.requests().last().expect("a request")["model"], "scripted");
        let second = json(&rig, "turn", &["--prompt", "again", "--model", "another-model"]);
        assert_eq!(second["result"]["thread"], "resumed", "{version}: {second}");
        assert_eq!(second["result"]["threadId"], first["result"]["threadId"], "{version}");
        let asked = rig.model.requests().last().cloned().expect("a request");
        assert_eq!(asked["model"], "another-model", "{version}");
    }
}

/// A picture of one pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Answers every call of a tool with two texts and a picture between them.
#[derive(Debug)]
struct Illustrated;

#[async_trait]
impl RequestHandler for Illustrated {
    async fn answer(&self, _request: &ServerRequest) -> HostReply {
        ToolOutcome::succeeded("before the picture")
            .and(ToolContent::Image(PIXEL.to_owned()))
            .and(ToolContent::Text("after the picture".to_owned()))
            .into()
    }
}

/// The model gets every part of a tool's answer, in order.
#[tokio::test]
async fn a_tool_answers_with_several_items_and_a_picture() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        rig.model.script("draw", [Reply::call("a", serde_json::json!({})), Reply::text("seen")]);
        let tool = Json::parse(&tool("a", "Draws.", PLAIN)).map(Json::into_owned).expect("a tool");
        let plan = rig.plan().with_tools(vec![tool]);
        let client = rig.connect().await;
        let ready = rig.ready(&client, &plan).await;
        let report = rig.turn_with(&client, &ready, "draw", Arc::new(Illustrated)).await;
        assert_eq!(report.text, "seen", "{version}");
        let asked = rig.model.requests().last().expect("a request").to_string();
        let places = ["before the picture", "data:image/", "after the picture"];
        let places = places.map(|part| asked.find(part));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{version}: {asked}");
        client.stop().await;
    }
}
