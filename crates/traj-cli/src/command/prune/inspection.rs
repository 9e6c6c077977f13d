//! Looking at what is left of sessions, wherever it lies.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use cap_std::fs::{Dir, File, MetadataExt as _};
use traj_core::location::{Pointer, blobs_beside};
use traj_core::prune::{
    Artefact, ArtefactKind, Orphans, Proof, StrayOwner, has_session, relocated_target,
};
use traj_core::timestamp::UnixMillis;
use traj_fs::{Access, open_folder, open_regular};

use crate::command_error::CommandError;
use crate::compose::{Host, root};

/// A first event may be as long as a recorder's longest line, and a bit.
const LONGEST_FIRST_LINE: u64 = 1024 * 1024;

pub(super) fn names_in(folder: &Dir) -> Result<Vec<String>, CommandError> {
    let entries = folder
        .entries()
        .map_err(|error| CommandError::failure("cannot read the folder").because(error))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Looks at everything that is left of a session; `None` when it is listed
/// under the id its pointer states.
pub(super) fn inspect(
    folder: &Dir,
    stem: &str,
    artefacts: &[(ArtefactKind, &str)],
    listed: &BTreeSet<String>,
) -> Result<Option<Orphans>, CommandError> {
    let mut found = Orphans::default();
    stem.clone_into(&mut found.stem);
    for (kind, name) in artefacts {
        if *kind == ArtefactKind::Pointer
            && let Some(pointer) = read_pointer(folder, name)
        {
            if listed.contains(&pointer.session_id) {
                return Ok(None);
            }
            found.artefacts.extend(relocated(&pointer, stem)?);
        }
        let proof = match kind {
            ArtefactKind::Sidecar => proof_of(folder, name, &Proof::of_first_line),
            ArtefactKind::Blobs => folder_proof(folder, name),
            _ => proof_of(folder, name, &|_| Proof::ByName),
        };
        let (bytes, modified) = (size_of(folder, name), modified(folder, name));
        found.artefacts.push(Artefact::new(*kind, *name, bytes, modified, proof));
    }
    Ok(Some(found))
}

fn relocated(pointer: &Pointer, stem: &str) -> Result<Vec<Artefact>, CommandError> {
    let Some(target) = relocated_target(pointer, stem) else { return Ok(Vec::new()) };
    let Some((folder, name)) = place_of(target)? else { return Ok(Vec::new()) };
    if folder.symlink_metadata(&name).is_err() {
        return Ok(Vec::new());
    }
    Ok(elsewhere(&folder, Path::new(target), &name, &pointer.session_id))
}

/// A sidecar that does not lie beside its session, and its blobs.
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

/// Adds sidecars that lie in the folder of sidecars, with no pointer to them,
/// and whose session was in the folder of sessions and is gone.
pub(super) fn add_strays(
    gone: &mut Vec<Orphans>,
    sidecars: &Path,
    sessions: &Path,
    names: &[String],
    listed: &BTreeSet<String>,
    host: &Host,
) -> Result<(), CommandError> {
    let Some(folder) = host.folder_if_any(sidecars)? else { return Ok(()) };
    let sessions = sessions.to_string_lossy();
    for name in names_in(&folder)?.iter().filter(|name| name.ends_with(".jsonl")) {
        let path = sidecars.join(name);
        let place = path.to_string_lossy();
        let mut known = gone.iter().flat_map(|orphans| &orphans.artefacts);
        if known.any(|artefact| artefact.place == place) {
            continue;
        }
        let first = first_line(&folder, name);
        let owner = first.ok().and_then(|line| StrayOwner::of_first_line(&line, name, &sessions));
        let Some(owner) = owner.filter(|owner| !listed.contains(&owner.session_id)) else {
            continue;
        };
        let stem = owner.stem.as_deref().unwrap_or(&owner.session_id);
        if has_session(names, stem) || listed.contains(stem) {
            continue;
        }
        let mut artefacts = elsewhere(&folder, &path, name, &owner.session_id);
        if owner.stem.is_none() {
            // It may be of another agent's session, which is there.
            artefacts.iter_mut().for_each(|artefact| artefact.proof = Proof::FirstEvent);
        }
        match gone.iter_mut().find(|orphans| orphans.stem == stem) {
            Some(orphans) => orphans.artefacts.append(&mut artefacts),
            None => {
                let mut orphans = Orphans::default();
                stem.clone_into(&mut orphans.stem);
                orphans.artefacts = artefacts;
                gone.push(orphans);
            }
        }
    }
    Ok(())
}

/// The folder and name of an absolute path; `None` when a link is on the way.
pub(super) fn place_of(path: &str) -> Result<Option<(Dir, String)>, CommandError> {
    let path = Path::new(path);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Ok(folder) = open_folder(&root()?, parent) else { return Ok(None) };
    Ok(name.to_str().map(|name| (folder, name.to_owned())))
}

pub(super) fn open_plain(folder: &Dir, name: &str) -> Result<File, Proof> {
    let file = open_regular(folder, name, Access::Read).map_err(|error| {
        if error.refusal().is_some() { Proof::NotPlain } else { Proof::Unreadable }
    })?;
    let is_plain = file.metadata().is_ok_and(|metadata| metadata.nlink() == 1);
    if is_plain { Ok(file) } else { Err(Proof::NotPlain) }
}

fn proof_of(folder: &Dir, name: &str, proof: &dyn Fn(&[u8]) -> Proof) -> Proof {
    match first_line(folder, name) {
        Ok(line) => proof(&line),
        Err(proof) => proof,
    }
}

fn first_line(folder: &Dir, name: &str) -> Result<Vec<u8>, Proof> {
    first_line_of(&open_plain(folder, name)?).map_err(|_| Proof::Unreadable)
}

pub(super) fn first_line_of(file: &File) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(file).take(LONGEST_FIRST_LINE).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn folder_proof(folder: &Dir, name: &str) -> Proof {
    match folder.symlink_metadata(name) {
        Ok(metadata) if metadata.is_dir() => Proof::ByName,
        Ok(_) => Proof::NotPlain,
        Err(_) => Proof::Unreadable,
    }
}

fn read_pointer(folder: &Dir, name: &str) -> Option<Pointer> {
    let mut bytes = Vec::new();
    open_plain(folder, name).ok()?.take(64 * 1024).read_to_end(&mut bytes).ok()?;
    Pointer::parse(&bytes)
}

pub(super) fn size_of(folder: &Dir, name: &str) -> u64 {
    let Ok(metadata) = folder.symlink_metadata(name) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let inside = traj_fs::open_subfolder(folder, name);
    let entries = inside.ok().and_then(|inside| inside.entries().ok());
    let sizes = entries.into_iter().flatten().flatten();
    sizes.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn modified(folder: &Dir, name: &str) -> UnixMillis {
    let seconds = folder.symlink_metadata(name).map_or(0, |metadata| metadata.mtime());
    UnixMillis::new(seconds.saturating_mul(1_000)).unwrap_or_default()
}
