//! Exports find the session and its sidecar, and read no file of another session.

use traj_core::care::session_store::SessionStoreError;
use traj_core::id::SessionId;
use traj_core::memory::MemorySources;
use traj_core::port::{BundleFile, SourceError};
use traj_export::{ExportError, ExportLimits, Selection};
use traj_tests::export_fixture::{export_from, request};
use traj_tests::rows::{self, HEADER, USER, message};

fn event(kind: &str) -> String {
    rows::event(kind, "2026-06-01T10:00:01Z", 1).json()
}

fn session() -> MemorySources {
    let sources = MemorySources::new();
    sources.put("s1.jsonl", format!("{HEADER}\n{}\n", message("a", None, 1, USER)));
    sources
}

fn pointer(session: &str, target: &str) -> String {
    rows::pointer(session, target).json()
}

#[test]
fn the_pointer_wins_over_the_default_sidecar() {
    let sources = session();
    sources.put("s1.trajectory.jsonl", event("default"));
    sources.put("s1.trajectory-path.json", pointer("s1", "elsewhere/s1.jsonl"));
    sources.put("elsewhere/s1.jsonl", event("relocated"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.sequence(), ["relocated", "user.message a"]);
    assert_eq!(export.report.runtime_file.as_deref(), Some("elsewhere/s1.jsonl"));
}

#[test]
fn pointers_of_others_are_not_believed() {
    for (owner, target) in [
        ("s2", "elsewhere/s1.jsonl"),
        ("s1", "elsewhere/other.jsonl"),
        ("s1", "sessions.json"),
        ("s1", "../s1.jsonl"),
    ] {
        let sources = session();
        sources.put("s1.trajectory.jsonl", event("default"));
        sources.put("s1.trajectory-path.json", pointer(owner, target));
        sources.put(target, event("stolen"));
        let export = export_from(&sources, &request()).unwrap();
        assert_eq!(export.sequence()[0], "default", "{owner} {target}");
        assert_eq!(export.notices(), ["pointer-ignored [0]"], "{owner} {target}");
    }
}

#[test]
fn a_pointer_that_cannot_be_read_is_reported_with_a_hint() {
    let sources = session();
    sources.put_link("s1.trajectory-path.json");
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.notices(), ["pointer-ignored [0]"]);
    assert!(export.report.notices[0].message.contains("--runtime"));
}

