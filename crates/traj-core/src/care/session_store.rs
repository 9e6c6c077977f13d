//! OpenClaw's `sessions.json`: which session and which file belong to a key.
//!
//! Only the text is examined here; the caller that opens a file checks for links.

use std::collections::HashSet;

use crate::json::{Json, ParseError};
use crate::location::normalise;

/// Why a store does not lead to a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionStoreError {
    /// The file is not JSON.
    #[error("the session store is not valid JSON")]
    NotJson(#[from] ParseError),
    /// The file is JSON, but not a table of sessions.
    #[error("the session store is not an object of sessions")]
    NotATable,
    /// No entry has this key, or the entry names no session.
    #[error("no session is stored under this key")]
    UnknownKey,
    /// The stored session id could not be part of a file name.
    #[error("the stored session id is not usable as a file name")]
    UnsafeId,
}

/// One session as the store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// The key it is stored under.
    pub key: String,
    /// Its id.
    pub session_id: String,
    /// The file the store names, as written there.
    pub session_file: Option<String>,
    /// When it was last touched, in milliseconds since the Unix epoch.
    pub updated_at: Option<i64>,
    /// Whether the store marks it as running.
    pub running: bool,
}

/// A parsed store.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SessionStore {
    /// Entries that name a session, in the store's order.
    pub sessions: Vec<StoredSession>,
}

impl SessionStore {
    /// Reads a store.
    ///
    /// # Errors
    /// When the text is not a JSON object. Entries that are not sessions are
    /// skipped.
    pub fn parse(text: &str) -> Result<Self, SessionStoreError> {
        let store = Json::parse(text.trim_start_matches('\u{feff}'))?;
        let table = store.as_object().ok_or(SessionStoreError::NotATable)?;
        let entries: Vec<_> = table.iter().collect();
        // Of repeated keys, the last one counts.
        let mut keys = HashSet::with_capacity(entries.len());
        let mut sessions: Vec<StoredSession> = Vec::with_capacity(entries.len());
        for (key, entry) in entries.into_iter().rev() {
            let Some(session) = read_entry(key, entry) else { continue };
            if keys.insert(key) {
                sessions.push(session);
            }
        }
        sessions.reverse();
        Ok(Self { sessions })
    }

    /// The session stored under `key`.
    ///
    /// # Errors
    /// [`SessionStoreError::UnknownKey`] when no entry has that key.
    pub fn find(&self, key: &str) -> Result<&StoredSession, SessionStoreError> {
        let mut sessions = self.sessions.iter();
        sessions.find(|session| session.key == key).ok_or(SessionStoreError::UnknownKey)
    }
}

fn read_entry(key: &str, entry: &Json<'_>) -> Option<StoredSession> {
    let text = |name: &str| entry.get(name).and_then(Json::as_str).map(str::trim);
    let session_id = text("sessionId").filter(|id| !id.is_empty())?;
    let acp_state = entry.get("acp").and_then(|acp| acp.get("state")).and_then(Json::as_str);
    Some(StoredSession {
        key: key.to_owned(),
        session_id: session_id.to_owned(),
        session_file: text("sessionFile").filter(|file| !file.is_empty()).map(str::to_owned),
        updated_at: entry.get("updatedAt").and_then(Json::as_f64).map(|value| value as i64),
        running: text("status") == Some("running") || acp_state == Some("running"),
    })
}

/// The agent that a key of the form `agent:<id>:…` belongs to; `main` for
/// every other key.
#[must_use]
pub fn agent_of_key(key: &str) -> &str {
    let mut parts = key.split(':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("agent"), Some(agent), Some(_)) if is_safe_id(agent) => agent,
        _ => "main",
    }
}

/// The default store of an agent.
#[must_use]
pub fn default_store_path(state_dir: &str, agent: &str) -> String {
    format!("{}/agents/{agent}/sessions/sessions.json", state_dir.trim_end_matches('/'))
}

