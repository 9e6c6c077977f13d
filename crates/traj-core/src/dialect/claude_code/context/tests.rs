//! Contexts of recorded calls.

use super::*;
use crate::memory::MemorySources;
use crate::port::Sources as _;

const SESSION: &str =
    include_str!("../../../../../../tests/fixtures/claude-code/v2-1-requests.jsonl");

fn context(session: &str, call: &str) -> Result<CallContext, ContextError> {
    let sources = MemorySources::new();
    sources.put("s", session);
    call_context(&*sources.open("s")?, call)
}

fn roles(context: &CallContext) -> Vec<&str> {
    let roles = context.messages.iter().map(|part| part.value.get("role").and_then(Json::as_str));
    roles.map(Option::unwrap_or_default).collect()
}

#[test]
fn the_context_of_a_call_is_built_again_and_verified() {
    for call in ["msg_32", "90000000-0000-4000-8000-000000000003"] {
        let context = context(SESSION, call).unwrap();
        assert!(context.is_verified(), "{call}");
        assert_eq!(roles(&context), ["user", "assistant", "user"]);
        assert_eq!(context.answer.as_deref(), Some("msg_32"));
        let since = context.since.unwrap();
        assert_eq!(since.request, "90000000-0000-4000-8000-000000000002");
        assert_eq!((since.kept, since.dropped, since.added), (1, 0, 2));
        assert!(!since.has_new_frame && !since.has_new_settings);
    }
}

#[test]
fn a_call_is_known_by_its_tools_too_and_a_retry_changes_nothing() {
    let context = context(SESSION, "toolu_31").unwrap();
    assert_eq!(roles(&context), ["user"]);
    let since = context.since.unwrap();
    assert_eq!((since.kept, since.dropped, since.added), (1, 0, 0));
}

#[test]
fn a_compaction_replaces_all_messages() {
    let context = context(SESSION, "last").unwrap();
    assert!(context.is_verified() && context.answer.is_none());
    let since = context.since.unwrap();
    assert_eq!((since.kept, since.dropped, since.added), (0, 3, 1));
}

#[test]
fn a_changed_or_missing_part_is_not_verified() {
    let changed = SESSION.replace("what does it cost?\"}]", "what did it cost?\"}]");
    assert_ne!(changed, SESSION);
    let changed = context(&changed, "msg_32").unwrap();
    assert_eq!(changed.messages[0].check, ContextCheck::Differs);
    assert!(!changed.is_verified());
    let without: Vec<&str> = SESSION.lines().filter(|row| !row.contains("\"tool_use\"")).collect();
    let without = context(&without.join("\n"), "msg_32").unwrap();
    assert_eq!(without.messages[1].check, ContextCheck::Missing);
    assert!(without.messages[1].value.is_null());
}

#[test]
fn other_calls_and_sessions_are_refused() {
    assert!(matches!(context(SESSION, "msg_99"), Err(ContextError::UnknownCall)));
    assert!(matches!(context("{}\n", "msg_32"), Err(ContextError::NotRecorded)));
    let request = |id: &str, base: &str| {
        format!(r#"{{"type":"api-request","id":"{id}","base":"{base}","keep":1,"tail":[]}}"#)
    };
    let circle = [request("a", "b"), request("b", "a")].join("\n");
    assert!(matches!(context(&circle, "a"), Err(ContextError::UnknownCall)));
    let lost = context(&request("a", "gone"), "a").unwrap();
    assert_eq!((lost.messages.len(), lost.messages[0].check), (1, ContextCheck::Missing));
}

#[test]
fn a_text_may_be_written_down_without_its_block() {
    // The hash of {"content":[{"text":"hi","type":"text"}],"role":"user"}.
    let hash = "da3ac0b4d79dbe28c3c6684e1e4d037992df0e519e410c56436a23ecadf5c3c1";
    let rows = [
        format!(
            r#"{{"type":"api-request-blob","hash":"{hash}","message":{{"role":"user","content":"hi"}}}}"#
        ),
        format!(r#"{{"type":"api-request","id":"a","keep":0,"tail":["{hash}"]}}"#),
    ];
    let context = context(&rows.join("\n"), "a").unwrap();
    let sent = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
    assert_eq!(context.messages[0].check, ContextCheck::Verified);
    assert_eq!(context.messages[0].value.to_line(), sent);
}
