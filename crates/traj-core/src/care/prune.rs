//! Prune: which files may be removed because their session is gone, and why.
//!
//! Only files that traj and its recorders write are considered. They are
//! recognised by name: sidecars, pointers, blob directories, bindings, and the
//! queue and journal of trims. A sidecar must also begin like one, because a
//! session may have any name.
//!
//! A sidecar elsewhere that a pointer names is removed only if it carries the
//! session's name, its first event states the session's id, and the pointer or
//! that event states that the session was in this directory. A pointer alone
//! proves nothing: a copied pointer names the sidecar of a session that exists
//! elsewhere. The same applies to the sidecar directory, if there is one: a file
//! there without a pointer is removed only if its first event states a session of
//! this session directory, and that session is gone.

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
