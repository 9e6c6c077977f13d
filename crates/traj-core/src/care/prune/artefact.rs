//! Which files belong to which session.

use std::collections::{BTreeMap, BTreeSet};

use super::Proof;
use crate::care::session_store::SessionStore;
use crate::timestamp::UnixMillis;

/// The kind of a file beside a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ArtefactKind {
    /// A trajectory sidecar.
    Sidecar,
    /// A pointer to a sidecar.
    Pointer,
    /// A blob directory.
    Blobs,
    /// A binding to a Codex thread.
    Binding,
    /// Trims that wait in the queue.
    TrimQueue,
    /// Trims that can be undone.
    TrimJournal,
    /// A sidecar elsewhere: where a pointer names it, or in the sidecar
    /// directory.
    RelocatedSidecar,
    /// The blobs of such a sidecar.
    RelocatedBlobs,
}

impl ArtefactKind {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sidecar => "sidecar",
            Self::Pointer => "pointer",
            Self::Blobs => "blobs",
            Self::Binding => "binding",
            Self::TrimQueue => "trim-queue",
            Self::TrimJournal => "trim-journal",
            Self::RelocatedSidecar => "relocated-sidecar",
            Self::RelocatedBlobs => "relocated-blobs",
        }
    }
}

/// Artefacts by the end of their file name.
const SUFFIXES: [(&str, ArtefactKind); 11] = [
    (".trajectory.jsonl", ArtefactKind::Sidecar),
    (".trajectory-path.json", ArtefactKind::Pointer),
    (".trajectory.blobs", ArtefactKind::Blobs),
    (".jsonl.codex-binding.json", ArtefactKind::Binding),
    (".codex-binding.json", ArtefactKind::Binding),
    // Left by a killed turn.
    (".jsonl.codex-turn.lock", ArtefactKind::Binding),
    (".codex-turn.lock", ArtefactKind::Binding),
    (".jsonl.codex-app-server.json", ArtefactKind::Binding),
    (".codex-app-server.json", ArtefactKind::Binding),
    (".trim-queue.jsonl", ArtefactKind::TrimQueue),
    (".trim-undo.jsonl", ArtefactKind::TrimJournal),
];

/// The kind of a file with this name, and the stem of its session's file; `None`
/// for files that are not ours.
#[must_use]
pub fn classify(name: &str) -> Option<(ArtefactKind, &str)> {
    SUFFIXES.iter().find_map(|(suffix, kind)| {
        name.strip_suffix(suffix).filter(|stem| !stem.is_empty()).map(|stem| (*kind, stem))
    })
}

/// A file or blob directory that may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artefact {
    /// Its kind.
    pub kind: ArtefactKind,
    /// Its name in the session directory, or its absolute path elsewhere.
    pub place: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it last changed.
    pub modified: UnixMillis,
    /// The result of examining it.
    pub proof: Proof,
    /// For a sidecar elsewhere: the session id that its first event must state.
    pub owner: Option<String>,
}

impl Artefact {
    /// An artefact as found.
    #[must_use]
    pub fn new(
        kind: ArtefactKind,
        place: impl Into<String>,
        bytes: u64,
        modified: UnixMillis,
        proof: Proof,
    ) -> Self {
        Self { kind, place: place.into(), bytes, modified, proof, owner: None }
    }

    /// The same artefact, owned by the session with this id.
    #[must_use]
    pub fn owned_by(mut self, session_id: &str) -> Self {
        self.owner = Some(session_id.to_owned());
        self
    }

    /// Whether the file, now opened for removal, still proves what it proved when
    /// it was examined.
    #[must_use]
    pub fn is_proven_by(&self, first_line: &[u8]) -> bool {
        match (self.kind, &self.owner) {
            (ArtefactKind::RelocatedSidecar, Some(owner)) => {
                Proof::of_relocated(first_line, owner) == Proof::OwnFirstEvent
            }
            (ArtefactKind::RelocatedSidecar, None) => false,
            (ArtefactKind::Sidecar, _) => Proof::of_first_line(first_line) == self.proof,
            _ => true,
        }
    }
}

/// The artefacts of one vanished session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Orphans {
    /// The stem of the session's file name.
    pub stem: String,
    /// Its remaining artefacts.
    pub artefacts: Vec<Artefact>,
}

impl Orphans {
    /// The remaining artefacts of the session whose file has this stem.
    #[must_use]
    pub fn new(stem: impl Into<String>, artefacts: Vec<Artefact>) -> Self {
        Self { stem: stem.into(), artefacts }
    }

    /// When any of its artefacts last changed.
    #[must_use]
    pub fn modified(&self) -> UnixMillis {
        self.artefacts.iter().map(|artefact| artefact.modified).max().unwrap_or_default()
    }

    /// The total size of its artefacts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.artefacts.iter().map(|artefact| artefact.bytes).sum()
    }
}

/// The names of the sessions in a store: their ids and the stems of their files.
#[must_use]
pub fn listed_names(store: &SessionStore) -> BTreeSet<String> {
    let mut listed = BTreeSet::new();
    for session in &store.sessions {
        let file = session.session_file.as_deref().and_then(|file| file.rsplit('/').next());
        listed.extend(file.map(|file| file.strip_suffix(".jsonl").unwrap_or(file).to_owned()));
        listed.insert(session.session_id.clone());
    }
    listed
}

/// Whether the directory contains the file of the session with this stem. Longer
/// names count too: hosts archive as `<id>.jsonl.<something>`.
#[must_use]
pub fn has_session(names: &[String], stem: &str) -> bool {
    let file = format!("{stem}.jsonl");
    names.iter().any(|name| {
        let is_file = name == stem || name.starts_with(&file);
        is_file && classify(name).is_none_or(|(_, owner)| owner != stem)
    })
}

/// The stems of vanished sessions, with the names of their remaining artefacts.
///
/// A session exists if its file does, or if the store still lists it.
#[must_use]
pub fn orphans<'a>(
    names: &'a [String],
    listed: &BTreeSet<String>,
) -> BTreeMap<&'a str, Vec<(ArtefactKind, &'a str)>> {
    let mut groups: BTreeMap<&str, Vec<(ArtefactKind, &str)>> = BTreeMap::new();
    for name in names {
        if let Some((kind, stem)) = classify(name) {
            groups.entry(stem).or_default().push((kind, name));
        }
    }
    groups.retain(|stem, _| !listed.contains(*stem) && !has_session(names, stem));
    groups
}
