//! Classifies a path that the user named: by file type, then by content, then
//! by name.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, File};
use traj_core::care::prune::stated_session_file;
use traj_core::care::session_store::{SessionStore, agent_of_key, default_store_path, is_safe_id};
use traj_core::dialect::transcript::trim;
use traj_core::dialect::{Dialect, Head, sniff};
use traj_core::event::RuntimeRow;
use traj_core::gather::is_history;
use traj_core::json::Json;
use traj_core::limits::Reading;
use traj_core::port::BundleFile;
use traj_fs::{FsBundleSource, is_bundle, open_file};

use super::gathered;
use super::places::STORE;
use crate::command_error::CommandError;
use crate::compose::Host;

/// How many bytes of a file are read to classify it.
const HEAD: u64 = Reading::standard().first_line_bytes as u64;

/// Stores are small; a larger file is not a store.
const LONGEST_STORE: u64 = Reading::standard().store_bytes as u64;

/// The file name ending of a sidecar next to its session.
const SIDECAR: &str = ".trajectory.jsonl";

/// What a path refers to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NamedPath {
    Bundle,
    /// A session. It need not exist if the user named its sidecar.
    Session {
        file: PathBuf,
        sidecar: Option<PathBuf>,
    },
}

impl NamedPath {
    /// Classifies the path. If it cannot be opened, the verb reports that when
    /// it uses the path.
    pub(super) fn of(named: &Path, host: &Host) -> Result<Self, CommandError> {
        let path = host.absolute(named);
        let (parent, name) = host.parent_and_name(&path)?;
        let is_lines = path.extension().is_some_and(|extension| extension == "jsonl");
        let unseen = if is_lines {
            Self::Session { file: path.clone(), sidecar: None }
        } else {
            Self::Bundle
        };
        let Ok(folder) = host.folder(&parent) else { return Ok(unseen) };
        if folder.symlink_metadata(&name).is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(Self::Bundle);
        }
        if let Some(session) = gathered::session_at(&folder, &path, &name, host)? {
            return Ok(Self::Session { file: session, sidecar: None });
        }
        // An archive is recognised by its content, not by its name.
        if FsBundleSource::open(&folder, &name).is_ok() {
            return Ok(Self::Bundle);
        }
        let Ok(file) = open_file(&folder, &name) else { return Ok(unseen) };
        let Some(head) = head_of(&file) else { return Ok(unseen) };
        if BundleFile::parse(&name).is_some() && is_bundle(&folder) {
            return Err(CommandError::usage(format!("{} is part of a bundle", named.display()))
                .hint("name the bundle's directory"));
        }
        let is_json = trim(&head).starts_with('{');
        let dialect = sniff(Head::of(head.as_bytes()));
        if is_json && dialect.is_none() && is_store(&folder, &name) {
            return Err(CommandError::usage(format!("{} is a session store", named.display()))
                .hint("name one of its sessions; `traj sessions --store FILE` lists them")
                .hint("`traj export --session-key KEY --store FILE` exports one"));
        }
        // A sidecar may begin with damaged rows.
        let has_its_name = dialect.is_none() && name.ends_with(SIDECAR);
        if dialect == Some(Dialect::Sidecar) || has_its_name {
            let event = head.lines().find_map(|line| RuntimeRow::parse(trim(line)).ok());
            let file = session_of((&parent, &name), event.as_ref(), &head, host)
                .ok_or_else(|| unknown_session(named))?;
            return Ok(Self::Session { file, sidecar: Some(path) });
        }
        let is_session = is_json || is_history(&head);
        Ok(if is_session { Self::Session { file: path, sidecar: None } } else { unseen })
    }
}

/// The beginning of a file.
fn head_of(file: &File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(HEAD).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a file is a session store.
fn is_store(folder: &Dir, name: &str) -> bool {
    let Ok(file) = open_file(folder, name) else { return false };
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_STORE).read_to_end(&mut bytes);
    let store = read.ok().and_then(|_| SessionStore::parse(&String::from_utf8_lossy(&bytes)).ok());
    store.is_some_and(|store| !store.sessions.is_empty() || name == STORE)
}

/// The session file of a sidecar: by the sidecar's name, else by its first
/// event. Returns the candidate that exists, else the first.
fn session_of(
    (parent, name): (&Path, &str),
    event: Option<&RuntimeRow<'_>>,
    head: &str,
    host: &Host,
) -> Option<PathBuf> {
    let mut files = Vec::new();
    if let Some(stem) = name.strip_suffix(SIDECAR) {
        files.extend([format!("{stem}.jsonl"), stem.to_owned()].map(|file| parent.join(file)));
    }
    if let Some(event) = event.filter(|event| is_safe_id(event.session_id())) {
        let file = format!("{}.jsonl", event.session_id());
        // In a separate sidecar directory, a sidecar has its session's file name.
        files.extend((file != name).then(|| parent.join(&file)));
        let key = event.as_json().get("sessionKey").and_then(Json::as_str).unwrap_or_default();
        let store =
            host.facts.agents_root().map(|state| default_store_path(&state, agent_of_key(key)));
        files.extend(store.map(|store| Path::new(&store).with_file_name(&file)));
        let stated = head.lines().next().and_then(|line| stated_session_file(line.as_bytes()));
        files.extend(stated.map(PathBuf::from).filter(|file| file.is_absolute()));
    }
    let is_there = |file: &&PathBuf| {
        host.folder_of(file).is_ok_and(|(folder, name)| {
            folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_file())
        })
    };
    files.iter().find(is_there).or(files.first()).cloned()
}

fn unknown_session(sidecar: &Path) -> CommandError {
    CommandError::usage(format!("{} is a sidecar that names no session file", sidecar.display()))
        .hint("`traj export --session FILE --runtime SIDECAR` exports both")
}
