//! Prune: what may be removed because its session is gone, and why.
//!
//! Only files that traj and its recorders make are ever considered, told by
//! their names: sidecars, pointers, folders of blobs, bindings, and the queue
//! and journal of trims. A sidecar must also begin like one, because a session
//! may be called anything. One that a pointer names elsewhere goes only if it
//! carries the session's own name and its first event states the session's id:
//! a pointer is a claim, not a proof. The same holds in the folder of sidecars,
//! if there is one: what lies there without a pointer goes if its first event
//! states a session of this folder of sessions, and that one is gone.

mod artefact;
mod decide;
mod proof;
mod stray;

pub use artefact::{Artefact, ArtefactKind, Orphans, classify, has_session, listed_names, orphans};
pub use decide::{Decision, PrunePolicy, Reason, decide};
pub use proof::{Proof, relocated_target};
pub use stray::StrayOwner;

#[cfg(test)]
mod tests;
