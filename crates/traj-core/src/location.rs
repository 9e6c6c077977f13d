//! Where the files of a session lie, by name: sidecar, pointer, blobs.
//!
//! Everything here is about names beside a session file or inside a folder of
//! sidecars; which folder that is and how it is opened is the adapter's matter.

use crate::id::{FileStem, SessionId};
use crate::json::{Json, Object};

/// Marks a pointer file.
pub const POINTER_SCHEMA: &str = "openclaw-trajectory-pointer";

/// The sidecar beside a session file.
#[must_use]
pub fn sidecar_beside(session_file: &str) -> String {
    format!("{}.trajectory.jsonl", stem_of(session_file))
}

/// The pointer beside a session file.
#[must_use]
pub fn pointer_beside(session_file: &str) -> String {
    format!("{}.trajectory-path.json", stem_of(session_file))
}

/// The folder of blobs beside a sidecar.
#[must_use]
pub fn blobs_beside(sidecar_file: &str) -> String {
    format!("{}.blobs", stem_of(sidecar_file))
}

/// The sidecar of a session in a folder of its own: the name we write.
#[must_use]
pub fn sidecar_in_folder(session: &SessionId) -> String {
    format!("{}.jsonl", FileStem::of(session).as_str())
}

/// The sidecar of a session in a folder of its own, under every name it may
/// have: ours first, then the one other recorders use.
#[must_use]
pub fn sidecar_candidates_in_folder(session: &SessionId) -> Vec<String> {
    let ours = sidecar_in_folder(session);
    let legacy = format!("{}.jsonl", FileStem::legacy(session).as_str());
    if legacy == ours { vec![ours] } else { vec![ours, legacy] }
}

/// Where the sidecar of a session may lie, as absolute paths in the order in
/// which to look: where its pointer leads, beside it, in the folder of
/// sidecars.
#[must_use]
pub fn sidecar_search(
    session: &SessionId,
    session_file: &str,
    pointer: Option<&Pointer>,
    trajectory_dir: Option<&str>,
) -> Vec<String> {
    let beside = sidecar_beside(session_file);
    let mut places = Vec::new();
    if let Some(pointer) = pointer {
        let target = if pointer.runtime_file.starts_with('/') {
            pointer.runtime_file.clone()
        } else {
            let folder = session_file.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{}", pointer.runtime_file)
        };
        if pointer.leads_to(session, &target, &beside) {
            places.push(target);
        }
    }
    places.push(beside);
    if let Some(folder) = trajectory_dir {
        let names = sidecar_candidates_in_folder(session);
        places.extend(names.into_iter().map(|name| format!("{folder}/{name}")));
    }
    places
}

fn stem_of(file: &str) -> &str {
    file.strip_suffix(".jsonl").unwrap_or(file)
}

/// What a pointer file says: the sidecar of this session lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pointer {
    /// The session it belongs to.
    pub session_id: String,
    /// The path of the sidecar.
    pub runtime_file: String,
    /// Whether schema and version are those we know. Readers of old files do
    /// without; whoever deletes on a pointer's word must insist.
    pub is_marked: bool,
}

impl Pointer {
    /// A pointer of our making.
    #[must_use]
    pub fn new(session: &SessionId, runtime_file: impl Into<String>) -> Self {
        let session_id = session.as_str().to_owned();
        Self { session_id, runtime_file: runtime_file.into(), is_marked: true }
    }

