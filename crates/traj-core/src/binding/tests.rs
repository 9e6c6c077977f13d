//! The record's stored text: round trips, imports, damage.

use proptest::prelude::*;

use super::*;
use crate::id::ThreadId;
use crate::json::Json;
use crate::timestamp::UnixMillis;

/// Any JSON value, small.
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
    record.turns = 3;
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

/// Scenarios 1 and 6; members that this version does not know come back.
#[test]
fn a_record_survives_the_round_trip() {
    let record = full_record();
    let text = encode_record(&record);
    assert_eq!(decoded(&text), record);
    assert!(text.ends_with("}\n"));
    assert!(text.contains("\"futureField\": ["));
    assert!(text.contains("\"serviceTier\": \"priority\""));
}

/// Scenario 10, as we want it: damage is distinguished from absence, and from a newer version.
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

/// Scenarios 7 and 31 on a record of another tool: secrets are left out, texts become hashes.
#[test]
fn a_record_of_another_tool_is_taken_over() {
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
    let resumes = BindingDecision::Resume { thread: record.thread.clone() };
    assert_eq!(decide_binding(Some(&record), &wanted), resumes);
}

#[test]
fn what_is_no_record_of_another_tool_is_not_taken_over() {
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
    fn every_cut_of_a_record_is_damage(cut in 0_usize..600) {
        let text = encode_record(&full_record());
        let cut = cut % (text.len() - 2);
        let is_damaged = matches!(decode_record(&text.as_bytes()[..cut]), Err(RecordError::Damaged { .. }));
        prop_assert!(is_damaged);
    }
}
