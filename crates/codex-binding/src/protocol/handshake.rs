//! The first message of a connection, and the server's answer.

use traj_core::json::{Json, Object};

use super::ServerVersion;

/// What the server says about itself.
#[derive(Debug)]
pub(crate) struct ServerGreeting {
    /// Its version, if it can be read.
    pub(crate) version: Option<ServerVersion>,
    /// The Codex home in which it keeps its threads.
    pub(crate) home: Option<String>,
}

/// The first message of a connection.
pub(crate) fn initialize_params(name: &str, title: &str, version: &str) -> Json<'static> {
    let mut client = Object::new();
    client.push("name", name.to_owned());
    client.push("title", title.to_owned());
    client.push("version", version.to_owned());
    let mut params = Object::new();
    params.push("clientInfo", client);
    // Host tools, collaboration modes and environments need this capability.
    params.push("capabilities", std::iter::once(("experimentalApi", true)).collect::<Object<'_>>());
    params.into()
}

/// Reads the answer to the first message.
pub(crate) fn greeting(answer: &Json<'_>) -> ServerGreeting {
    let text = |name: &str| answer.get(name).and_then(Json::as_str);
    ServerGreeting {
        version: text("userAgent").and_then(ServerVersion::of_user_agent),
        home: text("codexHome").map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_states_version_and_home() {
        let read = |text: &str| greeting(&Json::parse(text).unwrap());
        let full = read(r#"{"userAgent":"traj/0.169.0 (linux)","codexHome":"/home/c"}"#);
        assert_eq!(full.version.as_ref().map(ServerVersion::as_str), Some("0.169.0"));
        assert_eq!(full.home.as_deref(), Some("/home/c"));
        let empty = read("{}");
        assert!(empty.version.is_none() && empty.home.is_none());
    }
}
