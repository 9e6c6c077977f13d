//! Files of sessions that no longer exist: finding, inspecting and removing
//! them.

mod look;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, MetadataExt as _};
use traj_core::care::prune::{
    Artefact, ArtefactKind, Orphans, Proof, StrayOwner, classify, orphans, stated_session_file,
};
use traj_core::id::SessionId;
use traj_core::location::{
    Lead, Pointer, SidecarPlaces, blobs_beside, find_sidecar, pointer_beside,
};

use self::look::{
    first_line, first_line_of, folder_proof, modified, names_in, open_plain, proof_of,
    read_pointer, sidecar_id, size_of, transcript_id,
};
use crate::error::{Context as _, FsError, Refusal};
use crate::safe::directory::open_folder_below_links;
use crate::safe::open::check_name;
use crate::safe::remove_checked::{remove_blobs, remove_inspected};
use crate::session::sources::FsSources;

/// A directory of sessions, and the files that deleted sessions left there and
/// elsewhere.
///
/// It finds, inspects and removes files;
/// [`traj_core::care::prune::decide_prune`] decides which of them to remove. It
/// follows no links except those above a directory. A link, a file with several
/// names or a special file is reported as such. A file that was replaced after
/// its inspection is not removed.
///
/// ```
/// use std::collections::BTreeSet;
/// use traj_core::care::prune::{PrunePolicy, decide_prune};
/// use traj_core::timestamp::UnixMillis;
/// use traj_fs::FsOrphans;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let temporary = tempfile::tempdir()?;
/// # let open = |path| cap_std::fs::Dir::open_ambient_dir(path, cap_std::ambient_authority());
/// # let (root, folder) = (open(std::path::Path::new("/"))?, open(temporary.path())?);
/// # let path = temporary.path();
/// # folder.write("here.jsonl", "")?;
/// # folder.write("here.codex-binding.json", "{}")?;
/// # folder.write("gone.codex-binding.json", "{}")?;
/// // `folder` is the directory of sessions at `path`, as seen from `root`.
/// let orphans = FsOrphans::read(root, folder, path)?;
/// // Sessions in the host's own list still exist.
/// let listed = BTreeSet::from(["kept".to_owned()]);
/// let found = orphans.look(&listed)?;
///
/// let before = UnixMillis::new(4_000_000_000_000).unwrap_or_default();
/// let policy = PrunePolicy::new(before, None, None);
/// for decision in decide_prune(found.gone, found.live_bytes, policy) {
///     if decision.reason.removes() {
///         orphans.remove(&decision.artefact)?;
///     }
/// }
/// # let left = temporary.path().read_dir()?.flatten().map(|entry| entry.file_name());
/// # assert_eq!(left.collect::<BTreeSet<_>>().len(), 2);
/// # assert!(!temporary.path().join("gone.codex-binding.json").exists());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FsOrphans {
    /// The root for absolute paths in pointers.
    root: Dir,
    sessions: SearchedDirectory,
    sidecars: Option<SearchedDirectory>,
    /// The names in the directory of sessions, in order.
    names: Vec<String>,
}

/// A directory and its absolute path.
#[derive(Debug)]
struct SearchedDirectory {
    folder: Dir,
    path: PathBuf,
}

/// The files that were found, for [`traj_core::care::prune::decide_prune`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundOrphans {
    /// Files of deleted sessions.
    pub gone: Vec<Orphans>,
    /// The size of the artefacts of existing sessions.
    pub live_bytes: u64,
}

