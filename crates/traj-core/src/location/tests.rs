//! Tests of the search, with everything that may be in a sidecar's place.

use proptest::prelude::*;

use super::*;
use crate::id::SessionId;
use crate::memory::MemorySources;

const SESSION: &str = "/s/chat.jsonl";
const BESIDE: &str = "/s/chat.trajectory.jsonl";

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn event(session: &str) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"x","ts":"2026-06-01T10:00:00Z","seq":1,"sessionId":"{session}"}}"#
    ) + "\n"
}

fn point(sources: &MemorySources, session: &str, target: &str) {
    let pointer = Pointer::new(&id(session), target);
    sources.put("/s/chat.trajectory-path.json", pointer.to_file());
}

/// Where the sidecar of `session` is found, how, whether it is proven, and what
/// was refused.
fn search(sources: &MemorySources, session: &str) -> (Option<(String, Lead, bool)>, Vec<String>) {
    let places = SidecarPlaces::beside(SESSION).with_directory(Some("/d"));
    let search = find_sidecar(sources, &id(session), &places);
    let found = search.found;
    let refused = search.refused.iter().map(|one| format!("{:?} {:?}", one.lead, one.reason));
    (
        found.as_ref().map(|found| (found.file.clone(), found.lead, found.is_proven())),
        refused.collect(),
    )
}

fn found(sources: &MemorySources, session: &str) -> Option<(String, Lead, bool)> {
    search(sources, session).0
}

fn at(file: &str, lead: Lead, proven: bool) -> Option<(String, Lead, bool)> {
    Some((file.to_owned(), lead, proven))
}

#[test]
fn candidates_are_tried_in_order() {
    let sources = MemorySources::new();
    assert_eq!(found(&sources, "a/b"), None);
    sources.put("/d/a_b.jsonl", event("a/b"));
    assert_eq!(found(&sources, "a/b"), at("/d/a_b.jsonl", Lead::SharedName, true));
    let own = format!("/d/{}", sidecar_in_folder(&id("a/b")));
    sources.put(own.clone(), event("a/b"));
    assert_eq!(found(&sources, "a/b"), at(&own, Lead::OwnName, true));
    sources.put(BESIDE, event("a/b"));
    assert_eq!(found(&sources, "a/b"), at(BESIDE, Lead::Beside, true));
    point(&sources, "a/b", "/r/a_b.jsonl");
    sources.put("/r/a_b.jsonl", event("a/b"));
    assert_eq!(found(&sources, "a/b"), at("/r/a_b.jsonl", Lead::Pointer, true));
    let places = SidecarPlaces::beside(SESSION).with_named(Some("/n"));
    sources.put("/n", "anything");
    let named = find_sidecar(&sources, &id("a/b"), &places).found.unwrap();
    assert_eq!((named.lead, named.ownership), (Lead::Named, Ownership::Named));
}

#[test]
fn an_empty_or_torn_file_counts_if_its_name_is_exclusive() {
    for content in ["", "\n\n", "\0\0\0\0", "{\"traceSchema\":\"openclaw-traj"] {
        let sources = MemorySources::new();
        sources.put("/d/s1.jsonl", content);
        assert_eq!(found(&sources, "s1"), at("/d/s1.jsonl", Lead::OwnName, false), "{content:?}");
        sources.put(BESIDE, content);
        assert_eq!(found(&sources, "s1"), at(BESIDE, Lead::Beside, false), "{content:?}");
        // A file with a shared name or a pointer's target must prove its
        // session.
        let sources = MemorySources::new();
        sources.put("/d/a_b.jsonl", content);
        sources.put("/r/a_b.jsonl", content);
        point(&sources, "a/b", "/r/a_b.jsonl");
        let expected = ["Pointer Unproven", "SharedName Unproven"].map(str::to_owned);
        assert_eq!(search(&sources, "a/b"), (None, expected.to_vec()), "{content:?}");
    }
}

