//! One response of a scripted model.

use serde_json::{Value, json};

/// One scripted model response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reply {
    messages: Vec<Message>,
    calls: Vec<Call>,
    http: Option<(u16, String)>,
    dropped: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) phase: Option<String>,
    pub(super) held: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Call {
    Function { name: String, arguments: Value },
    Shell { command: String, escalated: bool },
}

impl Reply {
    const fn empty() -> Self {
        Self { messages: Vec::new(), calls: Vec::new(), http: None, dropped: false }
    }

    /// A plain assistant message.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::empty().and_text(text, None)
    }

    /// A message whose end is held back until `ModelServer::release`.
    #[must_use]
    pub fn held(text: &str) -> Self {
        let message = Message { text: text.to_owned(), phase: None, held: true };
        Self { messages: vec![message], ..Self::empty() }
    }

    /// Another message in the same response, with an optional phase.
    #[must_use]
    pub fn and_text(mut self, text: &str, phase: Option<&str>) -> Self {
        let phase = phase.map(str::to_owned);
        self.messages.push(Message { text: text.to_owned(), phase, held: false });
        self
    }

    /// A call to a function tool; `namespace/name` for a tool in a namespace.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        let call = Call::Function { name: name.to_owned(), arguments };
        Self { calls: vec![call], ..Self::empty() }
    }

    /// A shell command that needs the user's approval.
    #[must_use]
    pub fn escalated_shell(command: &str) -> Self {
        let call = Call::Shell { command: command.to_owned(), escalated: true };
        Self { calls: vec![call], ..Self::empty() }
    }

    /// An HTTP failure instead of a stream.
    #[must_use]
    pub fn failure(status: u16, message: &str) -> Self {
        Self { http: Some((status, message.to_owned())), ..Self::empty() }
    }

    /// A stream that ends before the response is complete.
    #[must_use]
    pub fn dropped(text: &str) -> Self {
        Self { dropped: true, ..Self::text(text) }
    }

    pub(super) fn http_failure(&self) -> Option<(u16, &str)> {
        self.http.as_ref().map(|(status, message)| (*status, message.as_str()))
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(super) const fn is_dropped(&self) -> bool {
        self.dropped
    }
}

/// The wire form of a call, with the tool names that this request offers.
pub(super) fn function_call(call: &Call, body: &Value, response: u64, position: usize) -> Value {
    let (name, arguments) = match call {
        Call::Function { name, arguments } => (name.as_str(), arguments.clone()),
        Call::Shell { command, escalated } => shell(command, *escalated, body),
    };
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, name),
    };
    let mut call = json!({
        "type": "function_call", "id": format!("fc_{response}_{position}"),
        "call_id": format!("call_{response}_{position}"),
        "name": name, "arguments": arguments.to_string(),
    });
    if let Some(namespace) = namespace {
        call["namespace"] = namespace.into();
    }
    call
}

fn shell(command: &str, escalated: bool, body: &Value) -> (&'static str, Value) {
    let offered = |name: &str| {
        body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name))
    };
    let (name, mut arguments) = if offered("exec_command") {
        ("exec_command", json!({"cmd": command}))
    } else if offered("shell_command") {
        ("shell_command", json!({"command": command}))
    } else {
        ("shell", json!({"command": ["bash", "-c", command]}))
    };
    if escalated {
        arguments["sandbox_permissions"] = json!("require_escalated");
        arguments["justification"] = json!("the scripted model asks");
    }
    (name, arguments)
}
