//! Finds and reads the sidecars of sessions on the disk.

use std::io::{self, BufReader, Read as _};
use std::ops::ControlFlow;

use cap_std::fs::Dir;
use traj_core::capture::BlobDigest;
use traj_core::id::SessionId;
use traj_core::json::lines::Line;
use traj_core::limits::Reading;
use traj_core::location::{
    Lead, SidecarPlaces, SidecarSearch, blobs_beside, find_sidecar, pointer_beside, sidecar_beside,
    sidecar_in_folder,
};
use traj_core::port::{SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore};

use super::writer::{FsSidecarWriter, PointerTarget};
use crate::error::{Context as _, FsError, is_full};
use crate::read_lines::for_each_line;
use crate::safe::directory::open_subfolder;
use crate::safe::open::{Access, open_regular, open_replaceable};
use crate::session::sources::FsSources;

/// The sidecar beside one session file, or sidecars in a separate directory.
#[derive(Debug)]
pub struct FsTrajectoryStore {
    folder: Dir,
    /// The path of `folder`, used only in pointers and messages.
    folder_path: String,
    naming: SidecarNaming,
    pointer: Option<PointerSession>,
}

#[derive(Debug)]
enum SidecarNaming {
    Beside { session_file: String },
    PerSession,
}

/// The session file that a pointer is written beside.
#[derive(Debug)]
struct PointerSession {
    folder: Dir,
    path: String,
    name: String,
}

impl FsTrajectoryStore {
    /// The sidecar beside the session file `session_file` in `folder`. The
    /// pointer states `folder_path` as the path of `folder`.
    ///
    /// # Errors
    /// When the directory's handle cannot be duplicated.
    pub fn beside(folder: Dir, folder_path: &str, session_file: &str) -> Result<Self, FsError> {
        let pointer_folder = folder.try_clone().context("open the directory of", session_file)?;
        let naming = SidecarNaming::Beside { session_file: session_file.to_owned() };
        let store = Self { folder, folder_path: folder_path.to_owned(), naming, pointer: None };
        Ok(store.with_pointer(pointer_folder, folder_path, session_file))
    }

    /// Sidecars in a separate directory, one file for each session.
    #[must_use]
    pub fn in_folder(folder: Dir, folder_path: &str) -> Self {
        let folder_path = folder_path.to_owned();
        Self { folder, folder_path, naming: SidecarNaming::PerSession, pointer: None }
    }

    /// Also writes a pointer beside the session file `session_file` in
    /// `session_folder`, which is the directory at `session_folder_path`.
    #[must_use]
    pub fn with_pointer(
        mut self,
        session_folder: Dir,
        session_folder_path: &str,
        session_file: &str,
    ) -> Self {
        self.pointer = Some(PointerSession {
            folder: session_folder,
            path: file_in(session_folder_path, session_file),
            name: session_file.to_owned(),
        });
        self
    }

    /// The path of a session's sidecar, whether it exists yet or not.
    ///
    /// # Errors
    /// When the directory's handle cannot be duplicated.
    pub fn sidecar_path(&self, session: &SessionId) -> Result<String, FsError> {
        Ok(file_in(&self.folder_path, &self.sidecar_name(session)?))
    }

    /// The name of a session's sidecar: the existing one, or the one that we
    /// would create.
    fn sidecar_name(&self, session: &SessionId) -> Result<String, FsError> {
        let found = self.search(session)?.found;
        Ok(found.map_or_else(|| self.written_name(session), |found| name_here(&found.file)))
    }

    /// The name of the sidecar to read; `None` if another program's file has
    /// that name. The name of an unreachable sidecar is returned too, so that
    /// opening it reports the cause.
    fn readable_name(&self, session: &SessionId) -> Result<Option<String>, FsError> {
        let search = self.search(session)?;
        if let Some(found) = &search.found {
            return Ok(Some(name_here(&found.file)));
        }
        let mut in_its_place = search.refused.iter().filter(|one| one.lead != Lead::SharedName);
        Ok(match in_its_place.next() {
            None => Some(self.written_name(session)),
            Some(refused) if refused.reason.is_out_of_reach() => Some(name_here(&refused.file)),
            Some(_) => None,
        })
    }

