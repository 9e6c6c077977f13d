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

/// Where the session's file may be, best first; `None`
/// when the host does not name a session.
///
/// The root is `OPENCLAW_PATH` (or `TRAJ_PATH`), else `.openclaw` in the home
/// directory. Ids that would lead elsewhere yield no candidate.
#[must_use]
pub fn host_session_candidates(context: &SessionContext, host: &HostFacts) -> Option<Vec<String>> {
    let session = context.session_id.as_deref().filter(|id| !id.is_empty())?;
    let mut candidates = Vec::new();
    if !is_component(session) {
        return Some(candidates);
    }
    let root = host
        .variables
        .shared("PATH")
        .map(str::to_owned)
        .or_else(|| host.home().map(|home| format!("{home}/.openclaw")));
    if let (Some(agent), Some(root)) =
        (context.agent_id.as_deref().filter(|id| is_component(id)), root)
    {
        candidates.push(format!("{root}/agents/{agent}/sessions/{session}.jsonl"));
    }
    if let Some(folder) = context.agent_dir.as_deref().filter(|folder| !folder.is_empty()) {
        candidates.push(format!("{folder}/sessions/{session}.jsonl"));
        if let Some(parent) = folder.strip_suffix("/agent") {
            candidates.push(format!("{parent}/sessions/{session}.jsonl"));
        }
    }
    Some(candidates)
}

fn is_component(id: &str) -> bool {
    !id.is_empty() && id != "." && id != ".." && !id.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_in_the_order_of_the_contract() {
        let context = SessionContext {
            agent_dir: Some("/a/main/agent".to_owned()),
            agent_id: Some("main".to_owned()),
            session_id: Some("s1".to_owned()),
        };
        let host = HostFacts::new([("HOME", "/h")].into_iter().collect(), "/");
        assert_eq!(
            host_session_candidates(&context, &host).unwrap(),
            [
                "/h/.openclaw/agents/main/sessions/s1.jsonl",
                "/a/main/agent/sessions/s1.jsonl",
                "/a/main/sessions/s1.jsonl",
            ]
        );
        let moved =
            HostFacts::new([("HOME", "/h"), ("OPENCLAW_PATH", "/o")].into_iter().collect(), "/");
        let first = host_session_candidates(&context, &moved).unwrap().swap_remove(0);
        assert_eq!(first, "/o/agents/main/sessions/s1.jsonl");
    }

    #[test]
    fn hostile_ids_lead_nowhere() {
        let host = HostFacts::new([("HOME", "/h")].into_iter().collect(), "/");
        for id in ["../s1", "/etc/passwd", "..", "a\0b"] {
            let context = SessionContext {
                agent_id: Some("main".to_owned()),
                session_id: Some(id.to_owned()),
                ..SessionContext::default()
            };
            assert_eq!(host_session_candidates(&context, &host), Some(Vec::new()));
        }
        assert_eq!(host_session_candidates(&SessionContext::default(), &host), None);
    }
}
