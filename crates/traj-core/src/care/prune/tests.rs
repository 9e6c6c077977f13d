//! Prune decides by names and proofs only.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::care::session_store::SessionStore;
use crate::id::SessionId;
use crate::timestamp::UnixMillis;

fn at(day: i64) -> UnixMillis {
    UnixMillis::new(day * 86_400_000).unwrap()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn group(stem: &str, day: i64, bytes: u64) -> Orphans {
    let place = format!("{stem}.trajectory.jsonl");
    let artefact = Artefact::new(ArtefactKind::Sidecar, place, bytes, at(day), Proof::FirstEvent);
    Orphans { stem: stem.to_owned(), artefacts: vec![artefact] }
}

#[test]
fn only_our_files_of_vanished_sessions_are_considered() {
    let names = names(&[
        "sessions.json",
        "a.jsonl",
        "a.trajectory.jsonl",
        "b.trajectory.jsonl",
        "b.trajectory.blobs",
        "b.trajectory-path.json",
        "b.codex-binding.json",
        "b.jsonl.codex-turn.lock",
        "c.trajectory.jsonl",
        "d.jsonl.deleted.2026",
        "d.trajectory.jsonl",
        "notes.txt",
        "e.trajectory.trajectory.jsonl",
        "e.trajectory.jsonl",
    ]);
    let listed: BTreeSet<String> = ["c".to_owned()].into();
    let found = orphans(&names, &listed);
    let stems: Vec<&str> = found.keys().copied().collect();
    // `e.trajectory.jsonl` may itself be a session: its sidecar is not an orphan.
    assert_eq!(stems, ["b", "e"]);
    assert_eq!(found["b"].len(), 5);
}

#[test]
fn a_relocated_sidecar_needs_proof_and_links_stay() {
    let relocated = |proof: Proof| {
        let artefact =
            Artefact::new(ArtefactKind::RelocatedSidecar, "/t/s1.jsonl", 1, at(0), proof);
        let orphans = Orphans { stem: "s1".to_owned(), artefacts: vec![artefact] };
        decide_prune(vec![orphans], 0, PrunePolicy::new(at(9), None, None)).swap_remove(0).reason
    };
    assert_eq!(relocated(Proof::OwnFirstEvent), PruneReason::Old);
    for proof in
        [Proof::FirstEvent, Proof::ByName, Proof::Empty, Proof::NotASidecar, Proof::Unreadable]
    {
        assert_eq!(relocated(proof), PruneReason::Unproven);
    }
    assert_eq!(relocated(Proof::NotPlain), PruneReason::NotPlain);
    assert_eq!(
        Proof::of_first_line(br#"{"type":"session","version":3,"id":"s1"}"#),
        Proof::NotASidecar
    );
}

#[test]
fn budgets_take_the_oldest_first() {
    let gone = || vec![group("new", 8, 10), group("old", 6, 10), group("mid", 7, 10)];
    let removes = |policy: PrunePolicy, live: u64| -> Vec<String> {
        decide_prune(gone(), live, policy)
            .into_iter()
            .filter(|decision| decision.reason.removes())
            .map(|decision| decision.stem)
            .collect()
    };
    assert!(removes(PrunePolicy::new(at(0), None, None), 0).is_empty());
    assert_eq!(removes(PrunePolicy::new(at(7), None, None), 0), ["old"]);
    assert_eq!(removes(PrunePolicy::new(at(0), Some(1), None), 0), ["old", "mid"]);
    assert_eq!(removes(PrunePolicy::new(at(0), None, Some(25)), 0), ["old"]);
    assert_eq!(removes(PrunePolicy::new(at(0), None, Some(25)), 100), ["old", "mid", "new"]);
}

#[test]
fn the_first_event_must_state_the_session() {
    let event = |session: &str| {
        format!(
            r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"x","ts":"2026-06-01T10:00:00Z","seq":1,"sessionId":"{session}"}}"#
        )
    };
    assert_eq!(Proof::of_relocated(event("s1").as_bytes(), "s1"), Proof::OwnFirstEvent);
    assert_eq!(Proof::of_relocated(event("s2").as_bytes(), "s1"), Proof::NotASidecar);
    assert_eq!(Proof::of_relocated(b"", "s1"), Proof::NotASidecar);
}