#[test]
fn torn_lines_before_the_first_event_do_not_hide_it() {
    let sources = MemorySources::new();
    sources.put(BESIDE, format!("\0\0\0\n{{\"torn\n{}", event("s1")));
    assert_eq!(found(&sources, "s1"), at(BESIDE, Lead::Beside, true));
    // A long first line does not hide it either.
    let long = event("s1")
        .replace("\"seq\"", &format!("\"data\":{{\"x\":\"{}\"}},\"seq\"", "y".repeat(300_000)));
    sources.put(BESIDE, long);
    assert_eq!(found(&sources, "s1"), at(BESIDE, Lead::Beside, true));
}

#[test]
fn files_of_other_sessions_and_formats_never_count() {
    let transcript = "{\"type\":\"session\",\"id\":\"s1\"}\n";
    let (other, late) = (event("s2"), format!("{transcript}{}", event("s1")));
    for (content, reason) in [
        (transcript, "NotASidecar"),
        (late.as_str(), "NotASidecar"),
        ("notes of mine\n", "NotASidecar"),
        (other.as_str(), "OtherSession"),
    ] {
        let sources = MemorySources::new();
        for file in [BESIDE, "/d/s1.jsonl", "/r/s1.jsonl"] {
            sources.put(file, content);
        }
        point(&sources, "s1", "/r/s1.jsonl");
        let expected = ["Pointer", "Beside", "OwnName"].map(|lead| format!("{lead} {reason}"));
        assert_eq!(search(&sources, "s1"), (None, expected.to_vec()));
    }
    // An id that redaction hid does not contradict the name.
    let sources = MemorySources::new();
    sources.put(BESIDE, event("<redacted:token:3f9a1c>"));
    assert_eq!(found(&sources, "s1"), at(BESIDE, Lead::Beside, false));
}

#[test]
fn only_valid_pointers_are_followed() {
    let sources = MemorySources::new();
    sources.put(BESIDE, event("s1"));
    sources.put(SESSION, "{\"type\":\"session\",\"id\":\"s1\"}\n");
    sources.put("/s/r/s1.jsonl", event("s1"));
    sources.put("/r/s1.jsonl", event("s1"));
    sources.put("/r/other.jsonl", event("s1"));
    sources.put_link("/r/link/s1.jsonl");
    for (target, expected) in [("r/s1.jsonl", "/s/r/s1.jsonl"), ("../r/s1.jsonl", "/r/s1.jsonl")] {
        point(&sources, "s1", target);
        assert_eq!(found(&sources, "s1"), at(expected, Lead::Pointer, true));
    }
    for (target, reason) in [
        ("/r/other.jsonl", "WrongName"),
        ("../../s1.jsonl", "WrongName"),
        ("/s/chat.jsonl", "Transcript"),
        ("./chat.jsonl", "Transcript"),
        ("/r/gone/s1.jsonl", "Missing"),
        ("/r/link/s1.jsonl", "NotRegular"),
    ] {
        point(&sources, "s1", target);
        let refused = vec![format!("Pointer {reason}")];
        assert_eq!(search(&sources, "s1"), (at(BESIDE, Lead::Beside, true), refused), "{target}");
    }
    point(&sources, "s2", "/r/s1.jsonl");
    assert_eq!(search(&sources, "s1").1, ["Pointer OtherSession"]);
    sources.put("/s/chat.trajectory-path.json", "{}");
    assert_eq!(search(&sources, "s1").1, ["Pointer NotAPointer"]);
    // A pointer to the file next to the session file changes nothing.
    for target in [BESIDE, "chat.trajectory.jsonl", "/s/../s/chat.trajectory.jsonl"] {
        point(&sources, "s1", target);
        assert_eq!(search(&sources, "s1"), (at(BESIDE, Lead::Beside, true), Vec::new()));
    }
}

