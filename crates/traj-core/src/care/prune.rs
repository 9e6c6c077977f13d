//! Prune: what may be removed because its session is gone, and why.
//!
//! Only files that traj and its recorders make are ever considered, recognised by
//! their names: sidecars, pointers, directories of blobs, bindings, and the queue
//! and journal of trims. A sidecar must also begin like one, because a session
//! may be called anything. One that a pointer names elsewhere goes only if it
//! carries the session's own name, its first event states the session's id, and
//! the pointer or that event states that the session was in this directory: a
//! pointer is a claim, not a proof, and a copied one claims what belongs to a
//! session that exists elsewhere. The same holds in the directory of sidecars, if
//! there is one: a file there without a pointer is removed if its first event
//! states a session of this directory of sessions, and that one is gone.

mod artefact;
mod decide;
mod proof;
mod stray;

pub use artefact::{Artefact, ArtefactKind, Orphans, classify, has_session, listed_names, orphans};
pub use decide::{PruneDecision, PrunePolicy, PruneReason, decide_prune};
pub use proof::Proof;
pub use stray::{StrayOwner, stated_session_file};

#[cfg(test)]
mod tests;
