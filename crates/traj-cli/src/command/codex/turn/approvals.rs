//! Codex's requests for approval: a person on the terminal decides, otherwise all are declined.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex};

use codex_binding::{ApprovalAnswer, ApprovalQuestion, ApprovalTopic, AskHandler};
use serde::Serialize;
use tokio::sync::oneshot;
use traj_core::event::{ApprovalScope, Decider};
use traj_core::json::Json;
use traj_core::port::{ApprovalDecision, HostReply, RequestHandler, RequestKind, ServerRequest};

use super::events::{Stream, lock, printable};
use crate::output::CommandOutput;
use crate::terminal_text::escape_control;

/// A request that was not granted.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeclinedRequest {
    /// `command`, `file-change`, `permissions`, `mcp-tool`, `tool-call`, `question`, `form` or
    /// `other`.
    topic: &'static str,
    /// The command, the MCP server, or the method of the request.
    subject: String,
    /// `user` if a person declined, or `policy` if nobody could be asked.
    by: &'static str,
}

/// Answers Codex's requests, and keeps what was declined.
#[derive(Debug)]
pub(super) struct Approvals {
    /// Why nobody is asked; `None` if a person is.
    not_asked: Option<&'static str>,
    stream: Arc<Stream>,
    declined: Mutex<Vec<DeclinedRequest>>,
    /// What is allowed for the rest of the turn.
    always: Mutex<Vec<&'static str>>,
    /// One question at a time.
    terminal: tokio::sync::Mutex<()>,
}

impl Approvals {
    /// Asks if there is a terminal and nothing else reads from it.
    pub(super) fn new(
        reads_prompt: bool,
        output: &CommandOutput,
        stream: &Arc<Stream>,
    ) -> Arc<Self> {
        let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let not_asked = match (has_terminal, reads_prompt, output.is_quiet()) {
            (false, ..) => Some("nobody could be asked: there is no terminal"),
            (_, true, _) => Some("nobody could be asked: standard input is the prompt"),
            (.., true) => Some("nobody was asked, because of --quiet"),
            _ => None,
        };
        Arc::new(Self {
            not_asked,
            stream: Arc::clone(stream),
            declined: Mutex::default(),
            always: Mutex::default(),
            terminal: tokio::sync::Mutex::default(),
        })
    }

    /// The handler of the turn's requests.
    pub(super) fn handler(self: &Arc<Self>) -> Arc<dyn RequestHandler> {
        let approvals = Arc::clone(self);
        let ask = move |question: ApprovalQuestion| {
            let approvals = Arc::clone(&approvals);
            async move { approvals.decide(&question).await }
        };
        Arc::new(AskHandler::new(ask).otherwise(Arc::new(Others(Arc::clone(self)))))
    }

    /// What was declined, in order.
    pub(super) fn declined(&self) -> Vec<DeclinedRequest> {
        lock(&self.declined).clone()
    }

    async fn decide(&self, question: &ApprovalQuestion) -> ApprovalAnswer {
        let topic = topic_name(question.topic);
        if let Some(why) = self.not_asked {
            self.decline(topic, &question.subject, Decider::Policy);
            return ApprovalAnswer::from(ApprovalDecision::Decline)
                .decided_by(Decider::Policy)
                .because(why);
        }
        let _one_at_a_time = self.terminal.lock().await;
        if lock(&self.always).contains(&topic) {
            return allowed_for_the_turn();
        }
        self.stream.make_room();
        show(question);
        match answer().await {
            Answer::Yes => ApprovalAnswer::from(ApprovalDecision::Accept),
            Answer::Always => {
                lock(&self.always).push(topic);
                allowed_for_the_turn()
            }
            Answer::No => {
                self.decline(topic, &question.subject, Decider::User);
                ApprovalAnswer::from(ApprovalDecision::Decline)
            }
        }
    }

