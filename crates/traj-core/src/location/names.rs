//! File names next to a session file and in a directory of sidecars.

use crate::id::{FileStem, SessionId};

/// The sidecar next to a session file.
#[must_use]
pub fn sidecar_beside(session_file: &str) -> String {
    format!("{}.trajectory.jsonl", without_suffix(session_file))
}

/// The pointer next to a session file.
#[must_use]
pub fn pointer_beside(session_file: &str) -> String {
    format!("{}.trajectory-path.json", without_suffix(session_file))
}

/// The blob directory next to a sidecar.
#[must_use]
pub fn blobs_beside(sidecar_file: &str) -> String {
    format!("{}.blobs", without_suffix(sidecar_file))
}

/// The name of a session file, without its directory and its final `.jsonl`.
#[must_use]
pub fn session_stem(session_file: &str) -> &str {
    without_suffix(session_file.rsplit('/').next().unwrap_or_default())
}

/// The file name under which traj writes a session's sidecar in a directory of
/// sidecars.
#[must_use]
pub fn sidecar_in_folder(session: &SessionId) -> String {
    format!("{}.jsonl", FileStem::of(session).as_str())
}

/// All file names that a session's sidecar may have in a directory of sidecars:
/// traj's own first, then the one of other recorders.
#[must_use]
pub fn sidecar_candidates_in_folder(session: &SessionId) -> Vec<String> {
    let ours = sidecar_in_folder(session);
    let legacy = format!("{}.jsonl", FileStem::legacy(session).as_str());
    if legacy == ours { vec![ours] } else { vec![ours, legacy] }
}

fn without_suffix(file: &str) -> &str {
    file.strip_suffix(".jsonl").unwrap_or(file)
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
        assert_eq!((session_stem("/a/s.jsonl"), session_stem("s")), ("s", "s"));
    }

    #[test]
    fn old_names_are_still_found() {
        let session = SessionId::parse("a/b").unwrap();
        let names = sidecar_candidates_in_folder(&session);
        assert_eq!((names.len(), names[1].as_str()), (2, "a_b.jsonl"));
    }

    proptest! {
        #[test]
        fn names_in_a_directory_stay_inside_and_apart(
            left in "(?s).{1,40}",
            right in "(?s).{1,40}",
        ) {
            let [one, other] = [&left, &right].map(|id| SessionId::parse(id.as_str()).unwrap());
            let names = sidecar_candidates_in_folder(&one);
            for name in names.iter().cloned().chain(names.iter().map(|name| blobs_beside(name))) {
                prop_assert!(!name.contains(['/', '\\', '\0']) && !name.starts_with('.'));
                prop_assert!(name.len() < 255);
            }
            prop_assert_eq!(&names[0], &sidecar_in_folder(&one));
            prop_assert_eq!(sidecar_in_folder(&one) == sidecar_in_folder(&other), left == right);
        }
    }
}