    /// Reads a pointer file; `None` when it is not one.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let value = Json::parse_lossy(bytes).ok()?;
        let text = |name| value.get(name).and_then(Json::as_str).map(str::to_owned);
        let is_marked = text("traceSchema").as_deref() == Some(POINTER_SCHEMA)
            && value.get("schemaVersion").and_then(Json::as_f64) == Some(1.0);
        let runtime_file = text("runtimeFile").filter(|path| !path.trim().is_empty())?;
        Some(Self { session_id: text("sessionId")?, runtime_file, is_marked })
    }

    /// The file's content.
    #[must_use]
    pub fn to_file(&self) -> String {
        let mut object = Object::with_capacity(4);
        object.push("traceSchema", POINTER_SCHEMA);
        object.push("schemaVersion", 1_u64);
        object.push("sessionId", self.session_id.as_str());
        object.push("runtimeFile", self.runtime_file.as_str());
        format!("{}\n", Json::Object(object).to_pretty())
    }

    /// Whether this pointer may be followed for `session`: it names the session
    /// and its target is the default sidecar (as an absolute path) or carries
    /// the session's own file name.
    #[must_use]
    pub fn leads_to(
        &self,
        session: &SessionId,
        absolute_target: &str,
        default_sidecar: &str,
    ) -> bool {
        let base_name = absolute_target.rsplit(['/', '\\']).next().unwrap_or_default();
        self.session_id == session.as_str()
            && (absolute_target == default_sidecar
                || sidecar_candidates_in_folder(session).iter().any(|name| name == base_name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_beside_a_session() {
        assert_eq!(sidecar_beside("a/s.jsonl"), "a/s.trajectory.jsonl");
        assert_eq!(sidecar_beside("a/s"), "a/s.trajectory.jsonl");
        assert_eq!(pointer_beside("s.jsonl"), "s.trajectory-path.json");
        assert_eq!(blobs_beside("s.trajectory.jsonl"), "s.trajectory.blobs");
    }

    #[test]
    fn old_names_are_still_found() {
        let session = SessionId::parse("a/b").unwrap();
        let names = sidecar_candidates_in_folder(&session);
        assert_eq!((names.len(), names[1].as_str()), (2, "a_b.jsonl"));
    }

    #[test]
    fn a_pointer_reads_back_and_leads_only_to_its_session() {
        let session = SessionId::parse("s1").unwrap();
        let pointer = Pointer::new(&session, "/t/s1.jsonl");
        insta::assert_snapshot!(pointer.to_file(), @r#"
        {
          "traceSchema": "openclaw-trajectory-pointer",
          "schemaVersion": 1,
          "sessionId": "s1",
          "runtimeFile": "/t/s1.jsonl"
        }
        "#);
        assert_eq!(Pointer::parse(pointer.to_file().as_bytes()), Some(pointer.clone()));
        assert!(pointer.leads_to(&session, "/t/s1.jsonl", "/s/s1.trajectory.jsonl"));
        assert!(!pointer.leads_to(&session, "/t/other.jsonl", "/s/s1.trajectory.jsonl"));
        let other = SessionId::parse("s2").unwrap();
        assert!(!pointer.leads_to(&other, "/t/s1.jsonl", "/t/s1.jsonl"));
    }

    #[test]
    fn a_sidecar_is_looked_for_where_it_may_be_ours() {
        let session = SessionId::parse("s1").unwrap();
        let honest = Pointer::new(&session, "/t/s1.jsonl");
        assert_eq!(
            sidecar_search(&session, "/s/x.jsonl", Some(&honest), Some("/d")),
            ["/t/s1.jsonl", "/s/x.trajectory.jsonl", "/d/s1.jsonl"]
        );
        let hostile = Pointer::new(&session, "/etc/passwd");
        let places = sidecar_search(&session, "/s/x.jsonl", Some(&hostile), None);
        assert_eq!(places, ["/s/x.trajectory.jsonl"]);
    }

    proptest! {
        #[test]
        fn any_pointer_reads_back(id in "(?s).{1,40}", path in "(?s)[^ ].{0,40}") {
            let pointer = Pointer::new(&SessionId::parse(id).unwrap(), path.clone());
            let read = Pointer::parse(pointer.to_file().as_bytes());
            prop_assert_eq!(read, (!path.trim().is_empty()).then_some(pointer));
        }

        #[test]
        fn any_bytes_can_be_read_as_a_pointer(bytes in any::<Vec<u8>>()) {
            prop_assert!(Pointer::parse(&bytes).is_none_or(|read| !read.runtime_file.is_empty()));
        }

        #[test]
        fn names_in_a_folder_stay_inside_and_apart(left in "(?s).{1,40}", right in "(?s).{1,40}") {
            let [one, other] = [&left, &right].map(|id| SessionId::parse(id.as_str()).unwrap());
            let names = sidecar_candidates_in_folder(&one);
            for name in names.iter().cloned().chain(names.iter().map(|name| blobs_beside(name))) {
                prop_assert!(!name.contains(['/', '\\', '\0']) && !name.starts_with('.'));
                prop_assert!(name.len() < 255);
            }
            prop_assert_eq!(&names[0], &sidecar_in_folder(&one));
            prop_assert_eq!(sidecar_in_folder(&one) == sidecar_in_folder(&other), left == right);
        }

        #[test]
        fn a_pointer_leads_only_to_its_own_session(
            mine in "[a-c/._]{1,6}",
            theirs in "[a-c/._]{1,6}",
            target in "[a-c/._]{1,12}",
        ) {
            let [one, other] = [&mine, &theirs].map(|id| SessionId::parse(id.as_str()).unwrap());
            let pointer = Pointer::new(&one, target.clone());
            if mine != theirs {
                prop_assert!(!pointer.leads_to(&other, &target, &target));
            }
            let written = format!("/any/{}", sidecar_in_folder(&one));
            prop_assert!(pointer.leads_to(&one, &written, "/default"));
            prop_assert!(pointer.leads_to(&one, &target, &target));
        }
    }
}