    fn decline(&self, topic: &'static str, subject: &str, by: Decider) {
        // Even with --quiet: the reader of the reply must know what did not happen.
        self.stream.make_room();
        let shown = escape_control(subject);
        anstream::eprintln!("declined: Codex asked for {}: {shown}", in_words(topic));
        let (subject, by) = (subject.to_owned(), by.as_str());
        lock(&self.declined).push(DeclinedRequest { topic, subject, by });
    }
}

/// A yes that holds for the rest of the turn. Codex asks each time; the command answers.
fn allowed_for_the_turn() -> ApprovalAnswer {
    ApprovalAnswer::from(ApprovalDecision::Accept)
        .because("allowed for the rest of the turn")
        .lasting(ApprovalScope::Turn)
}

/// Requests that are not about approval. The command cannot answer them.
#[derive(Debug)]
struct Others(Arc<Approvals>);

#[async_trait::async_trait]
impl RequestHandler for Others {
    async fn answer(&self, request: &ServerRequest) -> HostReply {
        let topic = match request.kind {
            RequestKind::ToolCall => "tool-call",
            RequestKind::UserInput => "question",
            RequestKind::Elicitation => "form",
            _ => "other",
        };
        self.0.decline(topic, &request.method, Decider::Policy);
        HostReply::none().decided_by(Decider::Policy).because("the command cannot answer this")
    }
}

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Always,
}

impl Answer {
    /// Reads a line; everything that is not a clear yes is a no.
    fn of(line: &str) -> Self {
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Self::Yes,
            "a" | "always" => Self::Always,
            _ => Self::No,
        }
    }
}

/// Shows a question on the terminal. What Codex says cannot steer the terminal.
fn show(question: &ApprovalQuestion) {
    let topic = topic_name(question.topic);
    let mut lines = vec![format!("Codex asks for {}:", in_words(topic))];
    let indented = |text: &str| format!("  {}", printable(text).replace('\n', "\n  "));
    lines.push(indented(&question.subject));
    let details = [
        ("in", question.directory.clone()),
        ("because", question.reason.clone()),
        ("with", question.permissions.as_ref().map(Json::to_line)),
    ];
    for (word, text) in details {
        lines.extend(text.map(|text| indented(&format!("{word}: {text}"))));
    }
    lines.push(format!("Allow it? [y]es, [N]o, [a]lways for {} in this turn: ", in_words(topic)));
    let mut stderr = anstream::stderr().lock();
    // Without a terminal there is no answer, which is a no.
    stderr.write_all(lines.join("\n").as_bytes()).and_then(|()| stderr.flush()).ok();
}

/// Waits for a line. The thread that reads it may outlive the turn; it ends with the process.
async fn answer() -> Answer {
    let (send, receive) = oneshot::channel();
    let reader = std::thread::Builder::new().name("answer".to_owned()).spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        let answer = if read.is_ok() { Answer::of(&line) } else { Answer::No };
        let _turn_ended = send.send(answer);
    });
    match reader {
        Ok(_) => receive.await.unwrap_or(Answer::No),
        Err(_) => Answer::No,
    }
}

const fn topic_name(topic: ApprovalTopic) -> &'static str {
    match topic {
        ApprovalTopic::Command => "command",
        ApprovalTopic::FileChange => "file-change",
        ApprovalTopic::Permissions => "permissions",
        ApprovalTopic::McpTool => "mcp-tool",
        _ => "other",
    }
}

fn in_words(topic: &str) -> &'static str {
    match topic {
        "command" => "a command",
        "file-change" => "a file change",
        "permissions" => "more permissions",
        "mcp-tool" => "a tool of an MCP server",
        "tool-call" => "a tool of the host",
        "question" => "an answer",
        "form" => "a form of an MCP server",
        _ => "something unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_allows_anything() {
        for (line, answer) in [
            ("y\n", Answer::Yes),
            (" YES \n", Answer::Yes),
            ("a\n", Answer::Always),
            ("always", Answer::Always),
            ("\n", Answer::No),
            ("", Answer::No),
            ("n\n", Answer::No),
            ("yep\n", Answer::No),
        ] {
            assert_eq!(Answer::of(line), answer, "{line:?}");
        }
    }
}
