//! `traj prune`: what is left of sessions that are gone.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use cap_std::fs::{Dir, File, MetadataExt as _};
use clap::Args;
use serde::Serialize;
use traj_core::location::{Pointer, blobs_beside};
use traj_core::prune::{
    Artefact, ArtefactKind, Decision, Orphans, Proof, PrunePolicy, classify, decide, orphans,
    relocated_target,
};
use traj_core::timestamp::UnixMillis;
use traj_fs::{Access, open_folder, open_regular, remove_blobs, remove_inspected};

use super::Outcome;
use crate::command_error::CommandError;
use crate::compose::{Host, root};
use crate::output::Output;
use crate::quantity;
use crate::store_place::StorePlace;
use crate::terminal_text::escape_control;

/// A first event may be as long as a recorder's longest line, and a bit.
const LONGEST_FIRST_LINE: u64 = 1024 * 1024;

#[derive(Debug, Args)]
#[command(
    long_about = "Removes sidecars, pointers, blobs, bindings and trim logs whose session is gone: \
                  neither its transcript nor an entry of the store is there any more. What is old \
                  goes; a budget takes younger ones too, oldest first. A sidecar that a pointer \
                  names elsewhere goes only if its own first event states the session. Nothing \
                  else is ever removed, whatever a pointer claims.",
    after_help = "Exit codes: 0 done · 1 something could not be removed · 2 wrong usage"
)]
pub(crate) struct Arguments {
    /// The folder of sessions
    #[arg(long, value_name = "DIR")]
    sessions: PathBuf,
    /// The store that lists them [default: sessions.json in the folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Remove what has not changed for so long
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = quantity::duration)]
    older_than: Duration,
    /// Keep what is left of so many gone sessions at most
    #[arg(long, value_name = "N")]
    max_entries: Option<u64>,
    /// Keep so many bytes of artefacts at most
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_bytes: Option<u64>,
    /// Say what would go and why, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    dry_run: bool,
    removed: Vec<Item>,
    kept: Vec<Item>,
    failed: Vec<Item>,
    removed_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Item {
    session: String,
    kind: &'static str,
    place: String,
    bytes: u64,
    reason: &'static str,
    meaning: &'static str,
}

pub(crate) fn run(arguments: &Arguments, host: &Host, output: &Output) -> Outcome {
    let folder = host.folder(&arguments.sessions)?;
    let names = names_in(&folder)?;
    let listed = listed(arguments, host, &names)?;
    let mut gone = Vec::new();
    let orphaned = orphans(&names, &listed);
    let live_bytes: u64 = names
        .iter()
        .filter(|name| classify(name).is_some_and(|(_, stem)| !orphaned.contains_key(stem)))
        .map(|name| size_of(&folder, name))
        .sum();
    for (stem, artefacts) in orphaned {
        gone.extend(inspect(&folder, stem, &artefacts, &listed)?);
    }
    let age = i64::try_from(arguments.older_than.as_millis()).unwrap_or(i64::MAX);
    let before = Host::now().plus_millis(age.saturating_neg());
    let policy = PrunePolicy::new(before, arguments.max_entries, arguments.max_bytes);
    let mut report = Report {
        dry_run: arguments.dry_run,
        removed: Vec::new(),
        kept: Vec::new(),
        failed: Vec::new(),
        removed_bytes: 0,
    };
    for decision in decide(gone, live_bytes, policy) {
        let item = item_of(&decision);
        if !decision.reason.goes() {
            report.kept.push(item);
        } else if arguments.dry_run || remove(&folder, &decision.artefact).is_ok() {
            report.removed_bytes += item.bytes;
            report.removed.push(item);
        } else {
            report.failed.push(item);
        }
    }
    output.result(&report, human)?;
    Ok(ExitCode::from(u8::from(!report.failed.is_empty())))
}

