//! Where the files of a session are: their names, the pointer beside the
//! session, and the one search that says which sidecar is the session's.
//!
//! [`find_sidecar`] is the only place that answers "which sidecar is this
//! session's". Recorders, readers and everything that changes or removes files
//! ask it, so that they cannot disagree. It reads through the
//! [`Sources`](crate::port::Sources) port; how a directory is opened is the
//! adapter's matter. The rules are written down in `docs/format/pointer-v1.md`
//! and `docs/format/sidecar-v1.md`.

mod find;
mod head;
mod identity;
mod names;
mod path;
mod pointer;

pub use find::{
    FoundSidecar, Lead, Ownership, Refusal, RefusedSidecar, SidecarPlaces, SidecarSearch,
    find_sidecar,
};
pub use head::SidecarHead;
pub use identity::{SessionIdentity, StatedBy, identify, stated_by_transcript};
pub use names::{
    blobs_beside, pointer_beside, session_stem, sidecar_beside, sidecar_candidates_in_folder,
    sidecar_in_folder,
};
pub(crate) use path::normalise;
pub use pointer::{POINTER_SCHEMA, Pointer};

#[cfg(test)]
#[cfg(feature = "memory")]
mod tests;
