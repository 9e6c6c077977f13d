//! A session and its sidecar, and the adapters for them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use traj_core::gather::SessionAddress;
use traj_core::id::SessionId;
use traj_core::location::{
    RefusedSidecar, SessionIdentity, SidecarPlaces, SidecarSearch, blobs_beside, find_sidecar,
    identify, sidecar_beside, sidecar_in_folder,
};
use traj_core::port::Sources as _;
use traj_core::settings::Settings;
use traj_fs::{FsBlobFolder, FsLineLog, FsSessionRewriter, FsSources};

use super::{ChosenSession, with_sub_agents};
use crate::command_error::CommandError;
use crate::compose::Host;
use crate::output::CommandOutput;

/// A session file in its open directory.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) folder: Dir,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) id: SessionId,
    /// The sidecar, if the user named that instead.
    named_sidecar: Option<PathBuf>,
    identity: SessionIdentity,
}

/// A sidecar in its open directory.
#[derive(Debug)]
pub(crate) struct Sidecar {
    pub(crate) folder: Dir,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// The result of a search for the sidecar, and the files that it rejected.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) found: Option<Sidecar>,
    /// Where the sidecar would appear if there is none yet; `None` if something
    /// else is there.
    pub(crate) awaited: Option<Sidecar>,
    pub(crate) refused: Vec<RefusedSidecar>,
}

impl Session {
    /// The session in this file. The file need not exist.
    pub(crate) fn at(file: &Path, host: &Host) -> Result<Self, CommandError> {
        Self::open(&ChosenSession::at(host.absolute(file), None), host)
    }

    /// Opens the chosen session. Its directory must exist.
    pub(super) fn open(chosen: &ChosenSession, host: &Host) -> Result<Self, CommandError> {
        let path = chosen.file.clone();
        let (folder, name) = host.folder_of(&path)?;
        let sources = sources(&folder, &path, chosen.sidecar.as_deref(), host)?;
        let text = path.to_str().ok_or_else(|| CommandError::not_utf8(&path))?;
        let transcript = sources.open(text).ok();
        let settings = Settings::from_host(&host.facts);
        let named = chosen.sidecar.as_deref().map(Path::to_string_lossy);
        let places = SidecarPlaces::beside(text)
            .with_directory(settings.trajectory_dir.as_deref())
            .with_named(named.as_deref());
        let unreadable = |error| {
            let message = format!("cannot read the session {}", path.display());
            CommandError::failure(message).because(error)
        };
        let identity = identify(&sources, transcript.as_deref(), &places).map_err(unreadable)?;
        let identity = identity.ok_or_else(unusable_id)?;
        let id = identity.id.clone();
        let named_sidecar = chosen.sidecar.clone();
        Ok(Self { folder, name, path, id, named_sidecar, identity })
    }