fn names_in(folder: &Dir) -> Result<Vec<String>, CommandError> {
    let entries = folder
        .entries()
        .map_err(|error| CommandError::failure("cannot read the folder").because(error))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Ids, and stems of files, of the sessions that the store lists.
fn listed(
    arguments: &Arguments,
    host: &Host,
    names: &[String],
) -> Result<BTreeSet<String>, CommandError> {
    let has_default = names.iter().any(|name| name == "sessions.json");
    let store = match &arguments.store {
        Some(store) => store.clone(),
        None if has_default => arguments.sessions.join("sessions.json"),
        None => return Ok(BTreeSet::new()),
    };
    let place = StorePlace::read(Some(&store), "main", host)?;
    let mut listed = BTreeSet::new();
    for session in place.store.sessions {
        let file = session.session_file.as_deref().and_then(|file| file.rsplit('/').next());
        listed.extend(file.map(|file| file.strip_suffix(".jsonl").unwrap_or(file).to_owned()));
        listed.insert(session.session_id);
    }
    Ok(listed)
}

/// Looks at everything that is left of a session; `None` when it is listed
/// under the id its pointer states.
fn inspect(
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
    let proof = proof_of(&folder, &name, &|line| Proof::of_relocated(line, pointer));
    let artefact = |kind, name: &str, proof| {
        let place = Path::new(target).with_file_name(name).to_string_lossy().into_owned();
        Artefact::new(kind, place, size_of(&folder, name), modified(&folder, name), proof)
    };
    let mut artefacts = vec![artefact(ArtefactKind::RelocatedSidecar, &name, proof.clone())];
    let blobs = blobs_beside(&name);
    if folder.symlink_metadata(&blobs).is_ok() {
        let proof = match folder_proof(&folder, &blobs) {
            // The blobs belong to the sidecar beside them.
            Proof::ByName => proof,
            other => other,
        };
        artefacts.push(artefact(ArtefactKind::RelocatedBlobs, &blobs, proof));
    }
    Ok(artefacts)
}

/// The folder and name of an absolute path; `None` when a link is on the way.
fn place_of(path: &str) -> Result<Option<(Dir, String)>, CommandError> {
    let path = Path::new(path);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Ok(folder) = open_folder(&root()?, parent) else { return Ok(None) };
    Ok(name.to_str().map(|name| (folder, name.to_owned())))
}

fn open_plain(folder: &Dir, name: &str) -> Result<File, Proof> {
    let file = open_regular(folder, name, Access::Read).map_err(|error| {
        if error.refusal().is_some() { Proof::NotPlain } else { Proof::Unreadable }
    })?;
    let is_plain = file.metadata().is_ok_and(|metadata| metadata.nlink() == 1);
    if is_plain { Ok(file) } else { Err(Proof::NotPlain) }
}

fn proof_of(folder: &Dir, name: &str, proof: &dyn Fn(&[u8]) -> Proof) -> Proof {
    let file = match open_plain(folder, name) {
        Ok(file) => file,
        Err(proof) => return proof,
    };
    let mut line = Vec::new();
    match BufReader::new(file).take(LONGEST_FIRST_LINE).read_until(b'\n', &mut line) {
        Ok(_) => proof(&line),
        Err(_) => Proof::Unreadable,
    }
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

fn size_of(folder: &Dir, name: &str) -> u64 {
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

fn remove(sessions: &Dir, artefact: &Artefact) -> Result<(), CommandError> {
    let failed = |error: traj_fs::FsError| CommandError::failure("cannot remove it").because(error);
    let (folder, name) = match artefact.kind {
        ArtefactKind::RelocatedSidecar | ArtefactKind::RelocatedBlobs => place_of(&artefact.place)?
            .ok_or_else(|| CommandError::failure("a link took its folder's place"))?,
        _ => {
            let folder = sessions
                .try_clone()
                .map_err(|error| CommandError::failure("cannot open the folder").because(error))?;
            (folder, artefact.place.clone())
        }
    };
    if matches!(artefact.kind, ArtefactKind::Blobs | ArtefactKind::RelocatedBlobs) {
        return remove_blobs(&folder, &name).map(|_| ()).map_err(failed);
    }
    let file = open_plain(&folder, &name)
        .map_err(|_| CommandError::failure("it is not the file that was looked at"))?;
    remove_inspected(&folder, &name, &file).map_err(failed)
}

fn item_of(decision: &Decision) -> Item {
    Item {
        session: decision.stem.clone(),
        kind: decision.artefact.kind.name(),
        place: decision.artefact.place.clone(),
        bytes: decision.artefact.bytes,
        reason: decision.reason.code(),
        meaning: decision.reason.meaning(),
    }
}

fn human(report: &Report) -> String {
    let mut lines = Vec::new();
    let verb = if report.dry_run { "would remove" } else { "removed" };
    for (verb, items) in
        [(verb, &report.removed), ("kept", &report.kept), ("could not remove", &report.failed)]
    {
        for item in items {
            let (place, size) = (escape_control(&item.place), quantity::shown_size(item.bytes));
            lines.push(format!("{verb} {} {place} ({size}): {}\n", item.kind, item.meaning));
        }
    }
    let size = quantity::shown_size(report.removed_bytes);
    lines.push(format!("{verb} {} files, {size}\n", report.removed.len()));
    lines.concat()
}
