//! The chat host of `examples/hosts/converse`, with the real Codex CLI.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;

use serde_json::json;
use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::run::{ApprovalOutcome, Fact, Place};
use traj_tests::codex_rig::{CodexRig, PATIENCE, VERSIONS};
use traj_tests::model_server::Reply;
use traj_tests::traj_binary::example_host;

/// The running host.
struct Chat {
    child: Child,
    input: Option<ChildStdin>,
    output: mpsc::Receiver<String>,
}

impl Chat {
    fn start(rig: &CodexRig) -> Self {
        let mut child = Command::new(example_host("converse"))
            .args([rig.program(), &rig.workspace()])
            .current_dir(rig.root())
            .env_clear()
            .envs(rig.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, output) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { input: child.stdin.take(), child, output }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line that starts with `start`, without it.
    fn hear(&self, start: &str) -> String {
        loop {
            let line = self.output.recv_timeout(PATIENCE).expect(start);
            if let Some(rest) = line.strip_prefix(start) {
                return rest.to_owned();
            }
        }
    }

    /// Sends a message; returns the reply and the thread.
    fn ask(&mut self, text: &str) -> (String, String) {
        self.say(text);
        (self.hear("reply: "), self.hear("thread: "))
    }

    fn close(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_chat_host_keeps_its_thread_through_everything() {
    for version in VERSIONS {
        let Some(rig) = CodexRig::new(version) else { continue };
        let model = &rig.model;
        model.script(
            "deliver",
            [Reply::call("message", json!({"text": "ahoy"})), Reply::text("sent")],
        );
        model.script("permit", [Reply::escalated_shell("touch allowed.txt"), Reply::text("made")]);
        model.script(
            "refuse",
            [Reply::escalated_shell("touch forbidden.txt"), Reply::text("not made")],
        );
        model.script(
            "consult",
            [Reply::call("mcp__notes/read_note", json!({})), Reply::text("noted")],
        );
        model.script("commence", [Reply::held("thinking")]);
        model.script("holdfast", [Reply::held("partial")]);

        let mut chat = Chat::start(&rig);
        // A tool of the host.
        chat.say("deliver it");
        assert_eq!(chat.hear("message: "), "ahoy", "{version}");
        assert_eq!(chat.hear("reply: "), "sent", "{version}");
        let thread = chat.hear("thread: ");
        // An approval that the list grants, and one that the callback declines.
        assert_eq!(chat.ask("permit it").0, "made", "{version}");
        assert!(rig.workspace().join("allowed.txt").exists(), "{version}");
        chat.say("refuse it");
        assert!(chat.hear("declined: ").contains("forbidden.txt"), "{version}");
        assert_eq!(chat.hear("reply: "), "not made", "{version}");
        assert!(!rig.workspace().join("forbidden.txt").exists(), "{version}");
        // A tool of the MCP server that Codex started.
        assert_eq!(chat.ask("consult it").0, "noted", "{version}");
        let last = model.requests().last().unwrap().to_string();
        assert!(last.contains("water the violets"), "{version}: {last}");
        // A message to a running turn.
        chat.say("commence now");
        assert!(model.handle().wait_for_request("commence", PATIENCE), "{version}");
        chat.say("/steer and mention violets");
        chat.hear("steered");
        model.release("commence");
        chat.hear("thread: ");
        let all: String = model.requests().iter().map(ToString::to_string).collect();
        assert!(all.contains("mention violets"), "{version}");
        // An interrupted turn.
        chat.say("holdfast now");
        assert!(model.handle().wait_for_request("holdfast", PATIENCE), "{version}");
        chat.say("/interrupt");
        chat.hear("interrupted");
        // Another Codex process, and then another host process.
        chat.say("/restart");
        chat.hear("restarted");
        assert_eq!(chat.ask("next").1, thread, "{version}");
        chat.close();
        let mut chat = Chat::start(&rig);
        assert_eq!(chat.ask("again").1, thread, "{version}");
        chat.close();
        assert_decisions_are_recorded(&rig, version);
    }
}

/// The recording states who decided what.
#[expect(clippy::disallowed_methods, reason = "it looks at its own temporary directory")]
fn assert_decisions_are_recorded(rig: &CodexRig, version: &str) {
    let folder = cap_std::fs::Dir::open_ambient_dir(rig.root(), cap_std::ambient_authority());
    let sidecar = folder.unwrap().read_to_string("chat.trajectory.jsonl").unwrap();
    let mut decided = Vec::new();
    for (number, line) in (1..).zip(sidecar.lines()) {
        let row = Json::parse(line).unwrap();
        Dialect::Sidecar.decode(&row, Place::line(number), &mut |event| {
            if let Fact::ApprovalDecided(approval) = event.fact {
                let name = approval.decider_name.unwrap_or("nobody").to_owned();
                decided.push((approval.decision.map(ApprovalOutcome::as_str), name));
            }
        });
    }
    let expected = [
        (Some("approved"), "rules of the example".to_owned()),
        (Some("denied"), "the example".to_owned()),
        // The tool of the MCP server.
        (Some("approved"), "rules of the example".to_owned()),
    ];
    assert_eq!(decided, expected, "{version}");
}