    /// Whether the session file does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        let is_missing = |name: &str| {
            let found = self.folder.symlink_metadata(name);
            found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        // A session in a database is there if the database is.
        is_missing(&self.name)
            && SessionAddress::parse(&self.name).is_none_or(|address| is_missing(address.file))
    }

    /// The error for a missing session.
    pub(crate) fn no_session(&self) -> CommandError {
        CommandError::failure(format!("there is no session {}", self.path.display()))
            .hint("run `traj sessions` to list the sessions")
    }

    /// The session's sidecar, if it has one.
    pub(crate) fn sidecar(&self, host: &Host) -> Result<Search, CommandError> {
        let SidecarSearch { found, refused, .. } = self.search(host)?;
        let found = found.map(|found| place_of(&found.file, host)).transpose()?;
        let awaited = match &found {
            Some(_) => None,
            None => self.awaited(&refused, host)?,
        };
        Ok(Search { found, awaited, refused })
    }

    /// Where a recorder with these settings would create the sidecar.
    fn awaited(
        &self,
        refused: &[RefusedSidecar],
        host: &Host,
    ) -> Result<Option<Sidecar>, CommandError> {
        let directory = Settings::from_host(&host.facts).trajectory_dir.map(PathBuf::from);
        let opened = directory.map(|path| Ok((host.folder_if_any(&path)?, path))).transpose()?;
        let (folder, path, name) = match opened {
            Some((Some(folder), path)) => (folder, path, sidecar_in_folder(&self.id)),
            _ => {
                let parent = self.path.parent().unwrap_or(&self.path).to_path_buf();
                (clone(&self.folder)?, parent, sidecar_beside(&self.name))
            }
        };
        let path = path.join(&name);
        let is_free = refused.iter().all(|refused| Path::new(&refused.file) != path);
        Ok(is_free.then_some(Sidecar { folder, name, path }))
    }

    /// The session's sidecar, for changes: its first event must prove that it
    /// belongs to the session. If there may be a sidecar that cannot be used,
    /// that is an error, because its text would stay.
    pub(crate) fn sidecar_to_change(
        &self,
        host: &Host,
        output: &CommandOutput,
    ) -> Result<Option<Sidecar>, CommandError> {
        let SidecarSearch { found, refused, .. } = self.search(host)?;
        let unusable = |file: &str, reason: &str| {
            CommandError::failure(format!("cannot use the session's sidecar {file}: {reason}"))
                .hint("nothing was changed")
        };
        if let Some(refused) = refused.iter().find(|refused| refused.reason.is_out_of_reach()) {
            return Err(unusable(&refused.file, refused.reason.meaning()));
        }
        refused.iter().for_each(|refused| output.note(&passed_over(refused)));
        match found {
            None => Ok(None),
            Some(found) if !self.identity.vouches_for(found.lead) => Err(unusable(
                &found.file,
                "only the pointer next to the transcript links it to the session",
            )),
            Some(found) if found.is_proven() => place_of(&found.file, host).map(Some),
            Some(found) if found.source.is_empty() => Ok(None),
            Some(found) => Err(unusable(&found.file, "no event in it names its session")
                .hint("`traj repair --write` writes a repaired copy of a torn file")),
        }
    }

    fn search(&self, host: &Host) -> Result<SidecarSearch, CommandError> {
        let sources = sources(&self.folder, &self.path, self.named_sidecar.as_deref(), host)?;
        let settings = Settings::from_host(&host.facts);
        let path = self.path.to_string_lossy();
        let named = self.named_sidecar.as_deref().map(Path::to_string_lossy);
        let places = SidecarPlaces::beside(&path)
            .with_directory(settings.trajectory_dir.as_deref())
            .with_named(named.as_deref());
        Ok(find_sidecar(&sources, &self.id, &places))
    }

    /// Opens the files of the session.
    pub(crate) fn sources(&self, host: &Host) -> Result<FsSources, CommandError> {
        sources(&self.folder, &self.path, self.named_sidecar.as_deref(), host)
    }

    /// A rewriter for the session.
    pub(crate) fn rewriter(&self, host: &Host) -> Result<FsSessionRewriter, CommandError> {
        let folder = clone(&self.folder)?;
        Ok(FsSessionRewriter::new(folder, self.name.clone(), host.process_table()))
    }

    /// A log next to the session.
    pub(crate) fn log(&self, name: String) -> Result<FsLineLog, CommandError> {
        Ok(FsLineLog::new(clone(&self.folder)?, name))
    }
}

impl Search {
    /// The rejected files, for people.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.refused.iter().map(passed_over)
    }
}

fn passed_over(refused: &RefusedSidecar) -> String {
    format!("skipped {}: {}", refused.file, refused.reason.meaning())
}

impl Sidecar {
    /// A rewriter for the sidecar.
    pub(crate) fn rewriter(&self) -> Result<FsSessionRewriter, CommandError> {
        Ok(FsSessionRewriter::of_sidecar(clone(&self.folder)?, self.name.clone()))
    }

    /// Its blobs.
    pub(crate) fn blobs(&self) -> Result<FsBlobFolder, CommandError> {
        Ok(FsBlobFolder::new(clone(&self.folder)?, blobs_beside(&self.name)))
    }
}

/// The directories that are searched for the sidecar: those of the session and
/// of the named sidecar, the sidecar directory, and the pointer's target.
fn sources(
    folder: &Dir,
    path: &Path,
    named: Option<&Path>,
    host: &Host,
) -> Result<FsSources, CommandError> {
    let parent = path.parent().unwrap_or(path);
    let mut sources = FsSources::new(&host.facts.current_dir)
        .with_relocated(host.root()?)
        .with_root(parent, clone(folder)?);
    if let Some(gathering) = host.gathering() {
        sources = with_sub_agents(sources.gathering(gathering), path, host);
    }
    if let Some(parent) = named.and_then(Path::parent) {
        sources = sources.with_root(parent, host.folder(parent)?);
    }
    if let Some(directory) = Settings::from_host(&host.facts).trajectory_dir {
        sources = match host.folder_if_any(Path::new(&directory)) {
            Ok(Some(opened)) => sources.with_root(directory, opened),
            Ok(None) => sources.with_missing_root(directory),
            // The search then rejects files in it and reports them.
            Err(_) => sources,
        };
    }
    Ok(sources)
}

fn place_of(file: &str, host: &Host) -> Result<Sidecar, CommandError> {
    let path = PathBuf::from(file);
    let (folder, name) = host.folder_of(&path)?;
    Ok(Sidecar { folder, name, path })
}

pub(super) fn unusable_id() -> CommandError {
    CommandError::usage("the session has no usable id").hint("name the file after the session's id")
}

fn clone(folder: &Dir) -> Result<Dir, CommandError> {
    folder
        .try_clone()
        .map_err(|error| CommandError::failure("cannot open the directory again").because(error))
}
