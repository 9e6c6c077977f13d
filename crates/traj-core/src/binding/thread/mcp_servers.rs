//! The MCP servers that a user registered with a host, as one agent gets them.

use crate::json::{Json, Object};

/// How Codex may approve the tools of a server.
const APPROVAL_MODES: [&str; 3] = ["auto", "prompt", "approve"];

/// The servers of a host's registry that `agent` may use, by name, as Codex configures them.
///
/// A server is left out if it is disabled (`"enabled": false`), or if the list `codex.agents` does
/// not name the agent. A list that is empty or malformed names nobody: a mistake must not give a
/// server to everybody. Of the rest, only members that Codex knows are taken over. A header whose
/// value is `${NAME}` is read by Codex from that variable.
#[must_use]
pub fn mcp_servers_of(registry: &Object<'_>, agent: Option<&str>) -> Object<'static> {
    let mut servers = Object::new();
    for (name, server) in registry.iter() {
        if is_for(server, agent) {
            servers.insert(name.to_owned(), projected(server));
        }
    }
    servers
}

fn is_for(server: &Json<'_>, agent: Option<&str>) -> bool {
    if server.as_object().is_none() || server.get("enabled") == Some(&Json::Bool(false)) {
        return false;
    }
    let Some(agents) = server.get("codex").and_then(|codex| codex.get("agents")) else {
        return true;
    };
    let agent = agent.map(str::trim).filter(|agent| !agent.is_empty());
    let named = agents.as_array().unwrap_or_default().iter().filter_map(Json::as_str);
    agent.is_some_and(|agent| named.map(str::trim).any(|named| named == agent))
}

fn projected(server: &Json<'_>) -> Object<'static> {
    let mut out = Object::new();
    for member in ["command", "cwd", "url"] {
        out.push_some(member, text(server.get(member)));
    }
    if let Some(arguments) = server.get("args").and_then(Json::as_array) {
        let arguments = arguments.iter().filter_map(Json::as_str);
        out.push("args", arguments.map(|text| Json::from(text.to_owned())).collect::<Vec<_>>());
    }
    let environment = texts(server.get("env"));
    if !environment.is_empty() {
        out.push("env", environment);
    }
    out.push_some("default_tools_approval_mode", approval_mode(server.get("codex")));
    push_headers(&mut out, &texts(server.get("headers")));
    out
}

fn text(value: Option<&Json<'_>>) -> Option<String> {
    value.and_then(Json::as_str).map(str::to_owned)
}

/// The members of an object whose values are strings.
fn texts(value: Option<&Json<'_>>) -> Object<'static> {
    let members = value.and_then(Json::as_object).into_iter().flat_map(Object::iter);
    let texts = members.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?)));
    texts.map(|(name, value)| (name, value.to_owned())).collect()
}

fn approval_mode(codex: Option<&Json<'_>>) -> Option<String> {
    let spellings = ["defaultToolsApprovalMode", "default_tools_approval_mode"];
    let modes = spellings.iter().filter_map(|name| codex?.get(name)?.as_str());
    modes.into_iter().find(|mode| APPROVAL_MODES.contains(mode)).map(str::to_owned)
}

/// Headers with a fixed value, and those that Codex reads from variables.
fn push_headers(out: &mut Object<'static>, headers: &Object<'_>) {
    let (mut fixed, mut named) = (Object::new(), Object::new());
    for (name, value) in headers.iter() {
        let value = value.as_str().unwrap_or_default();
        let token = value.strip_prefix("Bearer ").and_then(variable);
        match (variable(value), token) {
            (Some(variable), _) => named.insert(name.to_owned(), variable.to_owned()),
            (None, Some(variable)) if name.eq_ignore_ascii_case("authorization") => {
                out.insert("bearer_token_env_var", variable.to_owned());
            }
            _ => fixed.insert(name.to_owned(), value.to_owned()),
        }
    }
    for (member, headers) in [("env_http_headers", named), ("http_headers", fixed)] {
        if !headers.is_empty() {
            out.push(member, headers);
        }
    }
}

/// The name in `${NAME}`.
fn variable(value: &str) -> Option<&str> {
    let name = value.trim().strip_prefix("${")?.strip_suffix('}')?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(registry: &str, agent: Option<&str>) -> String {
        let registry = Json::parse(registry).unwrap();
        Json::Object(mcp_servers_of(registry.as_object().unwrap(), agent)).to_line()
    }

    /// Scenario 25.
    #[test]
    fn a_server_limited_to_another_agent_is_left_out() {
        let registry = r#"{
            "all":{"command":"a"},
            "mine":{"command":"b","codex":{"agents":["other"," main "]}},
            "theirs":{"command":"c","codex":{"agents":["other"]}},
            "nobody":{"command":"d","codex":{"agents":[]}},
            "malformed":{"command":"e","codex":{"agents":"main"}},
            "off":{"command":"f","enabled":false},
            "broken":7
        }"#;
        let all = r#""all":{"command":"a"}"#;
        assert_eq!(
            servers(registry, Some("main")),
            format!(r#"{{{all},"mine":{{"command":"b"}}}}"#)
        );
        for nobody in [None, Some(" "), Some("third")] {
            assert_eq!(servers(registry, nobody), format!("{{{all}}}"), "{nobody:?}");
        }
    }

    #[test]
    fn only_what_codex_knows_is_taken_over() {
        let registry = r#"{"s":{"transport":"sse","url":"https://h/mcp","cwd":1,"args":["x",2],
            "env":{"A":"1","B":2},"toolFilter":{},"codex":{"default_tools_approval_mode":"prompt"},
            "headers":{"Authorization":"Bearer ${TOKEN}","X-Key":"${KEY}","X-Plain":"p","X-Odd":"${no"}}}"#;
        insta::assert_snapshot!(
            servers(registry, None),
            @r#"{"s":{"url":"https://h/mcp","args":["x"],"env":{"A":"1"},"default_tools_approval_mode":"prompt","bearer_token_env_var":"TOKEN","env_http_headers":{"X-Key":"KEY"},"http_headers":{"X-Plain":"p","X-Odd":"${no"}}}"#
        );
        let unknown = r#"{"s":{"command":"x","codex":{"defaultToolsApprovalMode":"always"}}}"#;
        assert_eq!(servers(unknown, None), r#"{"s":{"command":"x"}}"#);
    }
}
