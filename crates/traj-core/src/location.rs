//! Where the files of a session are: their names, the pointer next to the
//! session file, and the search for the session's sidecar.
//!
//! [`find_sidecar`] is the only code that decides which sidecar belongs to a
//! session. Recorders, readers and everything that changes or removes files use
//! it, so that they cannot disagree. It reads through the
//! [`Sources`](crate::port::Sources) port; opening directories is up to the
//! adapter. The rules are documented in `docs/format/pointer-v1.md` and
//! `docs/format/sidecar-v1.md`.

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
