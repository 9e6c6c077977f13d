//! Finds a session's sidecar, and proves that it belongs to the session.

use super::head::SidecarHead;
use super::names::{
    pointer_beside, sidecar_beside, sidecar_candidates_in_folder, sidecar_in_folder,
};
use super::path::{join, normalise};
use super::pointer::Pointer;
use crate::id::SessionId;
use crate::limits::Reading;
use crate::port::{Source, SourceError, Sources};

/// Where the sidecar of a session may be.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SidecarPlaces<'a> {
    /// The session's transcript, which need not exist; `None` for a store that
    /// is only a directory of sidecars.
    pub session_file: Option<&'a str>,
    /// The sidecar itself, if the user named it.
    pub named: Option<&'a str>,
    /// The directory of sidecars from the settings.
    pub trajectory_dir: Option<&'a str>,
    /// The base directory of a relative `session_file`.
    pub current_dir: &'a str,
    /// Whether to follow the pointer next to the session file.
    pub follows_pointer: bool,
}

impl<'a> SidecarPlaces<'a> {
    /// Next to a session file, and where the pointer next to it leads.
    #[must_use]
    pub const fn beside(session_file: &'a str) -> Self {
        Self {
            session_file: Some(session_file),
            named: None,
            trajectory_dir: None,
            current_dir: "/",
            follows_pointer: true,
        }
    }

    /// In a directory of sidecars only.
    #[must_use]
    pub const fn in_directory(directory: &'a str) -> Self {
        Self {
            session_file: None,
            named: None,
            trajectory_dir: Some(directory),
            current_dir: "/",
            follows_pointer: false,
        }
    }

    /// The same without the pointer: where a recorder with these settings
    /// writes.
    #[must_use]
    pub const fn without_pointer(mut self) -> Self {
        self.follows_pointer = false;
        self
    }

    /// Also in the directory of sidecars, if the settings name one.
    #[must_use]
    pub const fn with_directory(mut self, directory: Option<&'a str>) -> Self {
        self.trajectory_dir = directory;
        self
    }

    /// Only the sidecar that the user named, if any.
    #[must_use]
    pub const fn with_named(mut self, sidecar: Option<&'a str>) -> Self {
        self.named = sidecar;
        self
    }

    /// Resolves a relative session file in this directory.
    #[must_use]
    pub const fn starting_in(mut self, current_dir: &'a str) -> Self {
        self.current_dir = current_dir;
        self
    }

    /// The absolute form of a path.
    fn absolute(&self, path: &str) -> String {
        let path = join(self.current_dir, path);
        normalise(&path).unwrap_or(path)
    }
}

/// How a file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lead {
    /// The user named it.
    Named,
    /// The pointer next to the session file names it.
    Pointer,
    /// It is next to the session file and has the session's name.
    Beside,
    /// It is in the directory of sidecars and has the session's own name.
    OwnName,
    /// It is in that directory under a name that several sessions can share.
    SharedName,
}

impl Lead {
    /// Whether no other session can have a file with this name, so that an
    /// empty or torn file also counts.
    const fn is_exclusive(self) -> bool {
        matches!(self, Self::Beside | Self::OwnName)
    }
}

/// Why a sidecar belongs to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ownership {
    /// Its first readable event belongs to this session.
    FirstEvent,
    /// Only this session can use the name, and no event contradicts it: the
    /// file is empty or torn, or redaction hid the id in it.
    Name,
    /// The user named it; its first event does not confirm it.
    Named,
}

/// The session's sidecar.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundSidecar {
    /// Its path; relative if it was found through a relative session file.
    pub file: String,
    /// How it was found.
    pub lead: Lead,
    /// Why it belongs to the session.
    pub ownership: Ownership,
    /// The file, opened.
    pub source: Box<dyn Source>,
}

impl FoundSidecar {
    /// Whether the first event proves that it belongs to the session. Code that
    /// rewrites or removes the file must require this, unless the file is
    /// empty.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.ownership == Ownership::FirstEvent
    }
}

