//! Sidecars in a directory of their own that no pointer leads to any more.

use std::collections::BTreeSet;

use super::{Proof, has_session};
use crate::event::RuntimeRow;
use crate::id::SessionId;
use crate::json::Json;
use crate::location::sidecar_candidates_in_folder;

/// Whose a sidecar is, by its own first event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrayOwner {
    /// The session's id.
    pub session_id: String,
    /// The stem of its file in the directory of sessions; `None` when the event
    /// does not say that the session was there.
    pub stem: Option<String>,
}

impl StrayOwner {
    /// Reads the first line of the file `name` in a directory of sidecars. `None`
    /// when it is not a sidecar, is not named after the session it states, or
    /// states that the session is in another directory than `sessions`, an
    /// absolute path: other agents share the directory of sidecars.
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

    /// The stem of the session's file: as the event states it, else its id.
    #[must_use]
    pub fn session_stem(&self) -> &str {
        self.stem.as_deref().unwrap_or(&self.session_id)
    }

    /// Whether the session is gone: neither among the names of its directory nor
    /// among the ids and stems that the store lists.
    #[must_use]
    pub fn is_gone(&self, names: &[String], listed: &BTreeSet<String>) -> bool {
        let stem = self.session_stem();
        !listed.contains(&self.session_id) && !listed.contains(stem) && !has_session(names, stem)
    }

    /// What is proven of a session of this directory by `proof`, which was found
    /// about the session's id: without a stem it may be of another agent's
    /// session, which is there.
    #[must_use]
    pub fn proven(&self, proof: Proof) -> Proof {
        if self.stem.is_some() { proof } else { Proof::FirstEvent }
    }
}

/// The session file that the first line of a sidecar states, if it is an event
/// that does.
#[must_use]
pub fn stated_session_file(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let row = RuntimeRow::parse(text.trim()).ok()?;
    let (folder, name) = session_file(&row)?;
    Some(format!("{folder}/{name}"))
}

/// Where the run had its session: the event that begins a run says so, and so
/// does the one with the facts about it.
fn session_file(row: &RuntimeRow<'_>) -> Option<(String, String)> {
    let data = row.data()?;
    let file = data.get("sessionFile").or_else(|| data.get("harness")?.get("sessionFile"));
    let (folder, name) = file.and_then(Json::as_str)?.rsplit_once('/')?;
    Some((folder.to_owned(), name.to_owned()))
}
