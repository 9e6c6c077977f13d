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

/// The rows of a session as a bundle has them.
struct Redacted<'s>(&'s str);

impl ContextRows for Redacted<'_> {
    fn each(&self, _: &[&str], take: &mut TakeContextRow<'_>) -> Result<(), ContextError> {
        let mut start = 0;
        for line in self.0.lines() {
            let place = start..start + line.len() as u64;
            start = place.end + 1;
            take(ContextRow::new(Json::parse(line).unwrap_or_default(), place))?;
        }
        Ok(())
    }

    fn are_redacted(&self) -> bool {
        true
    }
}

#[test]
fn a_redacted_answer_is_found_by_its_place() {
    let redacted = SESSION.replace("\"command\":\"", "\"command\":\"<redacted:x> ");
    assert_ne!(redacted, SESSION);
    let context = context_in(&Redacted(&redacted), "msg_32").unwrap();
    let checks: Vec<&str> = context.messages.iter().map(|part| part.check.as_str()).collect();
    assert_eq!(checks, ["verified", "redacted", "verified"]);
    assert!(context.messages[1].value.to_line().contains("<redacted:x>"));
    let whole = context_in(&Redacted(SESSION), "msg_32").unwrap();
    assert!(whole.is_verified());
}

#[test]
fn a_table_has_every_context_and_where_its_parts_are() {
    let sources = MemorySources::new();
    sources.put("s", SESSION);
    let source = sources.open("s").unwrap();
    let table = ContextTable::read(&SourceRows(&*source)).unwrap();
    assert!(table.parts.iter().all(|part| part.check == ContextCheck::Verified));
    for part in &table.parts {
        for row in &part.rows {
            let text = SESSION.get(row.start as usize..row.end as usize).unwrap();
            let member = if part.basis == TableBasis::Frame { "shape" } else { "message" };
            assert!(Json::parse(text).unwrap().get(member).is_some());
        }
    }
    let mut number = 0;
    for request in &table.requests {
        let context = context(SESSION, &request.id).unwrap();
        let since = request.since.map(|since| {
            let added = context.messages.len() as u64 - since.kept;
            let before = table.requests[since.before as usize].id.clone();
            (before, since.kept, since.dropped, added, since.has_new_frame, since.has_new_settings)
        });
        let change = context.since.map(|since| {
            let (frame, settings) = (since.has_new_frame, since.has_new_settings);
            (since.request, since.kept, since.dropped, since.added, frame, settings)
        });
        assert_eq!(since, change, "{}", request.id);
        number += 1;
    }
    assert_eq!(number, 4);
    let answers: Vec<_> = table.requests.iter().filter_map(|one| one.answer.as_deref()).collect();
    assert_eq!(answers, ["msg_31", "msg_32"]);
}