/// Why a candidate is not the session's sidecar.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The pointer file is not a readable pointer.
    NotAPointer,
    /// The pointer, or the file's first event, belongs to another session.
    OtherSession,
    /// The pointer's target has no name that a sidecar of the session can have,
    /// or its path leaves the root.
    WrongName,
    /// The pointer names the transcript itself.
    Transcript,
    /// The pointer's target does not exist.
    Missing,
    /// The file is not a trajectory.
    NotASidecar,
    /// The file must prove that it belongs to the session, but has no readable
    /// event.
    Unproven,
    /// The file is a link, or not a regular file.
    NotRegular,
    /// The file is outside the readable directories.
    Outside,
    /// The file cannot be read.
    Unreadable(SourceError),
}

impl Refusal {
    /// Whether this may still be the session's sidecar: it is inaccessible, not
    /// another session's.
    #[must_use]
    pub const fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::NotRegular | Self::Outside | Self::Unreadable(_))
    }

    /// The reason as a message.
    #[must_use]
    pub const fn meaning(&self) -> &'static str {
        match self {
            Self::NotAPointer => "it is not a valid pointer",
            Self::OtherSession => "it belongs to another session",
            Self::WrongName => "the pointer leads to a file with an unexpected name",
            Self::Transcript => "the pointer leads to the transcript itself",
            Self::Missing => "the pointer leads to a file that does not exist",
            Self::NotASidecar => "it is not a trajectory",
            Self::Unproven => "no event in it proves that it belongs to the session",
            Self::NotRegular => "it is a link or not a regular file",
            Self::Outside => "it is outside the readable directories",
            Self::Unreadable(_) => "it cannot be read",
        }
    }
}

/// A candidate that was refused.
#[derive(Debug)]
#[non_exhaustive]
pub struct RefusedSidecar {
    /// The file; the pointer itself if the pointer is at fault.
    pub file: String,
    /// How it was found.
    pub lead: Lead,
    /// Why it was refused.
    pub reason: Refusal,
}

/// The result of a search, with the refused candidates.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SidecarSearch {
    /// The session's sidecar, if it has one.
    pub found: Option<FoundSidecar>,
    /// The candidates that were refused, in order.
    pub refused: Vec<RefusedSidecar>,
}

/// Finds the sidecar of a session.
///
/// Tries these candidates in order: the target of the pointer next to the
/// session file, the file next to the session file, the session's own name in
/// the directory of sidecars, and the name that other recorders use there. A
/// file counts if its first readable event belongs to this session. An empty or
/// torn file also counts if no other session can have its name. If the user
/// named a file, it counts whatever it contains, and no other file is tried.
///
/// ```
/// use traj_core::id::SessionId;
/// use traj_core::location::{Lead, SidecarPlaces, find_sidecar};
/// use traj_core::memory::MemorySources;
///
/// let sources = MemorySources::new();
/// let event = |session: &str| format!(r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"prompt","ts":"2026-06-01T10:00:00Z","seq":1,"sessionId":"{session}"}}"#);
/// sources.put("/sidecars/a_b.jsonl", event("a_b"));
///
/// let places = SidecarPlaces::beside("/sessions/x.jsonl").with_directory(Some("/sidecars"));
/// let session = SessionId::parse("a/b")?;
/// // The name fits both sessions, the first event only one.
/// assert!(find_sidecar(&sources, &session, &places).found.is_none());
/// let session = SessionId::parse("a_b")?;
/// let found = find_sidecar(&sources, &session, &places).found;
/// assert_eq!(found.map(|found| found.lead), Some(Lead::OwnName));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn find_sidecar(
    sources: &dyn Sources,
    session: &SessionId,
    places: &SidecarPlaces<'_>,
) -> SidecarSearch {
    let mut search = SidecarSearch::default();
    let mut seen: Vec<String> = Vec::new();
    for (file, lead) in candidates(sources, session, places, &mut search.refused) {
        let absolute = places.absolute(&file);
        if seen.contains(&absolute) {
            continue;
        }
        seen.push(absolute);
        match open(sources, &file, lead, session) {
            Ok((source, ownership)) => {
                search.found = Some(FoundSidecar { file, lead, ownership, source });
                break;
            }
            // Only a pointer implies that the file should exist.
            Err(Refusal::Missing) if lead != Lead::Pointer => {}
            Err(reason) => search.refused.push(RefusedSidecar { file, lead, reason }),
        }
    }
    search
}

