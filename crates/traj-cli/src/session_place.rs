//! Where a session and its sidecar lie, and the adapters for them.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::id::SessionId;
use traj_core::json::Json;
use traj_core::location::{Pointer, blobs_beside, pointer_beside, sidecar_search};
use traj_core::settings::Settings;
use traj_fs::{
    Access, FsBlobFolder, FsLineLog, FsSessionRewriter, identity_of, open_folder, open_regular,
};

use crate::command_error::CommandError;
use crate::compose::{Host, root};

/// Pointers are small; more than this is none.
const LONGEST_POINTER: u64 = 64 * 1024;

/// A header is one short line.
const LONGEST_HEADER: u64 = 1024 * 1024;

/// A session file in its folder.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    pub(crate) folder: Dir,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) id: SessionId,
}

/// A sidecar in its folder.
#[derive(Debug)]
pub(crate) struct SidecarPlace {
    pub(crate) folder: Dir,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

impl SessionPlace {
    /// The session in this file, which need not exist.
    pub(crate) fn of(file: &Path, host: &Host) -> Result<Self, CommandError> {
        let path = host.absolute(file);
        let (folder, name) = host.folder_of(&path)?;
        let stem = name.strip_suffix(".jsonl").unwrap_or(&name).to_owned();
        let id = SessionId::parse(header_id(&folder, &name).unwrap_or(stem)).map_err(|error| {
            CommandError::usage("the session has no usable id")
                .because(error)
                .hint("give the file the session's id as its name")
        })?;
        Ok(Self { folder, name, path, id })
    }

    /// Whether there is no such session file.
    pub(crate) fn is_missing(&self) -> bool {
        let found = self.folder.symlink_metadata(&self.name);
        found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// What to say of a session that is missing.
    pub(crate) fn no_session(&self) -> CommandError {
        CommandError::failure(format!("there is no session {}", self.path.display()))
            .hint("run `traj sessions` to see which there are")
    }

    /// The sidecar that exists, if one does.
    pub(crate) fn sidecar(&self, host: &Host) -> Result<Option<SidecarPlace>, CommandError> {
        let settings = Settings::from_host(&host.facts);
        let pointer = self.pointer();
        let places = sidecar_search(
            &self.id,
            &self.path.to_string_lossy(),
            pointer.as_ref(),
            settings.trajectory_dir.as_deref(),
        );
        for place in places {
            let path = PathBuf::from(place);
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let Some(name) = name.to_str() else { continue };
            let Ok(folder) = open_folder(&root()?, parent) else { continue };
            if identity_of(&folder, name).is_ok_and(|found| found.is_some()) {
                return Ok(Some(SidecarPlace { folder, name: name.to_owned(), path }));
            }
        }
        Ok(None)
    }

    /// Rewrites the session.
    pub(crate) fn rewriter(&self) -> Result<FsSessionRewriter, CommandError> {
        let folder = clone(&self.folder)?;
        Ok(FsSessionRewriter::new(folder, self.name.clone(), Host::process_table()))
    }

    /// A log beside the session.
    pub(crate) fn log(&self, name: String) -> Result<FsLineLog, CommandError> {
        Ok(FsLineLog::new(clone(&self.folder)?, name))
    }

    fn pointer(&self) -> Option<Pointer> {
        let name = pointer_beside(&self.name);
        let file = open_regular(&self.folder, &name, Access::Read).ok()?;
        let mut bytes = Vec::new();
        file.take(LONGEST_POINTER).read_to_end(&mut bytes).ok()?;
        Pointer::parse(&bytes)
    }
}

impl SidecarPlace {
    /// Rewrites the sidecar.
    pub(crate) fn rewriter(&self) -> Result<FsSessionRewriter, CommandError> {
        Ok(FsSessionRewriter::of_sidecar(clone(&self.folder)?, self.name.clone()))
    }

    /// Its blobs.
    pub(crate) fn blobs(&self) -> Result<FsBlobFolder, CommandError> {
        Ok(FsBlobFolder::new(clone(&self.folder)?, blobs_beside(&self.name)))
    }
}

fn clone(folder: &Dir) -> Result<Dir, CommandError> {
    folder
        .try_clone()
        .map_err(|error| CommandError::failure("cannot open the folder again").because(error))
}

/// The id that the first row of a session or rollout states.
fn header_id(folder: &Dir, name: &str) -> Option<String> {
    let file = open_regular(folder, name, Access::Read).ok()?;
    let mut line = Vec::new();
    BufReader::new(file).take(LONGEST_HEADER).read_until(b'\n', &mut line).ok()?;
    let row = Json::parse_lossy(&line).ok()?;
    let header = match row.get("type").and_then(Json::as_str)? {
        "session" => &row,
        "session_meta" => row.get("payload")?,
        _ => return None,
    };
    header.get("id").and_then(Json::as_str).filter(|id| !id.is_empty()).map(str::to_owned)
}
