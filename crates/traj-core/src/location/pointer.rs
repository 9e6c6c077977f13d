//! The pointer next to a session file: where its sidecar is.

use super::names::{sidecar_beside, sidecar_candidates_in_folder};
use super::path::{directory_of, join, name_of, normalise};
use crate::id::SessionId;
use crate::json::{Json, Object};

/// The schema name of a pointer file.
pub const POINTER_SCHEMA: &str = "openclaw-trajectory-pointer";

/// The content of a pointer file: where the session's sidecar is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pointer {
    /// The session it belongs to.
    pub session_id: String,
    /// The path of the sidecar, as written.
    pub runtime_file: String,
    /// The session file that it was written for. Other recorders omit this.
    pub session_file: Option<String>,
    /// Whether schema and version are the known ones. Readers accept old files
    /// without them; code that deletes because of a pointer must require them.
    pub is_marked: bool,
}

impl Pointer {
    /// A pointer in the form that traj writes.
    #[must_use]
    pub fn new(session: &SessionId, runtime_file: impl Into<String>) -> Self {
        let session_id = session.as_str().to_owned();
        let runtime_file = runtime_file.into();
        Self { session_id, runtime_file, session_file: None, is_marked: true }
    }

    /// Sets the session file that it is written for.
    #[must_use]
    pub fn written_for(mut self, session_file: impl Into<String>) -> Self {
        self.session_file = Some(session_file.into());
        self
    }

    /// Parses a pointer file; `None` if it is not one.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let value = Json::parse_lossy(bytes).ok()?;
        let text = |name| value.get(name).and_then(Json::as_str).map(str::to_owned);
        let is_marked = text("traceSchema").as_deref() == Some(POINTER_SCHEMA)
            && value.get("schemaVersion").and_then(Json::as_f64) == Some(1.0);
        let runtime_file = text("runtimeFile").filter(|path| !path.trim().is_empty())?;
        let session_file = text("sessionFile").filter(|path| !path.trim().is_empty());
        Some(Self { session_id: text("sessionId")?, runtime_file, session_file, is_marked })
    }

    /// The file's content.
    #[must_use]
    pub fn to_file(&self) -> String {
        let mut object = Object::with_capacity(5);
        object.push("traceSchema", POINTER_SCHEMA);
        object.push("schemaVersion", 1_u64);
        object.push("sessionId", self.session_id.as_str());
        object.push("runtimeFile", self.runtime_file.as_str());
        object.push_some("sessionFile", self.session_file.as_deref());
        format!("{}\n", Json::Object(object).to_pretty())
    }

    /// The path that the pointer next to `session_file` names. A relative path
    /// starts in the pointer's directory. `None` if it would leave the root or
    /// the base of a relative `session_file`.
    #[must_use]
    pub fn target(&self, session_file: &str) -> Option<String> {
        normalise(&join(directory_of(session_file), &self.runtime_file))
    }

    /// Whether the target may be the sidecar of `session`: it is the file next
    /// to the session file, or has a file name of the session. Both paths are
    /// absolute.
    pub(super) fn has_fitting_name(session: &SessionId, target: &str, session_file: &str) -> bool {
        target == sidecar_beside(session_file)
            || sidecar_candidates_in_folder(session).iter().any(|name| name == name_of(target))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pointer_round_trips() {
        let session = SessionId::parse("s1").unwrap();
        let pointer = Pointer::new(&session, "/t/s1.jsonl").written_for("/s/s1.jsonl");
        insta::assert_snapshot!(pointer.to_file(), @r#"
        {
          "traceSchema": "openclaw-trajectory-pointer",
          "schemaVersion": 1,
          "sessionId": "s1",
          "runtimeFile": "/t/s1.jsonl",
          "sessionFile": "/s/s1.jsonl"
        }
        "#);
        assert_eq!(Pointer::parse(pointer.to_file().as_bytes()), Some(pointer));
    }

    #[test]
    fn a_relative_target_starts_in_the_pointers_own_directory() {
        let session = SessionId::parse("s1").unwrap();
        let target = |runtime_file: &str, session_file: &str| {
            Pointer::new(&session, runtime_file).target(session_file)
        };
        assert_eq!(target("t/s1.jsonl", "/s/s1.jsonl").as_deref(), Some("/s/t/s1.jsonl"));
        assert_eq!(target("../t/s1.jsonl", "/s/s1.jsonl").as_deref(), Some("/t/s1.jsonl"));
        assert_eq!(target("/t/s1.jsonl", "/s/s1.jsonl").as_deref(), Some("/t/s1.jsonl"));
        assert_eq!(target("t/s1.jsonl", "s1.jsonl").as_deref(), Some("t/s1.jsonl"));
        assert_eq!(target("s1.jsonl", "/s1.jsonl").as_deref(), Some("/s1.jsonl"));
        assert_eq!(target("../s1.jsonl", "s1.jsonl"), None);
        assert_eq!(target("../../s1.jsonl", "/s/s1.jsonl"), None);
    }

    proptest! {
        #[test]
        fn any_pointer_round_trips(id in "(?s).{1,40}", path in "(?s)[^ ].{0,40}") {
            let pointer = Pointer::new(&SessionId::parse(id).unwrap(), path.clone());
            let read = Pointer::parse(pointer.to_file().as_bytes());
            prop_assert_eq!(read, (!path.trim().is_empty()).then_some(pointer));
        }

        #[test]
        fn any_bytes_can_be_read_as_a_pointer(bytes in any::<Vec<u8>>()) {
            prop_assert!(Pointer::parse(&bytes).is_none_or(|read| !read.runtime_file.is_empty()));
        }
    }
}
