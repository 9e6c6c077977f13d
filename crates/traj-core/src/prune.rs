//! Prune: what may be removed because its session is gone, and why.
//!
//! Only files that traj and its recorders make are ever considered, told by
//! their names: sidecars, pointers, folders of blobs, bindings, and the queue
//! and journal of trims. A sidecar must also begin like one, because a session
//! may be called anything. One that a pointer names elsewhere goes only if it
//! carries the session's own name and its first event states the session's id:
//! a pointer is a claim, not a proof.

mod artefact;
mod decide;
mod proof;

pub use artefact::{Artefact, ArtefactKind, Orphans, classify, orphans};
pub use decide::{Decision, PrunePolicy, Reason, decide};
pub use proof::{Proof, relocated_target};

#[cfg(test)]
mod tests;
