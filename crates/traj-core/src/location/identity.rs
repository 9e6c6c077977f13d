//! The id of a session, from the most reliable of its files.

use super::Lead;
use super::find::{SidecarPlaces, find_sidecar, read_pointer};
use super::head::{SidecarHead, read_session_id};
use super::names::{session_stem, sidecar_beside};
use crate::id::SessionId;
use crate::port::{Source, SourceError, Sources};

/// Where the id of a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatedBy {
    /// The header of the transcript.
    Transcript,
    /// The sidecar next to the transcript, or the one that the user named.
    Sidecar,
    /// The pointer next to the transcript.
    Pointer,
    /// Only the file name of the transcript.
    FileName,
}

/// The id of a session, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionIdentity {
    /// The id.
    pub id: SessionId,
    /// Where the id comes from.
    pub stated_by: StatedBy,
}

impl SessionIdentity {
    /// Whether this id is enough to change a sidecar found through `lead`. A
    /// pointer cannot vouch for itself: if only the pointer states the id, the
    /// file that it names proves nothing.
    #[must_use]
    pub fn vouches_for(&self, lead: Lead) -> bool {
        self.stated_by != StatedBy::Pointer || lead == Lead::Beside
    }
}

/// The id of the session in a file, which need not exist: from its transcript,
/// else from its sidecar or pointer, else from the file name. `None` if that is
/// not a valid id.
///
/// # Errors
/// When the transcript or the sidecar next to it exists but cannot be read.
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

/// The id in a transcript's header.
///
/// # Errors
/// When it cannot be read.
pub fn stated_by_transcript(transcript: &dyn Source) -> Result<Option<String>, SourceError> {
    read_session_id(transcript)
}

/// The id from the sidecar that the user named, else from a pointer with a
/// valid sidecar, else from the sidecar next to the session file, else from a
/// pointer whose sidecar is not valid.
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
