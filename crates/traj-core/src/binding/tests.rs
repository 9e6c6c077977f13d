//! The stored record: round trips, imports, damage.

use proptest::prelude::*;

use super::*;
use crate::id::ThreadId;
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// Any small JSON value.
pub(super) fn any_json() -> impl Strategy<Value = Json<'static>> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn full_record() -> BindingRecord {
    let thread = ThreadId::parse("thread-1").unwrap();
    let mut record = BindingRecord::new(thread, "/w", BindingOrigin::Started, UnixMillis::EPOCH);
    record.auth_profile = Some("openai:work".to_owned());
    record.model = Some("gpt-5.5".to_owned());
    record.model_provider = Some("openai".to_owned());
    record.approval_policy = Some(ApprovalPolicy::OnRequest);
    record.sandbox = Some(SandboxMode::WorkspaceWrite);
    record.service_tier = ServiceTier::parse("fast");
    record.fingerprints.dynamic_tools = Some(Fingerprint::of_tools(&[]));
    record.fingerprints.tools_were_empty = true;
    record.fingerprints.plugin_apps = Some(Fingerprint::opaque("x"));
    record.tools_contain_deferred = Some(false);
    record.context_engine = ContextEngineFacts::new("e".to_owned()).binding();
    record.codex_home = Some("/h/.codex".to_owned());
    record.rollout_path = Some("/h/.codex/sessions/r.jsonl".to_owned());
    record.turns = 3;
    let before = ThreadId::parse("thread-0").unwrap();
    let before = BindingRecord::new(before, "/w", BindingOrigin::Started, UnixMillis::EPOCH);
    record.former_threads =
        before.former_after(&record.thread, FormerReason::Rotated, UnixMillis::EPOCH);
    record.history_covered_through = Some(UnixMillis::EPOCH);
    record.unknown.push("futureField", vec![1_u64, 2]);
    record
}

fn decoded(text: &str) -> BindingRecord {
    match decode_record(text.as_bytes()) {
        Ok(StoredBinding::Active(record)) => *record,
        other => panic!("not a record: {other:?}"),
    }
}

/// Scenarios 1 and 6; unknown members survive.
#[test]
fn a_record_survives_the_round_trip() {
    let record = full_record();
    let text = encode_record(&record);
    assert_eq!(decoded(&text), record);
    assert!(text.ends_with("}\n"));
    assert!(text.contains("\"futureField\": ["));
    assert!(text.contains("\"serviceTier\": \"priority\""));
}

/// A record without the members that were added later.
const OLD_RECORD: &str = r#"{
  "format": "traj-codex-binding",
  "version": 1,
  "threadId": "thread-1",
  "origin": "started",
  "cwd": "/w",
  "authProfileId": "work",
  "model": "gpt-5.5",
  "modelProvider": "mock",
  "approvalPolicy": "on-request",
  "sandbox": "read-only",
  "serviceTier": "priority",
  "dynamicToolsEmpty": true,
  "dynamicToolsContainDeferred": false,
  "rolloutPath": "/h/.codex/sessions/2026/11/18/rollout-1.jsonl",
  "turns": 7,
  "historyCoveredThrough": "2026-11-18T10:00:00.000Z",
  "createdAt": "2026-11-18T09:00:00.000Z",
  "updatedAt": "2026-11-18T10:00:00.000Z",
  "futureMember": {
    "kept": true
  }
}
"#;

#[test]
fn an_older_record_is_read_and_written_back_without_loss() {
    let record = decoded(OLD_RECORD);
    assert_eq!(encode_record(&record), OLD_RECORD);
    assert_eq!(record.home(), Some("/h/.codex"), "known from the path");
    assert_eq!(record.former_threads, []);
}

#[test]
fn a_granular_approval_policy_is_stored_and_read() {
    let granular =
        r#"{"granular":{"sandbox_approval":true,"rules":true,"mcp_elicitations":false}}"#;
    let text = OLD_RECORD.replace("\"on-request\"", granular);
    let record = decoded(&text);
    assert!(matches!(record.approval_policy, Some(ApprovalPolicy::Granular(_))));
    assert_eq!(decoded(&encode_record(&record)), record);
}

#[test]
fn a_provider_that_codex_does_not_know_heals_when_a_record_is_read() {
    let text = OLD_RECORD.replace("\"mock\"", "\"openai-codex\"");
    assert_eq!(decoded(&text).model_provider.as_deref(), Some("openai"));
    let foreign = r#"{"schemaVersion":1,"threadId":"t","modelProvider":"openai-codex"}"#;
    let imported = import_record(foreign.as_bytes(), UnixMillis::EPOCH).unwrap();
    assert_eq!(imported.model_provider.as_deref(), Some("openai"));
}

