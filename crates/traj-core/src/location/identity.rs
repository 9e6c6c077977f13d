//! The id of a session: what its files state, in the order of their weight.

use super::Lead;
use super::find::{SidecarPlaces, find_sidecar, read_pointer};
use super::head::{SidecarHead, read_session_id};
use super::names::{session_stem, sidecar_beside};
use crate::id::SessionId;
use crate::port::{Source, SourceError, Sources};

/// What states the id of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatedBy {
    /// The header of the transcript.
    Transcript,
    /// The sidecar beside the transcript, or the one the user named.
    Sidecar,
    /// The pointer beside the transcript.
    Pointer,
    /// Only the name of the transcript.
    FileName,
}

/// The id of a session, and what states it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionIdentity {
    /// The id.
    pub id: SessionId,
    /// What states it.
    pub stated_by: StatedBy,
}

impl SessionIdentity {
    /// Whether a sidecar that `lead` led to may be changed on the strength of
    /// this id. A pointer cannot vouch for itself: where only the pointer says
    /// which session this is, the file it leads to proves nothing.
    #[must_use]
    pub fn vouches_for(&self, lead: Lead) -> bool {
        self.stated_by != StatedBy::Pointer || lead == Lead::Beside
    }
}

/// The id of the session in a file, which need not exist: as its transcript
/// states it, else as its sidecar or its pointer does, else as the file is
/// named. `None` when none of these can be an id.
///
/// # Errors
/// When the transcript, or the sidecar beside it, is there and cannot be read.
pub fn identify(
    sources: &dyn Sources,
    transcript: Option<&dyn Source>,
    places: &SidecarPlaces<'_>,
) -> Result<Option<SessionIdentity>, SourceError> {
    let session_file = places.session_file.unwrap_or_default();
    let parsed = |id: String, stated_by| {
        let id = SessionId::parse(id).ok()?;
        Some(SessionIdentity { id, stated_by })
    };
    if let Some(id) = transcript.map(read_session_id).transpose()?.flatten() {
        return Ok(parsed(id, StatedBy::Transcript));
    }
    let (stated, stated_by) = stated_beside(sources, session_file, places)?;
    let stem = session_stem(session_file).to_owned();
    Ok(match stated {
        Some(id) => parsed(id, stated_by),
        None => parsed(stem, StatedBy::FileName),
    })
}

/// The id that a transcript states in its header.
///
/// # Errors
/// When it cannot be read.
pub fn stated_by_transcript(transcript: &dyn Source) -> Result<Option<String>, SourceError> {
    read_session_id(transcript)
}

/// The id as the sidecar states it that would be found: the one the user
/// named, else the pointer's, else the one beside the session. The word of a
/// pointer whose sidecar does not count comes last.
fn stated_beside(
    sources: &dyn Sources,
    session_file: &str,
    places: &SidecarPlaces<'_>,
) -> Result<(Option<String>, StatedBy), SourceError> {
    let stated_by = |name: &str| match sources.open(name) {
        Ok(source) => Ok(match SidecarHead::read(&*source)? {
            SidecarHead::EventOf(id) if !id.is_empty() => Some(id),
            _ => None,
        }),
        Err(_) => Ok(None),
    };
    if let Some(named) = places.named {
        return Ok((stated_by(named)?, StatedBy::Sidecar));
    }
    let pointer = read_pointer(sources, session_file).ok().flatten();
    let pointer = pointer.and_then(|pointer| SessionId::parse(pointer.session_id).ok());
    let only_pointer = SidecarPlaces { trajectory_dir: None, ..*places };
    if let Some(id) = &pointer {
        let found = find_sidecar(sources, id, &only_pointer).found;
        if found.is_some_and(|found| found.lead == Lead::Pointer) {
            return Ok((Some(id.as_str().to_owned()), StatedBy::Pointer));
        }
    }
    let beside = stated_by(&sidecar_beside(session_file))?;
    if beside.is_some() {
        return Ok((beside, StatedBy::Sidecar));
    }
    Ok((pointer.map(|id| id.as_str().to_owned()), StatedBy::Pointer))
}