impl FsOrphans {
    /// Reads the names in the directory of sessions, which is at the absolute
    /// `path`. Absolute paths in pointers are opened from `root`.
    ///
    /// Read the host's list of sessions after this call. A session that begins
    /// in between is then listed, and its files are not found here.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn read(root: Dir, sessions: Dir, path: impl Into<PathBuf>) -> Result<Self, FsError> {
        let sessions = SearchedDirectory { folder: sessions, path: path.into() };
        let names = names_in(&sessions.folder, &sessions.path)?;
        Ok(Self { root, sessions, sidecars: None, names })
    }

    /// Also inspects sidecars without a pointer in this directory, which is at
    /// the absolute `path`. Other agents may share it.
    #[must_use]
    pub fn with_sidecars(mut self, sidecars: Dir, path: impl Into<PathBuf>) -> Self {
        self.sidecars = Some(SearchedDirectory { folder: sidecars, path: path.into() });
        self
    }

    /// Whether the directory of sessions has an entry with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Inspects all files of deleted sessions. `listed` contains the ids and
    /// stems of sessions that a store still names (see
    /// [`traj_core::care::prune::listed_names`]).
    ///
    /// The [`Proof`] of an artefact says whether it could be inspected.
    ///
    /// # Errors
    /// When the directory of sidecars cannot be read.
    pub fn look(&self, listed: &BTreeSet<String>) -> Result<FoundOrphans, FsError> {
        let folder = &self.sessions.folder;
        let mut listed = listed.clone();
        listed.extend(self.live_ids(&orphans(&self.names, &listed)));
        let listed = &listed;
        let orphaned = orphans(&self.names, listed);
        let is_live =
            |name: &&String| classify(name).is_some_and(|(_, stem)| !orphaned.contains_key(stem));
        let live = self.names.iter().filter(is_live);
        let live_bytes = live.map(|name| size_of(folder, name)).sum();
        let mut gone = BTreeMap::new();
        for (stem, artefacts) in orphaned {
            if let Some(artefacts) = self.beside(stem, &artefacts, listed) {
                gone.insert(stem.to_owned(), artefacts);
            }
        }
        if let Some(sidecars) = &self.sidecars {
            self.add_strays(sidecars, &mut gone, listed)?;
        }
        let gone = gone.into_iter().map(|(stem, artefacts)| Orphans::new(stem, artefacts));
        Ok(FoundOrphans { gone: gone.collect(), live_bytes })
    }

    /// Removes an artefact that [`look`](Self::look) found.
    ///
    /// # Errors
    /// When it was replaced since the inspection, or cannot be removed.
    pub fn remove(&self, artefact: &Artefact) -> Result<(), FsError> {
        let elsewhere;
        let (folder, name) = match artefact.kind {
            ArtefactKind::RelocatedSidecar | ArtefactKind::RelocatedBlobs => {
                elsewhere = self.place_of(&artefact.place)?;
                (&elsewhere.0, elsewhere.1.as_str())
            }
            _ => (&self.sessions.folder, artefact.place.as_str()),
        };
        check_name(name)?;
        if matches!(artefact.kind, ArtefactKind::Blobs | ArtefactKind::RelocatedBlobs) {
            return remove_blobs(folder, name).map(|_| ());
        }
        // The file that has the name now must give the same proof as the
        // inspected one.
        let file = open_plain(folder, name)?;
        if !artefact.is_proven_by(&first_line_of(&file).context("read", name)?) {
            return Err(FsError::refused("remove", name, Refusal::Swapped));
        }
        remove_inspected(folder, name, &file)
    }

    /// The files of a session, beside it and where its pointer leads; `None` if
    /// the session is listed under the id that its pointer or its sidecar
    /// states.
    fn beside(
        &self,
        stem: &str,
        artefacts: &[(ArtefactKind, &str)],
        listed: &BTreeSet<String>,
    ) -> Option<Vec<Artefact>> {
        let folder = &self.sessions.folder;
        let mut found = Vec::new();
        for (kind, name) in artefacts {
            if *kind == ArtefactKind::Pointer
                && let Some(pointer) = read_pointer(folder, name)
            {
                if listed.contains(&pointer.session_id) {
                    return None;
                }
                found.extend(self.relocated(&pointer, stem));
            }
            let is_sidecar = *kind == ArtefactKind::Sidecar;
            if is_sidecar && sidecar_id(folder, name).is_some_and(|id| listed.contains(&id)) {
                return None;
            }
            let proof = match kind {
                ArtefactKind::Sidecar => proof_of(folder, name, &Proof::of_first_line),
                ArtefactKind::Blobs => folder_proof(folder, name),
                _ => proof_of(folder, name, &|_| Proof::ByName),
            };
            let (bytes, modified) = (size_of(folder, name), modified(folder, name));
            found.push(Artefact::new(*kind, *name, bytes, modified, proof));
        }
        Some(found)
    }

    /// The files where a pointer leads. Only a pointer that is marked as such,
    /// and that the search for the session's sidecar follows, is used.
    fn relocated(&self, pointer: &Pointer, stem: &str) -> Vec<Artefact> {
        let Some(target) = self.pointed(pointer, stem) else { return Vec::new() };
        let Ok((folder, name)) = self.place_of(&target) else { return Vec::new() };
        if folder.symlink_metadata(&name).is_err() {
            return Vec::new();
        }
        let mut artefacts = elsewhere(&folder, Path::new(&target), &name, &pointer.session_id);
        let stated = || stated_session_file(&first_line(&folder, &name).ok()?);
        let session_file = pointer.session_file.clone().or_else(stated);
        if !session_file.is_some_and(|file| self.was_here(&file)) {
            for artefact in &mut artefacts {
                if artefact.proof == Proof::OwnFirstEvent {
                    artefact.proof = Proof::Elsewhere;
                }
            }
        }
        artefacts
    }

    /// The file outside the directory that a session's pointer leads to.
    fn pointed(&self, pointer: &Pointer, stem: &str) -> Option<String> {
        let session = SessionId::parse(pointer.session_id.as_str()).ok()?;
        let path = self.sessions.path.join(format!("{stem}.jsonl"));
        let root = || self.root.try_clone().ok();
        let folder = self.sessions.folder.try_clone().ok()?;
        let sources =
            FsSources::new("/").with_root(&self.sessions.path, folder).with_relocated(root()?);
        let path = path.to_str().filter(|_| pointer.is_marked)?;
        let search = find_sidecar(&sources, &session, &SidecarPlaces::beside(path));
        let own_pointer = pointer_beside(path);
        let refused = search.refused.into_iter().map(|refused| (refused.lead, refused.file));
        let found = search.found.map(|found| (found.lead, found.file));
        let looked_at = refused.chain(found);
        let mut elsewhere = looked_at
            .filter(|(lead, file)| *lead == Lead::Pointer && *file != own_pointer)
            .map(|(_, file)| file);
        elsewhere.next()
    }

    /// Whether the path of a session file leads to this directory, possibly
    /// through links.
    fn was_here(&self, session_file: &str) -> bool {
        let Some(folder) = Path::new(session_file).parent() else { return false };
        let identity = |folder: &Dir| {
            folder.dir_metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
        };
        let is_same = || {
            let opened = open_folder_below_links(&self.root, folder).ok()?;
            Some(identity(&opened)? == identity(&self.sessions.folder)?)
        };
        folder == self.sessions.path || (folder.is_absolute() && is_same().unwrap_or(false))
    }

    /// The ids of the existing sessions, as their transcripts and pointers
    /// state them. A file with such an id is not an orphan.
    fn live_ids(&self, orphaned: &BTreeMap<&str, Vec<(ArtefactKind, &str)>>) -> Vec<String> {
        let folder = &self.sessions.folder;
        let mut ids = Vec::new();
        for name in &self.names {
            match classify(name) {
                Some((ArtefactKind::Pointer, stem)) if !orphaned.contains_key(stem) => {
                    ids.extend(read_pointer(folder, name).map(|pointer| pointer.session_id));
                }
                None if name.contains(".jsonl") => ids.extend(transcript_id(folder, name)),
                _ => {}
            }
        }
        ids
    }

    /// Adds sidecars in the directory of sidecars without a pointer, whose
    /// session was in the directory of sessions and no longer exists.
    fn add_strays(
        &self,
        sidecars: &SearchedDirectory,
        gone: &mut BTreeMap<String, Vec<Artefact>>,
        listed: &BTreeSet<String>,
    ) -> Result<(), FsError> {
        let sessions = self.sessions.path.to_string_lossy();
        let known = gone.values().flatten().map(|artefact| artefact.place.clone());
        let known: BTreeSet<String> = known.collect();
        let names = names_in(&sidecars.folder, &sidecars.path)?;
        for name in names.iter().filter(|name| name.ends_with(".jsonl")) {
            let path = sidecars.path.join(name);
            if known.contains(path.to_string_lossy().as_ref()) {
                continue;
            }
            let first = first_line(&sidecars.folder, name).ok();
            let owner = first.and_then(|line| StrayOwner::of_first_line(&line, name, &sessions));
            let Some(owner) = owner.filter(|owner| owner.is_gone(&self.names, listed)) else {
                continue;
            };
            let mut artefacts = elsewhere(&sidecars.folder, &path, name, &owner.session_id);
            for artefact in &mut artefacts {
                artefact.proof = owner.proven(artefact.proof.clone());
            }
            gone.entry(owner.session_stem().to_owned()).or_default().append(&mut artefacts);
        }
        Ok(())
    }

    /// The directory and name of an absolute path. Links above the directory
    /// are followed; the directory itself must not be a link.
    fn place_of(&self, path: &str) -> Result<(Dir, String), FsError> {
        let unsafe_name = || FsError::refused("open", path, Refusal::UnsafeName);
        let path = Path::new(path);
        let parent = path.parent().ok_or_else(unsafe_name)?;
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(unsafe_name)?;
        Ok((open_folder_below_links(&self.root, parent)?, name.to_owned()))
    }
}

/// A sidecar that is not beside its session, and its blobs.
fn elsewhere(folder: &Dir, path: &Path, name: &str, session_id: &str) -> Vec<Artefact> {
    let proof = proof_of(folder, name, &|line| Proof::of_relocated(line, session_id));
    let artefact = |kind, name: &str, proof| {
        let place = path.with_file_name(name).to_string_lossy().into_owned();
        Artefact::new(kind, place, size_of(folder, name), modified(folder, name), proof)
            .owned_by(session_id)
    };
    let mut artefacts = vec![artefact(ArtefactKind::RelocatedSidecar, name, proof.clone())];
    let blobs = blobs_beside(name);
    if folder.symlink_metadata(&blobs).is_ok() {
        let proof = match folder_proof(folder, &blobs) {
            // The blobs belong to the sidecar beside them.
            Proof::ByName => proof,
            other => other,
        };
        artefacts.push(artefact(ArtefactKind::RelocatedBlobs, &blobs, proof));
    }
    artefacts
}
