//! Finding the session and its sidecar.

use traj_core::id::SessionId;
use traj_core::location::{
    Pointer, pointer_beside, sidecar_beside, sidecar_candidates_in_folder, sidecar_in_folder,
};
use traj_core::port::{Source, SourceError, Sources};
use traj_core::session_store::{SessionStore, session_file_candidates};

use crate::error::ExportError;
use crate::index;
use crate::request::{Selection, SidecarHints};
use crate::warning::{Code, Warnings};

/// Stores and pointers are small; larger ones are not what they claim to be.
const MAX_STORE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_POINTER_BYTES: u64 = 64 * 1024;

/// An input that was found.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) source: Box<dyn Source>,
}

/// The session that was chosen.
pub(crate) struct Located {
    /// The name of the session file, also when there is none.
    pub(crate) session_file: String,
    pub(crate) session: Option<Found>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) session_key: Option<String>,
}

/// Finds the session file.
pub(crate) fn locate_session(
    sources: &dyn Sources,
    selection: &Selection,
) -> Result<Located, ExportError> {
    match selection {
        Selection::File { session, session_id, session_key } => {
            let found = match sources.open(session) {
                Ok(source) => Some(Found { name: session.clone(), source }),
                // A sidecar without its session can still be exported.
                Err(error) if error.is_not_found() => None,
                Err(error) => return Err(error.into()),
            };
            Ok(Located {
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
) -> Result<Located, ExportError> {
    let text = read_small(&*sources.open(store)?, store, MAX_STORE_BYTES)?;
    let parsed = SessionStore::parse(&text)?;
    let stored = parsed.find(session_key)?;
    let folder = store.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let candidates = session_file_candidates(stored, folder)?;
    let session_id = SessionId::parse(stored.session_id.as_str()).ok();
    let located = |session_file: String, session| Located {
        session_file,
        session,
        session_id: session_id.clone(),
        session_key: Some(session_key.to_owned()),
    };
    for name in &candidates {
        match sources.open(name) {
            Ok(source) => {
                return Ok(located(name.clone(), Some(Found { name: name.clone(), source })));
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(located(candidates.into_iter().next().unwrap_or_default(), None))
}

/// The session's id: as it was given, else as the session states it, else as
/// its sidecar or its pointer does, else as its file is named.
pub(crate) fn session_id(
    sources: &dyn Sources,
    located: &Located,
    hints: &SidecarHints,
) -> Result<SessionId, ExportError> {
    if let Some(id) = &located.session_id {
        return Ok(id.clone());
    }
    let mut stated = match &located.session {
        Some(session) => index::stated_by_session(&*session.source)?,
        None => None,
    };
    if stated.is_none() {
        stated = stated_beside(sources, &located.session_file, hints)?;
    }
    let file = located.session_file.rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    let id = stated.unwrap_or_else(|| stem.to_owned());
    SessionId::parse(id).map_err(|_| ExportError::UnknownSession)
}

/// The session's id as the sidecar states it that would be read: the one the
/// user named, else the pointer's, else the default one. The word of a pointer
/// whose sidecar cannot be opened counts last.
fn stated_beside(
    sources: &dyn Sources,
    session_file: &str,
    hints: &SidecarHints,
) -> Result<Option<String>, ExportError> {
    let stated_by = |name: &str| match sources.open(name) {
        Ok(source) => index::stated_by_runtime(&*source),
        Err(_) => Ok(None),
    };
    if let Some(name) = &hints.runtime_file {
        return Ok(stated_by(name)?);
    }
    let pointer = match pointer_of(sources, session_file) {
        Beside::Pointer(Some(pointer)) => SessionId::parse(pointer.session_id).ok(),
        _ => None,
    };
    if let Some(id) = &pointer {
        let mut unheard = Warnings::default();
        let target = pointer_target(sources, session_file, id, hints, &mut unheard);
        if target.is_some_and(|target| open_pointed(sources, &target, id).is_ok()) {
            return Ok(Some(id.as_str().to_owned()));
        }
    }
    let by_default = stated_by(&sidecar_beside(session_file))?;
    Ok(by_default.or_else(|| pointer.map(|id| id.as_str().to_owned())))
}

/// Finds the sidecar: the one the user named, else the pointer's, else the
/// default one, else the one in the folder that the environment names.
pub(crate) fn locate_runtime(
    sources: &dyn Sources,
    session_file: &str,
    session_id: &SessionId,
    hints: &SidecarHints,
    warnings: &mut Warnings,
) -> Result<Option<Found>, ExportError> {
    if let Some(name) = &hints.runtime_file {
        let source = sources.open(name)?;
        return Ok(Some(Found { name: name.clone(), source }));
    }
    let default = sidecar_beside(session_file);
    let mut candidates = Vec::new();
    if let Some(target) = pointer_target(sources, session_file, session_id, hints, warnings) {
        candidates.push((target, Lead::Pointer));
    }
    candidates.push((default, Lead::OwnName));
    if let Some(folder) = &hints.trajectory_dir {
        let own = sidecar_in_folder(session_id);
        let folder = folder.trim_end_matches('/');
        for name in sidecar_candidates_in_folder(session_id) {
            let lead = if name == own { Lead::OwnName } else { Lead::SharedName };
            candidates.push((format!("{folder}/{name}"), lead));
        }
    }
    for (name, lead) in candidates {
        let opened = match lead {
            Lead::Pointer => open_pointed(sources, &name, session_id),
            Lead::OwnName => sources.open(&name),
            Lead::SharedName => open_shared(sources, &name, session_id),
        };
        match opened {
            Ok(source) => return Ok(Some(Found { name, source })),
            Err(SourceError::NotFound { .. } | SourceError::Outside { .. })
                if lead == Lead::Pointer =>
            {
                warnings.add(Code::PointerIgnored, 0);
            }
            Err(error) if error.is_not_found() => {}
            Err(SourceError::NotRegular { .. } | SourceError::Outside { .. }) => {
                warnings.add(Code::RuntimeRefused, 0);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// What leads to a sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    Pointer,
    /// A name that no other session has.
    OwnName,
    /// The name of other recorders, which several sessions can have.
    SharedName,
}

/// Opens a sidecar under a name that another session may have: it has to show
/// whose it is, or it is not there.
fn open_shared(
    sources: &dyn Sources,
    name: &str,
    session_id: &SessionId,
) -> Result<Box<dyn Source>, SourceError> {
    let source = sources.open(name)?;
    let stated = index::stated_by_runtime(&*source)?;
    if stated.is_some_and(|stated| stated == session_id.as_str()) {
        Ok(source)
    } else {
        Err(SourceError::NotFound { name: name.to_owned() })
    }
}

/// Opens the sidecar that a pointer leads to. One that lies elsewhere has to
/// show that it is this session's: a pointer is only a file beside another.
fn open_pointed(
    sources: &dyn Sources,
    name: &str,
    session_id: &SessionId,
) -> Result<Box<dyn Source>, SourceError> {
    match sources.open(name) {
        Err(SourceError::Outside { .. }) => {}
        opened => return opened,
    }
    let outside = || SourceError::Outside { name: name.to_owned() };
    let source = sources.open_relocated(name).map_err(|error| match error {
        SourceError::NotFound { .. } | SourceError::NotRegular { .. } => error,
        // What cannot be read, there or at all, is not ours.
        _ => outside(),
    })?;
    let stated = index::stated_by_runtime(&*source).map_err(|_| outside())?;
    if stated.is_some_and(|stated| stated == session_id.as_str()) {
        Ok(source)
    } else {
        Err(outside())
    }
}

/// Whether there is a sidecar.
pub(crate) fn has_runtime(
    sources: &dyn Sources,
    located: &Located,
    session_id: &SessionId,
    hints: &SidecarHints,
) -> Result<bool, ExportError> {
    let mut unheard = Warnings::default();
    let found = locate_runtime(sources, &located.session_file, session_id, hints, &mut unheard)?;
    Ok(found.is_some())
}

/// What the pointer beside the session leads to, if it may be believed.
fn pointer_target(
    sources: &dyn Sources,
    session_file: &str,
    session_id: &SessionId,
    hints: &SidecarHints,
    warnings: &mut Warnings,
) -> Option<String> {
    let Beside::Pointer(pointer) = pointer_of(sources, session_file) else { return None };
    let absolute = |path: &str| {
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", hints.current_dir.trim_end_matches('/'))
        }
    };
    let default = absolute(&sidecar_beside(session_file));
    let target = pointer.and_then(|pointer| {
        let target = absolute(&pointer.runtime_file);
        pointer.leads_to(session_id, &target, &default).then_some(pointer.runtime_file)
    });
    if target.is_none() {
        warnings.add(Code::PointerIgnored, 0);
    }
    target
}

/// What lies where the pointer of a session would.
enum Beside {
    Nothing,
    /// A pointer; `None` if it is something else, or cannot be read.
    Pointer(Option<Pointer>),
}

fn pointer_of(sources: &dyn Sources, session_file: &str) -> Beside {
    let name = pointer_beside(session_file);
    match sources.open(&name) {
        Ok(source) => {
            let text = read_small(&*source, &name, MAX_POINTER_BYTES).ok();
            Beside::Pointer(text.and_then(|text| Pointer::parse(text.as_bytes())))
        }
        Err(error) if error.is_not_found() => Beside::Nothing,
        Err(_) => Beside::Pointer(None),
    }
}

fn read_small(source: &dyn Source, name: &str, limit: u64) -> Result<String, SourceError> {
    if source.len() > limit {
        return Err(SourceError::TooLarge { name: name.to_owned() });
    }
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or_default()];
    source.read_exact_at(0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