fn started(session: &str, data: &str) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"session.started","ts":"2026-06-01T10:00:00Z","seq":1,"sessionId":"{session}","data":{data}}}"#
    )
}

#[test]
fn the_first_event_names_the_owner_of_a_stray_sidecar() {
    let owner = |line: &str, name: &str| StrayOwner::of_first_line(line.as_bytes(), name, "/s/");
    let here = started("s1", r#"{"sessionFile":"/s/2026_s1.jsonl"}"#);
    let ours = owner(&here, "s1.jsonl").unwrap();
    assert_eq!((ours.session_id.as_str(), ours.stem.as_deref()), ("s1", Some("2026_s1")));
    let facts = started("s1", r#"{"harness":{"sessionFile":"/s/s1.jsonl"}}"#);
    assert_eq!(owner(&facts, "s1.jsonl").unwrap().stem.as_deref(), Some("s1"));
    assert_eq!(owner(&started("s1", "{}"), "s1.jsonl").unwrap().stem, None);
    for (line, name) in [
        (here.as_str(), "s2.jsonl"),
        (here.as_str(), "s1.trajectory.jsonl"),
        (&started("s1", r#"{"sessionFile":"/other/s1.jsonl"}"#), "s1.jsonl"),
        (&started("s1", r#"{"sessionFile":"/s/sub/s1.jsonl"}"#), "s1.jsonl"),
        (&started("s1", r#"{"sessionFile":"/s/../s1.jsonl"}"#), "s1.jsonl"),
        (&started("s1", r#"{"sessionFile":"/s/.jsonl"}"#), "s1.jsonl"),
        (r#"{"type":"session","version":3,"id":"s1"}"#, "s1.jsonl"),
        ("", "s1.jsonl"),
    ] {
        assert_eq!(owner(line, name), None, "{line} {name}");
    }
}

#[test]
fn a_stray_is_gone_when_neither_folder_nor_store_knows_its_session() {
    let listed = |store: &str| listed_names(&SessionStore::parse(store).unwrap());
    let owner = |data: &str| {
        StrayOwner::of_first_line(started("s1", data).as_bytes(), "s1.jsonl", "/s").unwrap()
    };
    let named = owner(r#"{"sessionFile":"/s/2026_s1.jsonl"}"#);
    assert!(named.is_gone(&names(&["s1.jsonl", "sessions.json"]), &listed("{}")));
    assert!(!named.is_gone(&names(&["2026_s1.jsonl.deleted.1"]), &listed("{}")));
    assert!(!named.is_gone(&[], &listed(r#"{"k":{"sessionId":"s1"}}"#)));
    let by_file = r#"{"k":{"sessionId":"x","sessionFile":"/s/2026_s1.jsonl"}}"#;
    assert!(!named.is_gone(&[], &listed(by_file)));
    assert_eq!(named.proven(Proof::OwnFirstEvent), Proof::OwnFirstEvent);
    // Without a stated session file the id decides, and the proof is weakened.
    let unnamed = owner("{}");
    assert!(!unnamed.is_gone(&names(&["s1.jsonl"]), &listed("{}")));
    assert!(unnamed.is_gone(&[], &listed("{}")));
    assert_eq!(unnamed.proven(Proof::OwnFirstEvent), Proof::FirstEvent);
}

proptest! {
    #[test]
    fn a_stray_sidecar_never_belongs_to_another_folder_or_another_name(
        session in "[a-z0-9._-]{1,8}",
        name in "[a-z0-9._-]{1,8}",
        folder in "/[a-z]{1,2}(/[a-z.]{1,2}){0,2}",
        sessions in "/[a-z]{1,2}(/[a-z]{1,2}){0,2}",
    ) {
        let line = started(&session, &format!(r#"{{"sessionFile":"{folder}/x.jsonl"}}"#));
        let file = format!("{name}.jsonl");
        if let Some(owner) = StrayOwner::of_first_line(line.as_bytes(), &file, &sessions) {
            prop_assert_eq!(&owner.session_id, &session);
            prop_assert_eq!(folder, sessions);
            let id = SessionId::parse(session.as_str()).unwrap();
            prop_assert!(crate::location::sidecar_candidates_in_folder(&id).contains(&file));
        }
    }

    #[test]
    fn removed_artefacts_are_proven_and_nothing_older_stays(
        days in proptest::collection::vec((0_i64..9, 0_usize..7, 0_usize..8), 0..8),
        before in 0_i64..9,
        entries in proptest::option::of(0_u64..6),
        bytes in proptest::option::of(0_u64..60),
    ) {
        let proofs = [
            Proof::ByName, Proof::FirstEvent, Proof::OwnFirstEvent, Proof::Empty, Proof::NotASidecar,
            Proof::NotPlain, Proof::Unreadable,
        ];
        let kinds = [
            ArtefactKind::Sidecar, ArtefactKind::Pointer, ArtefactKind::Blobs, ArtefactKind::Binding,
            ArtefactKind::TrimQueue, ArtefactKind::TrimJournal, ArtefactKind::RelocatedSidecar,
            ArtefactKind::RelocatedBlobs,
        ];
        let gone: Vec<Orphans> = days.iter().enumerate().map(|(index, (day, proof, kind))| {
            let artefact = Artefact::new(kinds[*kind], "x", 10, at(*day), proofs[*proof].clone());
            Orphans { stem: index.to_string(), artefacts: vec![artefact] }
        }).collect();
        let decisions = decide_prune(gone, 0, PrunePolicy::new(at(before), entries, bytes));
        prop_assert_eq!(decisions.len(), days.len());
        let mut youngest_gone = None;
        for decision in &decisions {
            let Artefact { kind, proof, modified, .. } = &decision.artefact;
            if decision.reason.removes() {
                youngest_gone = Some(*modified);
                prop_assert!(!matches!(proof, Proof::NotPlain | Proof::Unreadable | Proof::NotASidecar));
                if matches!(kind, ArtefactKind::RelocatedSidecar | ArtefactKind::RelocatedBlobs) {
                    prop_assert_eq!(proof, &Proof::OwnFirstEvent);
                }
            }
            if decision.reason == PruneReason::Recent {
                prop_assert!(*modified >= at(before));
            }
        }
        // Oldest first: nothing kept as recent is older than a removed artefact.
        let stays = decisions.iter().filter(|decision| decision.reason == PruneReason::Recent);
        for decision in stays {
            prop_assert!(youngest_gone.is_none_or(|gone| gone <= decision.artefact.modified));
        }
    }

    #[test]
    fn artefacts_of_existing_sessions_are_never_considered(
        stems in proptest::collection::vec("[a-c.]{1,4}", 1..6),
        kinds in proptest::collection::vec(0_usize..5, 1..12),
    ) {
        let suffixes = [".jsonl", ".trajectory.jsonl", ".trajectory-path.json", ".trajectory.blobs", ".json"];
        let names: Vec<String> = kinds
            .iter()
            .enumerate()
            .map(|(index, kind)| format!("{}{}", stems[index % stems.len()], suffixes[*kind]))
            .collect();
        for (stem, artefacts) in orphans(&names, &BTreeSet::new()) {
            let file = format!("{stem}.jsonl");
            let is_session = names.contains(&file) && classify(&file).is_none();
            prop_assert!(!is_session, "{} is there", file);
            for (_, name) in artefacts {
                prop_assert!(name.starts_with(stem) && classify(name).is_some());
            }
        }
    }
}
