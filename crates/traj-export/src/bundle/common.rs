//! The first members of every JSON file of a bundle.

use traj_core::event::{SCHEMA_VERSION, TRACE_SCHEMA};
use traj_core::json::Object;
use traj_core::timestamp::UnixMillis;

/// The values that all files share.
#[derive(Clone, Debug)]
pub(crate) struct CommonMembers {
    pub(crate) session_id: String,
    pub(crate) session_key: Option<String>,
    pub(crate) workspace_dir: String,
    pub(crate) now: UnixMillis,
}

impl CommonMembers {
    /// The first members of a file.
    pub(crate) fn members(&self) -> Object<'_> {
        let mut object = Object::with_capacity(24);
        object.push("traceSchema", TRACE_SCHEMA);
        object.push("schemaVersion", SCHEMA_VERSION);
        object.push("generatedAt", self.now.to_iso());
        object.push("traceId", self.session_id.as_str());
        object.push("sessionId", self.session_id.as_str());
        object.push_some("sessionKey", self.session_key.as_deref());
        object
    }
}