#[test]
fn a_pointer_to_a_transcript_does_not_hide_the_sidecar() {
    let sources = MemorySources::new();
    sources.put("/s/s1.jsonl", "{\"type\":\"session\",\"id\":\"s1\"}\n");
    sources.put("/s/s1.trajectory.jsonl", event("s1"));
    let pointer = Pointer::new(&id("s1"), "/s/s1.jsonl");
    sources.put("/s/s1.trajectory-path.json", pointer.to_file());
    let search = find_sidecar(&sources, &id("s1"), &SidecarPlaces::beside("/s/s1.jsonl"));
    assert_eq!(search.found.unwrap().file, "/s/s1.trajectory.jsonl");
    assert!(matches!(search.refused[0].reason, Refusal::Transcript));
}

#[test]
fn headers_of_every_kind_state_the_id() {
    let rollout = r#"{"timestamp":"2026-06-01T10:00:00Z","type":"session_meta","payload":{"id":"r2","cwd":"/w"}}"#;
    let bare = r#"{"id":"r1","timestamp":"2026-06-01T10:00:00Z","instructions":null}"#;
    let session = r#"{"type":"session","version":3,"id":"s1"}"#;
    let row = r#"{"type":"message","id":"m1","timestamp":"2026-06-01T10:00:00Z"}"#;
    for (head, expected) in [
        (session.to_owned(), Some("s1")),
        (format!("torn {{\n{session}\n{row}"), Some("s1")),
        (format!("{rollout}\n{session}"), Some("r2")),
        (bare.to_owned(), Some("r1")),
        (format!("{row}\n{bare}"), None),
        (session.replace("s1", ""), None),
        (event("e1"), None),
        (String::new(), None),
    ] {
        assert_eq!(head::stated_session_id(head.as_bytes()).as_deref(), expected, "{head}");
    }
}

#[test]
fn the_most_reliable_file_states_the_id() {
    let sources = MemorySources::new();
    let identity = |sources: &MemorySources| {
        let source = crate::port::Sources::open(sources, SESSION).ok();
        let places = SidecarPlaces::beside(SESSION);
        let identity = identify(sources, source.as_deref(), &places).unwrap().unwrap();
        let vouches = identity.vouches_for(Lead::Pointer);
        (identity.id.as_str().to_owned(), identity.stated_by, vouches)
    };
    assert_eq!(identity(&sources), ("chat".to_owned(), StatedBy::FileName, true));
    point(&sources, "p", "/r/p.jsonl");
    assert_eq!(identity(&sources), ("p".to_owned(), StatedBy::Pointer, false));
    sources.put(BESIDE, event("e"));
    assert_eq!(identity(&sources), ("e".to_owned(), StatedBy::Sidecar, true));
    sources.put("/r/p.jsonl", event("p"));
    assert_eq!(identity(&sources), ("p".to_owned(), StatedBy::Pointer, false));
    sources.put(SESSION, "{\"type\":\"session\",\"id\":\"t\"}\n");
    assert_eq!(identity(&sources), ("t".to_owned(), StatedBy::Transcript, true));
}

proptest! {
    #[test]
    fn no_session_finds_the_files_of_another(
        mine in "[ab/_.]{1,4}",
        theirs in "[ab/_.]{1,4}",
        target in "[abs/_.]{1,9}",
    ) {
        prop_assume!(mine != theirs);
        let sources = MemorySources::new();
        point(&sources, &mine, &target);
        for name in sidecar_candidates_in_folder(&id(&mine)) {
            sources.put(format!("/d/{name}"), event(&theirs));
        }
        sources.put(BESIDE, event(&theirs));
        let places = SidecarPlaces::beside(SESSION).with_directory(Some("/d"));
        if let Some(target) = Pointer::new(&id(&mine), target).target(SESSION) {
            sources.put(target, event(&theirs));
        }
        prop_assert!(find_sidecar(&sources, &id(&mine), &places).found.is_none());
    }

    #[test]
    fn any_bytes_can_be_read_as_a_head(bytes in any::<Vec<u8>>(), is_all: bool) {
        let head = SidecarHead::of(&bytes, is_all);
        prop_assert!(!matches!(head, SidecarHead::EventOf(_)));
        prop_assert!(head::stated_session_id(&bytes).is_none());
    }
}
