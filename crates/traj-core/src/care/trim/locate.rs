//! Which session file a host's tool call is about.

use crate::settings::host::HostFacts;

/// A host's description of the session a tool runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built literally by hosts, mirrors the contract")]
pub struct SessionContext {
    /// The agent's directory.
    pub agent_dir: Option<String>,
    /// The agent's id.
    pub agent_id: Option<String>,
    /// The session's id.
    pub session_id: Option<String>,
}

/// Why the file of a session was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionLookupError {
    /// The context names no session.
    #[error("the context has no session id; perhaps no session is active")]
    MissingSessionId,
    /// None of the places has the file.
    #[error("session {session_id} has no file; tried: {}", places(tried))]
    NotFound {
        /// The session.
        session_id: String,
        /// Where it was looked for, in order. Empty if the context names no agent, or if an id
        /// cannot be part of a path.
        tried: Vec<String>,
    },
}

fn places(tried: &[String]) -> String {
    if tried.is_empty() {
        "no place, for lack of a usable agent".to_owned()
    } else {
        tried.join(", ")
    }
}

/// Finds the file of the session that a host describes: the first place that
/// `exists`.
///
/// The places, best first: `agents/ID/sessions` in [`HostFacts::agents_root`],
/// `sessions` in the agent's directory, and `sessions` beside a directory named
/// `agent`. Ids that would lead outside of these are not looked for.
///
/// # Errors
/// See [`SessionLookupError`].
pub fn host_session_file(
    context: &SessionContext,
    host: &HostFacts,
    mut exists: impl FnMut(&str) -> bool,
) -> Result<String, SessionLookupError> {
    let session_id = context.session_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let session_id = session_id.ok_or(SessionLookupError::MissingSessionId)?;
    let tried = candidates(context, session_id, host);
    match tried.iter().find(|file| exists(file)) {
        Some(file) => Ok(file.clone()),
        None => Err(SessionLookupError::NotFound { session_id: session_id.to_owned(), tried }),
    }
}

/// Where the session's file may be, best first.
fn candidates(context: &SessionContext, session: &str, host: &HostFacts) -> Vec<String> {
    let mut candidates = Vec::new();
    if !is_component(session) {
        return candidates;
    }
    let agent = context.agent_id.as_deref().filter(|id| is_component(id));
    if let (Some(agent), Some(root)) = (agent, host.agents_root()) {
        let root = root.trim_end_matches('/');
        candidates.push(format!("{root}/agents/{agent}/sessions/{session}.jsonl"));
    }
    if let Some(folder) = context.agent_dir.as_deref().filter(|folder| !folder.is_empty()) {
        candidates.push(format!("{folder}/sessions/{session}.jsonl"));
        if let Some(parent) = folder.strip_suffix("/agent") {
            candidates.push(format!("{parent}/sessions/{session}.jsonl"));
        }
    }
    candidates
}

fn is_component(id: &str) -> bool {
    !id.is_empty() && id != "." && id != ".." && !id.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(session: &str) -> SessionContext {
        SessionContext {
            agent_dir: Some("/a/main/agent".to_owned()),
            agent_id: Some("main".to_owned()),
            session_id: Some(session.to_owned()),
        }
    }

    fn host(variables: &[(&str, &str)]) -> HostFacts {
        HostFacts::new(variables.iter().copied().collect(), "/")
    }

    #[test]
    fn the_first_place_that_exists_is_taken() {
        let host = host(&[("HOME", "/h")]);
        let places = [
            "/h/.openclaw/agents/main/sessions/s1.jsonl",
            "/a/main/agent/sessions/s1.jsonl",
            "/a/main/sessions/s1.jsonl",
        ];
        for (at, place) in places.iter().enumerate() {
            let found =
                host_session_file(&context("s1"), &host, |file| places[at..].contains(&file));
            assert_eq!(found.as_deref(), Ok(*place));
        }
        let error = host_session_file(&context("s1"), &host, |_| false).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("session s1 has no file; tried: {}", places.join(", "))
        );
    }

    #[test]
    fn the_root_of_the_agents_can_be_moved() {
        let moved = host(&[("HOME", "/h"), ("OPENCLAW_PATH", "/o/")]);
        let found = host_session_file(&context("s1"), &moved, |_| true);
        assert_eq!(found.as_deref(), Ok("/o/agents/main/sessions/s1.jsonl"));
    }

    #[test]
    fn a_context_without_a_session_is_an_error_of_its_own() {
        let host = host(&[("HOME", "/h")]);
        for session_id in [None, Some(String::new()), Some(" ".to_owned())] {
            let context = SessionContext { session_id, ..context("") };
            let error = host_session_file(&context, &host, |_| true).unwrap_err();
            assert_eq!(error, SessionLookupError::MissingSessionId);
        }
    }

    #[test]
    fn hostile_ids_lead_nowhere() {
        let host = host(&[("HOME", "/h")]);
        for id in ["../s1", "/etc/passwd", "..", "a\0b"] {
            let error = host_session_file(&context(id), &host, |_| true).unwrap_err();
            let tried = Vec::new();
            assert_eq!(error, SessionLookupError::NotFound { session_id: id.to_owned(), tried });
        }
    }
}
