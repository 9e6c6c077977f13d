//! What a session that is bound to Codex keeps beside its file.
//!
//! - `binding_store`: which thread the session is bound to;
//! - `turn_leases`: one turn of a session at a time.

mod binding_store;
mod turn_leases;

pub use self::binding_store::{BINDING_SUFFIX, FsBindingStore};
pub use self::turn_leases::{FsTurnLeases, TURN_LOCK_SUFFIX};
