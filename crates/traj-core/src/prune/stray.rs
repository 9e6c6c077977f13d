//! Sidecars in a folder of their own that no pointer leads to any more.

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
    /// The stem of its file in the folder of sessions; `None` when the event
    /// does not say that the session was there.
    pub stem: Option<String>,
}

impl StrayOwner {
    /// Reads the first line of the file `name` in a folder of sidecars. `None`
    /// when it is no sidecar, is not named after the session it states, or
    /// says that the session lies in another folder than `sessions`, an
    /// absolute path: other agents share the folder of sidecars.
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
}

/// Where the run had its session: the event that begins a run says so, and so
/// does the one with the facts about it.
fn session_file(row: &RuntimeRow<'_>) -> Option<(String, String)> {
    let data = row.data()?;
    let file = data.get("sessionFile").or_else(|| data.get("harness")?.get("sessionFile"));
    let (folder, name) = file.and_then(Json::as_str)?.rsplit_once('/')?;
    Some((folder.to_owned(), name.to_owned()))
}
