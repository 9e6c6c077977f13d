//! Which artefacts are removed, which are kept, and why.

use super::{Artefact, ArtefactKind, Orphans, Proof};
use crate::timestamp::UnixMillis;

/// Limits on what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrunePolicy {
    /// A session's artefacts are removed if none of them has changed since then.
    pub before: UnixMillis,
    /// At most this many vanished sessions keep their artefacts.
    pub max_entries: Option<u64>,
    /// All artefacts together may take at most this many bytes.
    pub max_bytes: Option<u64>,
}

impl PrunePolicy {
    /// A policy.
    #[must_use]
    pub const fn new(before: UnixMillis, max_entries: Option<u64>, max_bytes: Option<u64>) -> Self {
        Self { before, max_entries, max_bytes }
    }
}

/// Why an artefact is removed or kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PruneReason {
    /// Removed: the session is gone and the artefact is old.
    Old,
    /// Removed: too many vanished sessions have artefacts.
    TooMany,
    /// Removed: the artefacts take too much space.
    TooMuch,
    /// Kept: not old enough.
    Recent,
    /// Kept: nothing proves that it belongs to the session.
    Unproven,
    /// Kept: its session may exist in another directory.
    Elsewhere,
    /// Kept: a link, a file with several names, or not a regular file.
    NotPlain,
}

impl PruneReason {
    /// Whether the artefact is removed.
    #[must_use]
    pub const fn removes(self) -> bool {
        matches!(self, Self::Old | Self::TooMany | Self::TooMuch)
    }

    /// The code for scripts.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::TooMany => "too-many",
            Self::TooMuch => "too-much",
            Self::Recent => "recent",
            Self::Unproven => "unproven",
            Self::Elsewhere => "elsewhere",
            Self::NotPlain => "not-plain",
        }
    }

    /// An explanation for people.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Old => "its session is gone and it is old",
            Self::TooMany => "its session is gone and newer files use up the allowed number",
            Self::TooMuch => "its session is gone and the budget is used up",
            Self::Recent => "its session is gone, but it is not old enough",
            Self::Unproven => "it does not prove that it belongs to the session",
            Self::Elsewhere => {
                "nothing proves that its session was in this directory; it may exist in another"
            }
            Self::NotPlain => "it is a link, has several names, or is not a regular file",
        }
    }
}

/// The decision about one artefact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PruneDecision {
    /// The stem of its session.
    pub stem: String,
    /// The artefact.
    pub artefact: Artefact,
    /// Why it is removed or kept.
    pub reason: PruneReason,
}

/// Decides about the artefacts of vanished sessions, oldest first. `live_bytes`
/// is the size of the artefacts of sessions that still exist.
#[must_use]
pub fn decide_prune(
    mut gone: Vec<Orphans>,
    live_bytes: u64,
    policy: PrunePolicy,
) -> Vec<PruneDecision> {
    gone.sort_by(|one, other| (one.modified(), &one.stem).cmp(&(other.modified(), &other.stem)));
    let mut left = gone.len() as u64;
    let mut bytes = live_bytes + gone.iter().map(Orphans::bytes).sum::<u64>();
    let mut decisions = Vec::new();
    for orphans in gone {
        let reason = if orphans.modified() < policy.before {
            PruneReason::Old
        } else if policy.max_entries.is_some_and(|most| left > most) {
            PruneReason::TooMany
        } else if policy.max_bytes.is_some_and(|most| bytes > most) {
            PruneReason::TooMuch
        } else {
            PruneReason::Recent
        };
        if reason.removes() {
            left -= 1;
        }
        for artefact in orphans.artefacts {
            let reason = reason_for(&artefact, reason);
            if reason.removes() {
                bytes = bytes.saturating_sub(artefact.bytes);
            }
            decisions.push(PruneDecision { stem: orphans.stem.clone(), artefact, reason });
        }
    }
    decisions
}

fn reason_for(artefact: &Artefact, reason: PruneReason) -> PruneReason {
    let is_proven = match (artefact.kind, &artefact.proof) {
        (_, Proof::NotPlain) => return PruneReason::NotPlain,
        (_, Proof::Elsewhere) => return PruneReason::Elsewhere,
        (_, Proof::Unreadable | Proof::NotASidecar) => false,
        (ArtefactKind::RelocatedSidecar | ArtefactKind::RelocatedBlobs, proof) => {
            *proof == Proof::OwnFirstEvent
        }
        (ArtefactKind::Sidecar, Proof::FirstEvent | Proof::Empty) => true,
        (ArtefactKind::Sidecar, _) => false,
        _ => true,
    };
    if is_proven { reason } else { PruneReason::Unproven }
}
