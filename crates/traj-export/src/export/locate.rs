//! Finds the session file and its sidecar.

use traj_core::care::session_store::{SessionStore, stored_session_candidates};
use traj_core::id::SessionId;
use traj_core::limits::Reading;
use traj_core::location::{Lead, Refusal, RefusedSidecar, SidecarPlaces, find_sidecar, identify};
use traj_core::port::{Source, SourceError, Sources};

use super::{ExportRequest, Selection, SidecarHints};
use crate::error::ExportError;
use crate::warning::{Code, Warnings};

/// A session store is small; a larger file is not one.
const MAX_STORE_BYTES: u64 = Reading::standard().store_bytes as u64;

/// An input that was found.
pub(crate) struct FoundSource {
    pub(crate) name: String,
    pub(crate) source: Box<dyn Source>,
}

impl FoundSource {
    pub(crate) fn len(&self) -> u64 {
        self.source.len()
    }
}

/// The inputs of an export. At least one of the two files exists.
pub(super) struct ExportInputs {
    /// The name of the session file, even if it is missing.
    pub(super) session_file: String,
    pub(super) session: Option<FoundSource>,
    /// The sidecar.
    pub(super) runtime: Option<FoundSource>,
    pub(super) session_id: SessionId,
    pub(super) session_key: Option<String>,
}

/// Finds the session file and its sidecar. A refused sidecar is a warning.
pub(super) fn locate_inputs(
    sources: &dyn Sources,
    request: &ExportRequest,
    warnings: &mut Warnings,
) -> Result<ExportInputs, ExportError> {
    let located = locate_session(sources, &request.selection)?;
    let session_id = session_id(sources, &located, &request.sidecar)?;
    let LocatedSession { session_file, session, session_key, .. } = located;
    let runtime = locate_runtime(sources, &session_file, &session_id, &request.sidecar, warnings)?;
    if session.is_none() && runtime.is_none() {
        return Err(SourceError::NotFound { name: session_file }.into());
    }
    Ok(ExportInputs { session_file, session, runtime, session_id, session_key })
}

/// The selected session.
struct LocatedSession {
    /// The name of the session file, even if it is missing.
    session_file: String,
    session: Option<FoundSource>,
    session_id: Option<SessionId>,
    session_key: Option<String>,
}

/// Finds the session file.
fn locate_session(
    sources: &dyn Sources,
    selection: &Selection,
) -> Result<LocatedSession, ExportError> {
    match selection {
        Selection::File { session, session_id, session_key } => {
            let found = match sources.open(session) {
                Ok(source) => Some(FoundSource { name: session.clone(), source }),
                // A sidecar without its session can still be exported.
                Err(error) if error.is_not_found() => None,
                Err(error) => return Err(error.into()),
            };
            Ok(LocatedSession {
                session_file: session.clone(),
                session: found,
                session_id: session_id.clone(),
                session_key: session_key.clone(),
            })
        }
        Selection::Key { session_key, store } => locate_by_key(sources, session_key, store),
    }
}

fn locate_by_key(
    sources: &dyn Sources,
    session_key: &str,
    store: &str,
) -> Result<LocatedSession, ExportError> {
    let text = read_small(&*sources.open(store)?, store, MAX_STORE_BYTES)?;
    let parsed = SessionStore::parse(&text)?;
    let stored = parsed.find(session_key)?;
    let folder = store.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let candidates = stored_session_candidates(stored, folder)?;
    let session_id = SessionId::parse(stored.session_id.as_str()).ok();
    let located = |session_file: String, session| LocatedSession {
        session_file,
        session,
        session_id: session_id.clone(),
        session_key: Some(session_key.to_owned()),
    };
    for name in &candidates {
        match sources.open(name) {
            Ok(source) => {
                return Ok(located(name.clone(), Some(FoundSource { name: name.clone(), source })));
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(located(candidates.into_iter().next().unwrap_or_default(), None))
}

/// The session's id: the given one, or the one that its files state.
fn session_id(
    sources: &dyn Sources,
    located: &LocatedSession,
    hints: &SidecarHints,
) -> Result<SessionId, ExportError> {
    if let Some(id) = &located.session_id {
        return Ok(id.clone());
    }
    let transcript = located.session.as_ref().map(|found| &*found.source);
    let identity = identify(sources, transcript, &places(&located.session_file, hints))?;
    identity.map(|identity| identity.id).ok_or(ExportError::UnknownSession)
}

/// Finds the sidecar. A refused candidate is a warning.
fn locate_runtime(
    sources: &dyn Sources,
    session_file: &str,
    session_id: &SessionId,
    hints: &SidecarHints,
    warnings: &mut Warnings,
) -> Result<Option<FoundSource>, ExportError> {
    let search = find_sidecar(sources, session_id, &places(session_file, hints));
    for RefusedSidecar { lead, reason, .. } in search.refused {
        match (lead, reason) {
            (_, Refusal::Unreadable(error)) => return Err(error.into()),
            (_, Refusal::NotRegular) => warnings.add(Code::RuntimeRefused, 0),
            (Lead::Pointer, _) => warnings.add(Code::PointerIgnored, 0),
            // The name fits other sessions too, so the file was not expected to match.
            (Lead::SharedName, _) => {}
            (_, Refusal::OtherSession) => warnings.add(Code::RuntimeOfOthers, 0),
            _ => warnings.add(Code::RuntimeRefused, 0),
        }
    }
    Ok(search.found.map(|found| FoundSource { name: found.file, source: found.source }))
}

fn places<'a>(session_file: &'a str, hints: &'a SidecarHints) -> SidecarPlaces<'a> {
    SidecarPlaces::beside(session_file)
        .with_directory(hints.trajectory_dir.as_deref())
        .with_named(hints.runtime_file.as_deref())
        .starting_in(&hints.current_dir)
}

fn read_small(source: &dyn Source, name: &str, limit: u64) -> Result<String, SourceError> {
    if source.len() > limit {
        return Err(SourceError::TooLarge { name: name.to_owned() });
    }
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or_default()];
    source.read_exact_at(0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
