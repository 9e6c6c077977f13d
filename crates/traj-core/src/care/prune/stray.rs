//! Sidecars in a separate sidecar directory that no pointer names any more.

use std::collections::BTreeSet;

use super::{Proof, has_session};
use crate::event::RuntimeRow;
use crate::id::SessionId;
use crate::json::Json;
use crate::location::sidecar_candidates_in_folder;

/// The session that a sidecar's first event names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrayOwner {
    /// The session's id.
    pub session_id: String,
    /// The stem of its file in the session directory; `None` if the event does not
    /// state a session file.
    pub stem: Option<String>,
}

impl StrayOwner {
    /// Reads the first line of the file `name` in a sidecar directory. `None` if
    /// the file is not a sidecar, is not named after the session it states, or
    /// states a session outside `sessions` (an absolute path), because agents
    /// share the sidecar directory.
    /// sidecar directory.
    #[must_use]
    pub fn of_first_line(line: &[u8], name: &str, sessions: &str) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let row = RuntimeRow::parse(text.trim()).ok()?;
        let session = SessionId::parse(row.session_id()).ok()?;
        if !sidecar_candidates_in_folder(&session).iter().any(|own| own == name) {
            return None;
        }
        let session_id = row.session_id().to_owned();
        let Some((folder, file)) = session_file(&row) else {
            return Some(Self { session_id, stem: None });
        };
        let stem = file.strip_suffix(".jsonl").unwrap_or(&file).to_owned();
        let is_here = folder == sessions.trim_end_matches('/') && !stem.is_empty();
        is_here.then_some(Self { session_id, stem: Some(stem) })
    }

    /// The stem of the session's file: the one the event states, else the session
    /// id.
    #[must_use]
    pub fn session_stem(&self) -> &str {
        self.stem.as_deref().unwrap_or(&self.session_id)
    }

    /// Whether the session is gone: neither its directory nor the store lists it.
    #[must_use]
    pub fn is_gone(&self, names: &[String], listed: &BTreeSet<String>) -> bool {
        let stem = self.session_stem();
        !listed.contains(&self.session_id) && !listed.contains(stem) && !has_session(names, stem)
    }

    /// What `proof`, which is about the session id, proves about this directory's
    /// session. Without a stem it is weakened: the sidecar may belong to another
    /// agent's session that still exists.
    #[must_use]
    pub fn proven(&self, proof: Proof) -> Proof {
        if self.stem.is_some() { proof } else { Proof::FirstEvent }
    }
}

/// The session file that the first line of a sidecar states, if any.
#[must_use]
pub fn stated_session_file(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let row = RuntimeRow::parse(text.trim()).ok()?;
    let (folder, name) = session_file(&row)?;
    Some(format!("{folder}/{name}"))
}

/// The run's session file. The event that starts a run states it, and so does the
/// metadata event.
fn session_file(row: &RuntimeRow<'_>) -> Option<(String, String)> {
    let data = row.data()?;
    let file = data.get("sessionFile").or_else(|| data.get("harness")?.get("sessionFile"));
    let (folder, name) = file.and_then(Json::as_str)?.rsplit_once('/')?;
    Some((folder.to_owned(), name.to_owned()))
}
