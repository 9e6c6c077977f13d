//! The pure domain of traj: events, redaction, limits, transcripts, bindings,
//! and the ports to storage and the app-server.
//!
//! Nothing here touches a file, a clock, the environment or a runtime. What the
//! domain needs of the world it asks for through the traits in `port`; what the
//! host knows about itself arrives as plain values.

pub mod binding;
pub mod capture;
pub mod event;
pub mod host;
pub mod id;
pub mod json;
pub mod limits;
pub mod location;
#[cfg(feature = "memory")]
pub mod memory;
pub mod port;
pub mod redaction;
pub mod rewrite;
pub mod session_store;
pub mod settings;
pub mod timestamp;
pub mod transcript;
pub mod trim;
