//! Grants what is on a list.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use traj_core::event::Decider;
use traj_core::port::{ApprovalDecision, DenyAll, HostReply, RequestHandler, ServerRequest};

use super::command_line::{is_literal, script_of, split};
use crate::protocol::{ApprovalQuestion, ApprovalTopic, asks_for_more, command_words};

/// Grants what is on the list, once for each request. Everything else goes to another handler,
/// which declines it unless you choose one.
///
/// A command is compared as the shell gets it: `bash -lc 'cargo test'` is `cargo test`. A request
/// that asks for more than its subject (a root to write to, other permissions, the network) is never
/// granted here.
///
/// ```
/// use codex_binding::AllowList;
///
/// let handler = AllowList::new("build rules")
///     .command("cargo test")
///     .commands_starting_with("git status")
///     .mcp_server("documentation");
/// # let _handler = handler;
/// ```
#[derive(Clone, Debug)]
pub struct AllowList {
    name: String,
    commands: BTreeSet<String>,
    starts: Vec<Vec<String>>,
    allows_file_changes: bool,
    mcp_servers: BTreeSet<String>,
    otherwise: Arc<dyn RequestHandler>,
}

impl AllowList {
    /// An empty list. Its name is recorded with every decision.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            commands: BTreeSet::new(),
            starts: Vec::new(),
            allows_file_changes: false,
            mcp_servers: BTreeSet::new(),
            otherwise: Arc::new(DenyAll::new()),
        }
    }

    /// Allows exactly this command.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.insert(command.into().trim().to_owned());
        self
    }

    /// Allows every command that starts with these words, if a shell takes it literally: no quotes,
    /// variables, redirections or further commands. Many programs can run others, so name their
    /// harmless subcommands (`git status`), not the program (`git`).
    #[must_use]
    pub fn commands_starting_with(mut self, words: &str) -> Self {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if !words.is_empty() {
            self.starts.push(words);
        }
        self
    }

    /// Allows file changes that need no further permission.
    #[must_use]
    pub const fn file_changes(mut self) -> Self {
        self.allows_file_changes = true;
        self
    }

    /// Allows every tool of this MCP server.
    #[must_use]
    pub fn mcp_server(mut self, name: impl Into<String>) -> Self {
        self.mcp_servers.insert(name.into());
        self
    }

    /// Sends everything that is not on the list to this handler.
    #[must_use]
    pub fn otherwise(mut self, handler: Arc<dyn RequestHandler>) -> Self {
        self.otherwise = handler;
        self
    }

    fn allows(&self, question: &ApprovalQuestion) -> bool {
        if asks_for_more(&question.request.params) {
            return false;
        }
        match question.topic {
            ApprovalTopic::Command => self.allows_command(question),
            ApprovalTopic::FileChange => self.allows_file_changes,
            ApprovalTopic::McpTool => self.mcp_servers.contains(&question.subject),
            _ => false,
        }
    }

    fn allows_command(&self, question: &ApprovalQuestion) -> bool {
        let words = command_words(&question.request.params).or_else(|| split(&question.subject));
        let Some(script) = words.as_deref().map(script_of) else {
            return self.commands.contains(question.subject.trim());
        };
        let is_start = |start: &Vec<String>| {
            let mut words = script.split_whitespace();
            start.iter().all(|expected| words.next() == Some(expected))
        };
        self.commands.contains(&script) || (is_literal(&script) && self.starts.iter().any(is_start))
    }
}

#[async_trait]
impl RequestHandler for AllowList {
    async fn answer(&self, request: &ServerRequest) -> HostReply {
        match ApprovalQuestion::of(request) {
            Some(question) if self.allows(&question) => {
                let mut reply =
                    HostReply::none().decided_by(Decider::Policy).named(self.name.clone());
                reply.answer = question.answer(ApprovalDecision::Accept);
                reply
            }
            _ => self.otherwise.answer(request).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use traj_core::json::{Json, Object};
    use traj_core::port::HostAnswer;

    use super::*;
    use crate::protocol::read_request;

    async fn is_allowed(list: &AllowList, method: &str, params: Json<'static>) -> bool {
        let reply = list.answer(&read_request(method, params)).await;
        assert_eq!(reply.by, Decider::Policy);
        reply.answer.is_some_and(|answer| {
            let accept = HostAnswer::Approval(ApprovalDecision::Accept);
            answer == accept || matches!(answer, HostAnswer::ElicitationAccepted(_))
        })
    }

    async fn runs(list: &AllowList, command: &str) -> bool {
        let params = Object::from_iter([("command", command.to_owned())]).into();
        is_allowed(list, "item/commandExecution/requestApproval", params).await
    }

    #[tokio::test]
    async fn only_commands_on_the_list_are_allowed() {
        let list = AllowList::new("rules").command("make test").commands_starting_with("git log");
        for command in
            ["make test", "/bin/bash -lc 'make test'", "git log", "bash -lc 'git log -1 src/a.rs'"]
        {
            assert!(runs(&list, command).await, "{command}");
        }
        for command in [
            "make test2",
            "make test; rm -rf x",
            "bash -lc 'make test && rm x'",
            "git logs",
            "git push",
            "bash -lc 'git log > /etc/passwd'",
            "bash -lc 'git log $(rm x)'",
            "bash -lc 'git log' && rm x",
            "./bash -lc 'make test'",
            "/home/agent/bin/sh -c 'git log'",
            "",
        ] {
            assert!(!runs(&list, command).await, "{command}");
        }
    }

    /// The words of the older protocol are taken as they are: a space in one does not split it.
    #[tokio::test]
    async fn a_command_of_the_older_protocol_is_compared_word_by_word() {
        let list = AllowList::new("rules").command("make test");
        let words = |text: &'static str| Json::parse(text).unwrap();
        let method = "execCommandApproval";
        assert!(is_allowed(&list, method, words(r#"{"command":["make","test"]}"#)).await);
        let shell = words(r#"{"command":["bash","-lc","make test"]}"#);
        assert!(is_allowed(&list, method, shell).await);
        let more = words(r#"{"command":["bash","-lc","make test","rm x"]}"#);
        assert!(!is_allowed(&list, method, more).await);
    }

    #[tokio::test]
    async fn a_request_for_more_than_its_subject_is_not_granted() {
        let list = AllowList::new("rules").command("make").file_changes().mcp_server("docs");
        let parse = |text: &'static str| Json::parse(text).unwrap();
        let command = "item/commandExecution/requestApproval";
        let change = "item/fileChange/requestApproval";
        assert!(is_allowed(&list, command, parse(r#"{"command":"make"}"#)).await);
        let network = parse(r#"{"command":"make","networkApprovalContext":{"host":"h"}}"#);
        assert!(!is_allowed(&list, command, network).await);
        let stdin = parse(r#"{"command":"make","kind":"stdin"}"#);
        assert!(!is_allowed(&list, command, stdin).await);
        assert!(is_allowed(&list, change, parse(r#"{"grantRoot":null}"#)).await);
        assert!(!is_allowed(&list, change, parse(r#"{"grantRoot":"/"}"#)).await);
        let permissions = parse(r#"{"permissions":{"network":{"enabled":true}}}"#);
        assert!(!is_allowed(&list, "item/permissions/requestApproval", permissions).await);
        let tool =
            parse(r#"{"serverName":"docs","_meta":{"codex_approval_kind":"mcp_tool_call"}}"#);
        assert!(is_allowed(&list, "mcpServer/elicitation/request", tool).await);
        let form = parse(r#"{"serverName":"docs","message":"Name?"}"#);
        assert!(!is_allowed(&list, "mcpServer/elicitation/request", form).await);
    }
}