/// The candidates, in order.
fn candidates(
    sources: &dyn Sources,
    session: &SessionId,
    places: &SidecarPlaces<'_>,
    refused: &mut Vec<RefusedSidecar>,
) -> Vec<(String, Lead)> {
    if let Some(named) = places.named {
        return vec![(named.to_owned(), Lead::Named)];
    }
    let mut files = Vec::new();
    if let Some(session_file) = places.session_file {
        match pointed(sources, session, session_file, places) {
            Ok(None) => {}
            Ok(Some(target)) => files.push((target, Lead::Pointer)),
            Err(reason) => {
                let file = pointer_beside(session_file);
                refused.push(RefusedSidecar { file, lead: Lead::Pointer, reason });
            }
        }
        files.push((sidecar_beside(session_file), Lead::Beside));
    }
    if let Some(directory) = places.trajectory_dir {
        let own = sidecar_in_folder(session);
        for name in sidecar_candidates_in_folder(session) {
            let lead = if name == own { Lead::OwnName } else { Lead::SharedName };
            files.push((join(directory, &name), lead));
        }
    }
    files
}

/// The target of the pointer next to a session file, unless it is the file next
/// to the session file anyway.
fn pointed(
    sources: &dyn Sources,
    session: &SessionId,
    session_file: &str,
    places: &SidecarPlaces<'_>,
) -> Result<Option<String>, Refusal> {
    if !places.follows_pointer {
        return Ok(None);
    }
    let Some(pointer) = read_pointer(sources, session_file)? else { return Ok(None) };
    if pointer.session_id != session.as_str() {
        return Err(Refusal::OtherSession);
    }
    let target = pointer.target(session_file).ok_or(Refusal::WrongName)?;
    let (absolute, transcript) = (places.absolute(&target), places.absolute(session_file));
    if absolute == transcript {
        return Err(Refusal::Transcript);
    }
    if !Pointer::has_fitting_name(session, &absolute, &transcript) {
        return Err(Refusal::WrongName);
    }
    Ok((absolute != sidecar_beside(&transcript)).then_some(target))
}

/// Reads the pointer next to a session file; `None` if there is none.
pub(super) fn read_pointer(
    sources: &dyn Sources,
    session_file: &str,
) -> Result<Option<Pointer>, Refusal> {
    let source = match sources.open(&pointer_beside(session_file)) {
        Err(error) if error.is_not_found() => return Ok(None),
        opened => opened.map_err(|_| Refusal::NotAPointer)?,
    };
    if source.len() > Reading::standard().pointer_bytes as u64 {
        return Err(Refusal::NotAPointer);
    }
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or_default()];
    source.read_exact_at(0, &mut bytes).map_err(|_| Refusal::NotAPointer)?;
    Pointer::parse(&bytes).map(Some).ok_or(Refusal::NotAPointer)
}

/// Opens a candidate and checks which session it belongs to.
fn open(
    sources: &dyn Sources,
    file: &str,
    lead: Lead,
    session: &SessionId,
) -> Result<(Box<dyn Source>, Ownership), Refusal> {
    let mut is_elsewhere = false;
    let opened = match sources.open(file) {
        Err(SourceError::Outside { .. }) if lead == Lead::Pointer => {
            is_elsewhere = true;
            sources.open_relocated(file)
        }
        opened => opened,
    };
    // An unreadable file outside the usual directories counts as outside;
    // elsewhere it is an error.
    let refusal = |error| match error {
        SourceError::NotFound { .. } => Refusal::Missing,
        SourceError::NotRegular { .. } => Refusal::NotRegular,
        SourceError::Outside { .. } => Refusal::Outside,
        _ if is_elsewhere => Refusal::Outside,
        error => Refusal::Unreadable(error),
    };
    let source = match opened {
        Err(error) if lead == Lead::Named => return Err(Refusal::Unreadable(error)),
        opened => opened.map_err(refusal)?,
    };
    let head = match SidecarHead::read(&*source) {
        // The caller reads the file itself and reports the error.
        Err(_) if lead == Lead::Named => SidecarHead::Blank,
        read => read.map_err(refusal)?,
    };
    let ownership = match &head {
        SidecarHead::EventOf(id) if id == session.as_str() => Ownership::FirstEvent,
        _ if lead == Lead::Named => Ownership::Named,
        head if head.is_of_another(session.as_str()) => return Err(Refusal::OtherSession),
        SidecarHead::Foreign => return Err(Refusal::NotASidecar),
        _ if lead.is_exclusive() => Ownership::Name,
        _ => return Err(Refusal::Unproven),
    };
    Ok((source, ownership))
}