    /// Searches our directory as if it were the root.
    fn search(&self, session: &SessionId) -> Result<SidecarSearch, FsError> {
        let folder = self.folder.try_clone().context("open the directory of", session.as_str())?;
        let sources = FsSources::new(HERE).with_root(HERE, folder);
        Ok(match &self.naming {
            SidecarNaming::Beside { session_file } => {
                let session_file = format!("{HERE}{session_file}");
                let places = SidecarPlaces::beside(&session_file).without_pointer();
                find_sidecar(&sources, session, &places)
            }
            SidecarNaming::PerSession => {
                find_sidecar(&sources, session, &SidecarPlaces::in_directory(HERE))
            }
        })
    }

    /// The name under which we create a session's sidecar.
    fn written_name(&self, session: &SessionId) -> String {
        match &self.naming {
            SidecarNaming::Beside { session_file } => sidecar_beside(session_file),
            SidecarNaming::PerSession => sidecar_in_folder(session),
        }
    }
}

/// The path that our directory has during a search.
const HERE: &str = "/";

fn name_here(file: &str) -> String {
    file.strip_prefix(HERE).unwrap_or(file).to_owned()
}

fn file_in(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}

impl TrajectoryStore for FsTrajectoryStore {
    fn open(
        &self,
        session: &SessionId,
        options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError> {
        let name = self.sidecar_name(session)?;
        let clone = |folder: &Dir| folder.try_clone().context("open the directory of", &name);
        let pointer = match &self.pointer {
            Some(place) => Some(PointerTarget {
                folder: clone(&place.folder)?,
                name: pointer_beside(&place.name),
                runtime_file: file_in(&self.folder_path, &name),
                session_file: place.path.clone(),
            }),
            None => None,
        };
        let folder = clone(&self.folder)?;
        let writer = FsSidecarWriter::new(folder, name, session.clone(), options.clone(), pointer)?;
        Ok(Box::new(writer))
    }

    fn visit(
        &self,
        session: &SessionId,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), SidecarError> {
        let Some(name) = self.readable_name(session)? else { return Ok(()) };
        let file = match open_replaceable(&self.folder, &name, Access::Read) {
            Err(error) if error.is_not_found() => return Ok(()),
            opened => opened?,
        };
        let reader = BufReader::with_capacity(64 * 1024, file);
        let longest = Reading::standard().sidecar_line_bytes;
        for_each_line::<io::Error>(reader, longest, |line| match line {
            Line::Whole(line) => Ok(visit(line)),
            // No recorder writes such a long line.
            Line::TooLong { .. } => Ok(ControlFlow::Continue(())),
            Line::Cut(_) => Ok(ControlFlow::Break(())),
        })
        .context("read", &name)
        .map_err(SidecarError::from)
    }

    fn read_blob(
        &self,
        session: &SessionId,
        digest: &BlobDigest,
    ) -> Result<Option<String>, SidecarError> {
        let Some(name) = self.readable_name(session)? else { return Ok(None) };
        let folder_name = blobs_beside(&name);
        let opened = open_subfolder(&self.folder, &folder_name)
            .and_then(|folder| open_regular(&folder, digest.as_str(), Access::Read));
        let mut file = match opened {
            Err(error) if error.is_not_found() => return Ok(None),
            opened => opened?,
        };
        let mut text = String::new();
        file.read_to_string(&mut text).context("read", digest.as_str())?;
        Ok(Some(text))
    }
}

/// A refusal is final; every other failure may be temporary.
impl From<FsError> for SidecarError {
    fn from(error: FsError) -> Self {
        match error {
            FsError::Refused { .. } => Self::Refused { source: error.into() },
            FsError::Io { source: ref cause, .. } if is_full(cause) => {
                Self::NoSpace { source: error.into() }
            }
            FsError::Held { .. } | FsError::Io { .. } => Self::Storage { source: error.into() },
        }
    }
}