/// Whether an id may become a file name: a letter or digit, then up to 127
/// letters, digits, `.`, `_` or `-`.
#[must_use]
pub fn is_safe_id(id: &str) -> bool {
    let mut bytes = id.bytes();
    id.len() <= 128
        && bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// The files that may hold a stored session, best first: the one the store names,
/// if it is in the store's directory or a sibling agent's; then the default name.
/// Paths are compared as strings, so `.`, `..` and doubled slashes are resolved
/// first; absolute files match an absolute directory only.
///
/// # Errors
/// [`SessionStoreError::UnsafeId`] when the id cannot be part of a file name.
pub fn stored_session_candidates(
    session: &StoredSession,
    sessions_dir: &str,
) -> Result<Vec<String>, SessionStoreError> {
    let folder = normalise(sessions_dir).unwrap_or_else(|| sessions_dir.to_owned());
    let named = session.session_file.as_deref().and_then(|file| {
        let path = if file.starts_with('/') {
            normalise(file)
        } else {
            normalise(&file_in(&folder, file))
        };
        path.filter(|path| is_inside(path, &folder) || is_in_sibling(path, &folder))
    });
    if !is_safe_id(&session.session_id) && named.is_none() {
        return Err(SessionStoreError::UnsafeId);
    }
    let mut candidates: Vec<String> = named.into_iter().collect();
    if is_safe_id(&session.session_id) {
        let default = file_in(&folder, &format!("{}.jsonl", session.session_id));
        if !candidates.contains(&default) {
            candidates.push(default);
        }
    }
    Ok(candidates)
}

fn file_in(folder: &str, file: &str) -> String {
    let slash = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
    format!("{folder}{slash}{file}")
}

fn is_inside(path: &str, folder: &str) -> bool {
    path.strip_prefix(&file_in(folder, ""))
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// Whether `path` is `<agents>/<other>/sessions/<file>` for the `<agents>`
/// directory that `folder` belongs to.
fn is_in_sibling(path: &str, folder: &str) -> bool {
    let Some((agent_dir, "sessions")) = folder.rsplit_once('/') else { return false };
    let Some((agents, _)) = agent_dir.rsplit_once('/') else { return false };
    let Some(rest) = path.strip_prefix(agents).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    let mut parts = rest.split('/');
    matches!((parts.next(), parts.next(), parts.next(), parts.next()),
        (Some(agent), Some("sessions"), Some(_), None) if is_safe_id(agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = "/state/agents/main/sessions";

    fn stored(file: Option<&str>, id: &str) -> StoredSession {
        StoredSession {
            key: "k".to_owned(),
            session_id: id.to_owned(),
            session_file: file.map(str::to_owned),
            updated_at: None,
            running: false,
        }
    }

    #[test]
    fn finds_sessions_by_key() {
        let store = SessionStore::parse(
            r#"{"agent:main:main":{"sessionId":"s1","updatedAt":5.5,"status":"running"},"x":{},"y":null}"#,
        )
        .unwrap();
        let found = store.find("agent:main:main").unwrap();
        assert_eq!(
            (found.session_id.as_str(), found.updated_at, found.running),
            ("s1", Some(5), true)
        );
        assert_eq!(store.find("x"), Err(SessionStoreError::UnknownKey));
        assert_eq!(SessionStore::parse("[]").unwrap_err(), SessionStoreError::NotATable);
    }

    #[test]
    fn the_last_of_repeated_keys_counts_in_a_store_of_any_size() {
        // Comparing each key with all earlier ones would take minutes.
        let names = (0..100_000).map(|number| format!(r#""k{number}":{{"sessionId":"s1"}}"#));
        let many: Vec<_> = names.collect();
        let text = format!(
            r#"{{"k0":{{"sessionId":"s0"}},{},"k7":{{"sessionId":"s2"}},"k8":{{}}}}"#,
            many.join(",")
        );
        let store = SessionStore::parse(&text).unwrap();
        assert_eq!(store.sessions.len(), 100_000);
        assert_eq!(store.sessions[0].session_id, "s1");
        let keys = store.sessions.iter().map(|session| session.key.as_str());
        let keys: Vec<_> = keys.filter(|key| key.len() == 2).collect();
        assert_eq!(keys, ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k8", "k9", "k7"]);
        assert_eq!(store.sessions.last().unwrap().session_id, "s2");
    }

    #[test]
    fn agents_come_from_keys() {
        assert_eq!(agent_of_key("agent:ops:telegram:direct:42"), "ops");
        assert_eq!(agent_of_key("agent:../x:main"), "main");
        assert_eq!(agent_of_key("telegram:1"), "main");
        assert_eq!(agent_of_key("agent:ops"), "main");
    }

    #[test]
    fn files_outside_the_sessions_folders_are_not_candidates() {
        let candidates = |file| stored_session_candidates(&stored(file, "s1"), FOLDER).unwrap();
        assert_eq!(candidates(None), ["/state/agents/main/sessions/s1.jsonl"]);
        assert_eq!(candidates(Some("other.jsonl")).len(), 2);
        assert_eq!(candidates(Some("/state/agents/ops/sessions/o.jsonl")).len(), 2);
        for outside in
            ["/etc/passwd", "../../../../etc/passwd", "/state/agents/ops/o.jsonl", "../../x"]
        {
            assert_eq!(candidates(Some(outside)).len(), 1, "{outside}");
        }
    }

    #[test]
    fn a_folder_may_be_written_in_many_ways() {
        let named = |file: &str, folder: &str| {
            stored_session_candidates(&stored(Some(file), "s1"), folder).unwrap().swap_remove(0)
        };
        for folder in [
            "/state//agents/main/sessions",
            "/state/./agents/main/sessions/",
            "/state/agents/ops/../main/sessions",
        ] {
            for file in ["own.jsonl", "./own.jsonl", "/state/agents/main/sessions/own.jsonl"] {
                assert_eq!(
                    named(file, folder),
                    "/state/agents/main/sessions/own.jsonl",
                    "{folder}"
                );
            }
            for file in ["../../ops/sessions/o.jsonl", "/state/agents/ops/sessions/o.jsonl"] {
                assert_eq!(named(file, folder), "/state/agents/ops/sessions/o.jsonl", "{folder}");
            }
        }
        assert_eq!(named("own.jsonl", "/"), "/own.jsonl");
        assert_eq!(named("./own.jsonl", "."), "own.jsonl");
        assert_eq!(named("own.jsonl", "./agents/"), "agents/own.jsonl");
        for outside in ["../own.jsonl", "/etc/own.jsonl"] {
            assert_eq!(named(outside, "."), "s1.jsonl");
        }
    }

    #[test]
    fn unsafe_ids_name_no_file() {
        let result = stored_session_candidates(&stored(None, "../x"), FOLDER);
        assert_eq!(result, Err(SessionStoreError::UnsafeId));
        assert!(!is_safe_id(""));
        assert!(!is_safe_id(&"a".repeat(129)));
    }
}
