//! Where the sidecars of sessions lie on the disk.

use std::io::{self, BufRead, BufReader, Read as _};
use std::ops::ControlFlow;

use cap_std::fs::Dir;
use traj_core::capture::BlobDigest;
use traj_core::id::SessionId;
use traj_core::location::{
    blobs_beside, pointer_beside, sidecar_beside, sidecar_candidates_in_folder, sidecar_in_folder,
};
use traj_core::port::{SidecarError, SidecarOptions, SidecarWriter, TrajectoryStore};

use crate::error::{Context as _, FsError};
use crate::folder::open_subfolder;
use crate::open::{Access, identity_of, open_regular, open_replaceable};
use crate::sidecar::{FsSidecarWriter, LONGEST_LINE_BYTES, PointerPlace, is_sidecar_of};

/// Sidecars beside one session file, or all in a folder of their own.
#[derive(Debug)]
pub struct FsTrajectoryStore {
    folder: Dir,
    /// The path `folder` was opened by; written into pointers, nothing else.
    folder_path: String,
    naming: Naming,
    pointer: Option<(Dir, String)>,
}

#[derive(Debug)]
enum Naming {
    Beside { session_file: String },
    PerSession,
}

impl FsTrajectoryStore {
    /// The sidecar beside the session file called `session_file` in `folder`.
    /// `folder_path` is what the pointer says about where that is.
    ///
    /// # Errors
    /// When the folder's handle cannot be duplicated.
    pub fn beside(folder: Dir, folder_path: &str, session_file: &str) -> Result<Self, FsError> {
        let pointer_folder = folder.try_clone().context("open the folder of", session_file)?;
        Ok(Self {
            folder,
            folder_path: folder_path.to_owned(),
            naming: Naming::Beside { session_file: session_file.to_owned() },
            pointer: Some((pointer_folder, pointer_beside(session_file))),
        })
    }

    /// Sidecars in a folder of their own, one file for each session.
    #[must_use]
    pub fn in_folder(folder: Dir, folder_path: &str) -> Self {
        let folder_path = folder_path.to_owned();
        Self { folder, folder_path, naming: Naming::PerSession, pointer: None }
    }

    /// Also writes a pointer beside the session file in `session_folder`.
    #[must_use]
    pub fn with_pointer(mut self, session_folder: Dir, session_file: &str) -> Self {
        self.pointer = Some((session_folder, pointer_beside(session_file)));
        self
    }

    /// The name of a session's sidecar: ours, or, when only that exists, the
    /// name other recorders use. Several sessions can share such a name, so the
    /// file must say that it is this one's.
    fn sidecar_name(&self, session: &SessionId) -> Result<String, FsError> {
        let Naming::PerSession = &self.naming else { return Ok(self.written_name(session)) };
        let mut candidates = sidecar_candidates_in_folder(session).into_iter();
        let ours = candidates.next().unwrap_or_default();
        if identity_of(&self.folder, &ours)?.is_some() {
            return Ok(ours);
        }
        for name in candidates {
            let file = match open_replaceable(&self.folder, &name, Access::Read) {
                Err(error) if error.is_not_found() => continue,
                opened => opened?,
            };
            if is_sidecar_of(&file, &[session.as_str()]).context("read", &name)? {
                return Ok(name);
            }
        }
        Ok(ours)
    }

    /// The name under which a session's sidecar is written.
    fn written_name(&self, session: &SessionId) -> String {
        match &self.naming {
            Naming::Beside { session_file } => sidecar_beside(session_file),
            Naming::PerSession => sidecar_in_folder(session),
        }
    }
}

impl TrajectoryStore for FsTrajectoryStore {
    fn open(
        &self,
        session: &SessionId,
        options: &SidecarOptions,
    ) -> Result<Box<dyn SidecarWriter>, SidecarError> {
        let name = self.written_name(session);
        let clone = |folder: &Dir| folder.try_clone().context("open the folder of", &name);
        let pointer = match &self.pointer {
            Some((folder, pointer_name)) => Some(PointerPlace {
                folder: clone(folder)?,
                name: pointer_name.clone(),
                runtime_file: format!("{}/{name}", self.folder_path.trim_end_matches('/')),
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
        let name = self.sidecar_name(session)?;
        let file = match open_replaceable(&self.folder, &name, Access::Read) {
            Err(error) if error.is_not_found() => return Ok(()),
            opened => opened?,
        };
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let is_kept = read_line(&mut reader, &mut line).context("read", &name)?;
            let Some(complete) = line.strip_suffix(b"\n") else { return Ok(()) };
            if is_kept && visit(complete).is_break() {
                return Ok(());
            }
        }
    }

    fn read_blob(
        &self,
        session: &SessionId,
        digest: &BlobDigest,
    ) -> Result<Option<String>, SidecarError> {
        let folder_name = blobs_beside(&self.sidecar_name(session)?);
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

/// Reads up to a line end or the end. Of a line too long to be a recorder's
/// only the end is kept, and the answer is no.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut is_whole = true;
    loop {
        let limit = LONGEST_LINE_BYTES as u64;
        let count = reader.by_ref().take(limit).read_until(b'\n', line)?;
        if count < LONGEST_LINE_BYTES || line.ends_with(b"\n") {
            return Ok(is_whole);
        }
        is_whole = false;
        line.clear();
    }
}

/// What is unsafe stays unsafe; everything else may work again later.
impl From<FsError> for SidecarError {
    fn from(error: FsError) -> Self {
        match error {
            FsError::Refused { .. } => Self::Refused { source: error.into() },
            FsError::Held { .. } | FsError::Io { .. } => Self::Storage { source: error.into() },
        }
    }
}
