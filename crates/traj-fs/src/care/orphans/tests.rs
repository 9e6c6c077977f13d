//! Tests of inspecting and removing, and of changes in between.
#![expect(clippy::disallowed_methods, reason = "tests use their own temporary directories")]

use std::fs;
use std::os::unix::fs::symlink;

use cap_std::ambient_authority;
use tempfile::TempDir;
use traj_core::timestamp::UnixMillis;

use super::*;

fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

/// A temporary directory whose path contains no link.
fn home() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().canonicalize().unwrap();
    for folder in ["sessions", "sidecars"] {
        fs::create_dir(path.join(folder)).unwrap();
    }
    (home, path)
}

fn orphans(path: &Path) -> FsOrphans {
    let sessions = path.join("sessions");
    FsOrphans::read(open(Path::new("/")), open(&sessions), sessions).unwrap()
}

fn event(session: &str, file: &Path) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"session.started","ts":"2026-06-01T10:00:00Z","seq":1,"sessionId":"{session}","data":{{"sessionFile":"{}"}}}}"#,
        file.display()
    ) + "\n"
}

fn shown(found: &FoundOrphans) -> Vec<(&str, ArtefactKind, &Proof)> {
    let groups = found.gone.iter();
    groups
        .flat_map(|orphans| orphans.artefacts.iter().map(|one| (orphans.stem.as_str(), one)))
        .map(|(stem, artefact)| (stem, artefact.kind, &artefact.proof))
        .collect()
}

#[test]
fn orphans_come_with_their_proof_and_live_files_with_their_size() {
    let (_home, path) = home();
    let sessions = path.join("sessions");
    fs::write(sessions.join("here.jsonl"), "").unwrap();
    fs::write(sessions.join("here.trajectory.jsonl"), "12345").unwrap();
    fs::write(sessions.join("gone.trajectory.jsonl"), event("gone", &path)).unwrap();
    fs::write(sessions.join("listed.trajectory.jsonl"), "123").unwrap();
    symlink("here.jsonl", sessions.join("link.trajectory.jsonl")).unwrap();
    let stray = event("stray", &sessions.join("2026_stray.jsonl"));
    fs::write(path.join("sidecars/stray.jsonl"), stray).unwrap();
    let listed = BTreeSet::from(["listed".to_owned()]);
    let orphans = orphans(&path);
    assert!(orphans.has("here.jsonl") && !orphans.has("sessions.json"));
    let without = orphans.look(&listed).unwrap();
    assert_eq!(without.live_bytes, 8);
    let beside = [
        ("gone", ArtefactKind::Sidecar, &Proof::FirstEvent),
        ("link", ArtefactKind::Sidecar, &Proof::NotPlain),
    ];
    assert_eq!(shown(&without), beside);
    let sidecars = path.join("sidecars");
    let with = orphans.with_sidecars(open(&sidecars), sidecars).look(&listed).unwrap();
    let stray = ("2026_stray", ArtefactKind::RelocatedSidecar, &Proof::OwnFirstEvent);
    assert_eq!(shown(&with), [&[stray], &beside[..]].concat());
}

#[test]
fn a_file_replaced_after_its_inspection_stays() {
    let (_home, path) = home();
    let sidecar = path.join("sessions/gone.trajectory.jsonl");
    fs::write(&sidecar, event("gone", &path)).unwrap();
    let orphans = orphans(&path);
    let found = orphans.look(&BTreeSet::new()).unwrap();
    let artefact = &found.gone[0].artefacts[0];
    // A session with that name replaced it; then a link, then a second hard
    // link.
    fs::write(&sidecar, "{\"type\":\"session\"}\n").unwrap();
    assert_eq!(orphans.remove(artefact).unwrap_err().refusal(), Some(Refusal::Swapped));
    fs::rename(&sidecar, path.join("aside")).unwrap();
    symlink("../aside", &sidecar).unwrap();
    assert_eq!(orphans.remove(artefact).unwrap_err().refusal(), Some(Refusal::Symlink));
    fs::remove_file(&sidecar).unwrap();
    fs::write(&sidecar, event("gone", &path)).unwrap();
    fs::hard_link(&sidecar, path.join("second")).unwrap();
    assert_eq!(orphans.remove(artefact).unwrap_err().refusal(), Some(Refusal::HardLink));
    fs::remove_file(path.join("second")).unwrap();
    orphans.remove(artefact).unwrap();
    assert!(orphans.remove(artefact).unwrap_err().is_not_found());
}

#[test]
fn a_place_outside_the_search_is_refused() {
    let (_home, path) = home();
    fs::write(path.join("victim"), "untouched").unwrap();
    let orphans = orphans(&path);
    let made_up = |kind, place: &str| {
        Artefact::new(kind, place, 0, UnixMillis::default(), Proof::OwnFirstEvent)
            .owned_by("victim")
    };
    for (kind, place) in [
        (ArtefactKind::Binding, "../victim"),
        (ArtefactKind::Blobs, ".."),
        (ArtefactKind::RelocatedSidecar, "/"),
        (ArtefactKind::RelocatedSidecar, &*path.join("victim").to_string_lossy()),
        (ArtefactKind::RelocatedBlobs, &*path.join("sessions/../victim").to_string_lossy()),
    ] {
        let refused = orphans.remove(&made_up(kind, place)).unwrap_err();
        assert!(refused.refusal().is_some(), "{place}: {refused}");
    }
    assert_eq!(fs::read_to_string(path.join("victim")).unwrap(), "untouched");
}