#[test]
fn a_session_that_states_no_id_has_the_one_of_its_sidecar() {
    let row = message("a", None, 1, USER);
    let without_id = r#"{"type":"session","version":3,"timestamp":"2026-06-01T10:00:00Z"}"#;
    for content in [
        row.clone(),
        String::new(),
        format!("{without_id}\n{row}"),
        format!("{{broken\n{row}"),
        format!("{}\n{row}", HEADER.replace(r#""id":"s1""#, r#""id":"""#)),
    ] {
        for target in ["chat.trajectory.jsonl", "elsewhere/s1.jsonl"] {
            let sources = MemorySources::new();
            sources.put("chat.jsonl", content.as_str());
            sources.put(target, event("x"));
            sources.put("chat.trajectory-path.json", pointer("s1", target));
            let mut request = request();
            request.selection = Selection::file("chat.jsonl");
            let export = export_from(&sources, &request).unwrap();
            assert_eq!(export.report.session_id, "s1", "{content} {target}");
            assert_eq!(export.report.runtime_event_count, 1);
            assert!(export.notices().is_empty());
            // The same without a transcript.
            let sources = MemorySources::new();
            sources.put(target, event("x"));
            sources.put("chat.trajectory-path.json", pointer("s1", target));
            assert_eq!(export_from(&sources, &request).unwrap().sequence(), ["x"], "{target}");
        }
    }
}

#[test]
fn a_sidecar_of_another_session_is_reported() {
    let sources = session();
    sources.put("s1.trajectory.jsonl", event("x").replace(r#""s1""#, r#""s2""#));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.sequence(), ["user.message a"]);
    assert_eq!(export.notices(), ["runtime-other-session [0]"]);
}

#[test]
fn the_directory_of_the_environment_comes_last_and_a_named_sidecar_first() {
    let sources = session();
    sources.put("/data/s1.jsonl", event("folder"));
    sources.put("named.jsonl", event("named"));
    let mut request = request();
    request.sidecar.trajectory_dir = Some("/data".to_owned());
    assert_eq!(export_from(&sources, &request).unwrap().sequence()[0], "folder");
    request.sidecar.runtime_file = Some("named.jsonl".to_owned());
    assert_eq!(export_from(&sources, &request).unwrap().sequence()[0], "named");
    request.sidecar.runtime_file = Some("gone.jsonl".to_owned());
    let error = export_from(&sources, &request).unwrap_err();
    assert!(matches!(error, ExportError::Source(SourceError::NotFound { .. })));
}

#[test]
fn a_pointer_that_leads_to_nothing_is_reported() {
    let sources = session();
    sources.put("s1.trajectory-path.json", pointer("s1", "/r/s1.jsonl"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.notices(), ["pointer-ignored [0]"]);
    sources.put("s1.trajectory.jsonl", event("default"));
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.notices(), ["pointer-ignored [0]"]);
    assert_eq!(export.sequence()[0], "default");
}

#[test]
fn a_name_that_sessions_share_leads_to_the_one_that_its_first_line_names() {
    let sources = session();
    let mut request = request();
    let id = SessionId::parse("a/b").ok();
    request.selection = Selection::with_names("s1.jsonl", id, None);
    request.sidecar.trajectory_dir = Some("/data".to_owned());
    let event_of = |id: &str| event("x").replace(r#""s1""#, &format!("\"{id}\""));
    sources.put("/data/a_b.jsonl", event_of("a_b"));
    let export = export_from(&sources, &request).unwrap();
    assert!(export.notices().is_empty() && export.report.runtime_file.is_none());
    sources.put("/data/a_b.jsonl", event_of("a/b"));
    let export = export_from(&sources, &request).unwrap();
    assert_eq!(export.report.runtime_file.as_deref(), Some("/data/a_b.jsonl"));
    assert_eq!(export.sequence()[0], "x");
}

#[test]
fn links_are_never_followed() {
    let sources = session();
    sources.put_link("s1.trajectory.jsonl");
    let export = export_from(&sources, &request()).unwrap();
    assert_eq!(export.sequence(), ["user.message a"]);
    assert_eq!(export.notices(), ["runtime-refused [0]"]);
    sources.put_link("s1.jsonl");
    let error = export_from(&sources, &request()).unwrap_err();
    assert!(matches!(error, ExportError::Source(SourceError::NotRegular { .. })));
}

#[test]
fn a_sidecar_without_its_session_is_exported() {
    let sources = MemorySources::new();
    sources.put("s1.trajectory.jsonl", event("alone"));
    let mut request = request();
    request.selection = Selection::file("s1.jsonl");
    let export = export_from(&sources, &request).unwrap();
    assert_eq!(export.sequence(), ["alone"]);
    assert_eq!(export.report.session_id, "s1");
    let nothing = export_from(&MemorySources::new(), &request).unwrap_err();
    assert!(matches!(nothing, ExportError::Source(SourceError::NotFound { .. })));
}

#[test]
fn a_store_leads_to_the_session_of_a_key() {
    let sources = session();
    sources.put("/st/agents/main/sessions/sessions.json", r#"{"agent:main:main":{"sessionId":"s1"},"out":{"sessionId":"s1","sessionFile":"/etc/passwd"},"bad":{"sessionId":"../x"}}"#);
    sources.put(
        "/st/agents/main/sessions/s1.jsonl",
        format!("{HEADER}\n{}", message("k", None, 1, USER)),
    );
    let mut request = request();
    let mut by_key = |key: &str| {
        request.selection = Selection::key(key, "/st/agents/main/sessions/sessions.json");
        export_from(&sources, &request)
    };
    assert_eq!(by_key("agent:main:main").unwrap().sequence(), ["user.message k"]);
    assert_eq!(by_key("out").unwrap().sequence(), ["user.message k"], "only inside its folder");
    let unknown = by_key("nobody").unwrap_err();
    assert!(matches!(unknown, ExportError::Store(SessionStoreError::UnknownKey)));
    let unsafe_id = by_key("bad").unwrap_err();
    assert!(matches!(unsafe_id, ExportError::Store(SessionStoreError::UnsafeId)));
}

#[test]
fn ids_come_from_the_header_unless_they_are_given() {
    let sources = session();
    let mut request = request();
    request.name = None;
    request.selection = Selection::file("s1.jsonl");
    let export = export_from(&sources, &request).unwrap();
    assert_eq!(export.report.session_id, "s1");
    assert_eq!(export.report.name, "openclaw-trajectory-s1-1970-01-01T00-00-00");
    let id = SessionId::parse("given").ok();
    request.selection = Selection::with_names("s1.jsonl", id, None);
    assert_eq!(export_from(&sources, &request).unwrap().report.session_id, "given");
}

#[test]
fn limits_warn_unless_they_are_strict() {
    let sources = session();
    let mut request = request();
    let mut limits = ExportLimits::standard();
    limits.session_bytes = 10;
    limits.total_events = 0;
    request.limits = limits;
    let export = export_from(&sources, &request).unwrap();
    assert_eq!(export.notices(), ["session-size-limit [0]", "total-event-limit [0]"]);
    assert_eq!(export.sequence().len(), 1, "everything is there all the same");
    request.limits.are_strict = true;
    let error = export_from(&sources, &request).unwrap_err();
    assert!(matches!(error, ExportError::Limit { limit: 10, .. }));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let sources = session();
    let export = || export_from(&sources, &request()).unwrap().files;
    let first = export();
    assert_eq!(first, export());
    assert!(first[&BundleFile::Manifest].contains("\"digest\": \"sha256:"));
}