/// Scenario 10, as intended: damage is distinguished from absence and from a newer version.
#[test]
fn damage_is_named() {
    let text = encode_record(&full_record());
    let is_damaged =
        |bytes: &[u8]| matches!(decode_record(bytes), Err(RecordError::Damaged { .. }));
    assert!(is_damaged(text.get(..40).unwrap().as_bytes()));
    assert!(is_damaged(b"null"));
    assert!(is_damaged(b""));
    assert!(is_damaged(b"\xff"));
    assert!(is_damaged(text.replace("thread-1", " ").as_bytes()));
    let newer = text.replace("\"version\": 1", "\"version\": 2");
    assert_eq!(decode_record(newer.as_bytes()), Err(RecordError::Newer { version: 2 }));
    let cleared = encode_cleared(UnixMillis::EPOCH);
    assert_eq!(decode_record(cleared.as_bytes()), Ok(StoredBinding::Cleared));
}

/// Scenarios 7 and 31 on a foreign record: secrets are left out, strings become hashes.
#[test]
fn a_foreign_record_is_imported() {
    let original = r#"{
  "schemaVersion": 1, "sessionFile": "/elsewhere", "threadId": "t-9", "cwd": 7,
  "serviceTier": " FAST ", "approvalPolicy": "on-failure", "sandbox": "none",
  "dynamicToolsFingerprint": "[{\"inputSchema\":{},\"name\":\"message\"}]",
  "userMcpServersFingerprint": "{\"mcp_servers\":{\"s\":{\"command\":\"x\",\"env\":{\"KEY\":\"hunter2-secret\"}}}}",
  "mcpServersFingerprint": "0123",
  "pluginAppPolicyContext": {"fingerprint":"f","apps":{"a":{"appId":"a"}}},
  "createdAt": "2026-05-31T07:17:57.000Z", "updatedAt": "2026-06-01T00:00:00.000Z"
}"#;
    let record = import_record(original.as_bytes(), UnixMillis::EPOCH).unwrap();
    assert_eq!(record.origin, BindingOrigin::Imported);
    assert_eq!((record.cwd.as_str(), record.sandbox), ("", None));
    assert_eq!(record.approval_policy, Some(ApprovalPolicy::OnRequest));
    assert_eq!(record.plugin_policy, None);
    assert_eq!(record.created_at.to_iso(), "2026-05-31T07:17:57.000Z");
    let text = encode_record(&record);
    assert!(!text.contains("hunter2-secret"));
    assert_eq!(decoded(&text), record);

    let mut wanted = WantedThread::plain();
    let tools = Json::parse(
        r#"[{"name":"message","description":"d","inputSchema":{},"deferLoading":true}]"#,
    )
    .unwrap();
    wanted.tools = WantedTools::of(tools.as_array().unwrap());
    let servers =
        Json::parse(r#"{"mcp_servers":{"s":{"env":{"KEY":"rotated"},"command":"x"}}}"#).unwrap();
    wanted.user_mcp = Some(Fingerprint::of_mcp_servers(&servers));
    wanted.bundled_mcp = BundledMcp::Evaluated(Some(Fingerprint::of(&Json::from("ours"))));
    let resumes = BindingDecision::Resume { thread: record.thread.clone(), tolerated: vec![] };
    assert_eq!(decide_binding(Some(&record), &wanted), resumes);
}

#[test]
fn an_invalid_foreign_record_is_not_imported() {
    let import = |text: &str| import_record(text.as_bytes(), UnixMillis::EPOCH);
    for text in ["null", "{", r#"{"schemaVersion":1}"#, r#"{"schemaVersion":1,"threadId":3}"#] {
        assert!(matches!(import(text), Err(RecordError::Damaged { .. })), "{text}");
    }
    let newer = import(r#"{"schemaVersion":2,"threadId":"t"}"#);
    assert_eq!(newer, Err(RecordError::Newer { version: 2 }));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_fail(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ours = decode_record(&bytes);
        let _others = import_record(&bytes, UnixMillis::EPOCH);
    }

    #[test]
    fn every_truncated_record_is_damaged(cut in 0_usize..1200) {
        let text = encode_record(&full_record());
        let cut = cut % (text.len() - 2);
        let is_damaged = matches!(decode_record(&text.as_bytes()[..cut]), Err(RecordError::Damaged { .. }));
        prop_assert!(is_damaged);
    }
}
