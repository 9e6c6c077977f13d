//! What every dialect guarantees.

use proptest::prelude::*;

use super::*;
use crate::run::{Fact, Outcome};

/// The facts of a row, abbreviated.
fn facts(dialect: Dialect, row: &str) -> Vec<String> {
    let row = Json::parse(row).unwrap();
    let mut facts = Vec::new();
    dialect.decode(&row, Place::line(1), &mut |event| {
        facts.push(match &event.fact {
            Fact::Prompt(prompt) => format!("prompt {}", prompt.content.to_text()),
            Fact::AssistantText(text) => format!("text {}", text.to_text()),
            Fact::Reasoning(text) => format!("reasoning {}", text.to_text()),
            Fact::ToolCall(call) => format!("call {} {}", call.id.unwrap_or("-"), call.name),
            Fact::ToolResult(result) => {
                let code = result.outcome.exit_code();
                format!("result {} {} {code:?}", result.id.unwrap_or("-"), result.outcome.name())
            }
            Fact::ModelCall(call) => {
                format!(
                    "model {} {:?}",
                    call.model.unwrap_or("-"),
                    call.usage.map(|usage| usage.total())
                )
            }
            Fact::Other { name, is_known } => format!("other {name} {is_known}"),
            Fact::SessionEnded(ended) | Fact::TurnEnded(ended) => {
                format!("ended {} {:?}", ended.status.as_str(), ended.error)
            }
            fact => format!("{fact:?}").chars().take_while(|c| c.is_alphanumeric()).collect(),
        });
    });
    facts
}

#[test]
fn the_same_assistant_message_states_the_same_facts_in_a_transcript_and_in_a_bundle() {
    let message = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"},{"type":"toolCall","id":"c1","name":"shell","arguments":{"command":"ls"}}],"model":"m","usage":{"input":3,"cacheRead":4,"output":5}}"#;
    let entry = format!(r#"{{"type":"message","id":"a","timestamp":1,"message":{message}}}"#);
    let in_transcript = facts(Dialect::OpenClaw, &entry);
    assert_eq!(in_transcript, ["reasoning hm", "text hi", "model m Some(12)", "call c1 shell"]);
    let event = format!(
        r#"{{"traceSchema":"openclaw-trajectory","source":"transcript","type":"assistant.message","data":{{"message":{message}}}}}"#
    );
    let call = r#"{"traceSchema":"openclaw-trajectory","source":"transcript","type":"tool.call","data":{"toolCallId":"c1","name":"shell","arguments":{"command":"ls"}}}"#;
    let mut in_bundle = facts(Dialect::Bundle, &event);
    in_bundle.extend(facts(Dialect::Bundle, call));
    assert_eq!(in_transcript, in_bundle);
}

#[test]
fn a_recorder_and_a_transcript_state_a_failure_the_same_way() {
    let sidecar = r#"{"traceSchema":"openclaw-trajectory","schemaVersion":1,"type":"tool.result","data":{"toolCallId":"c1","name":"shell","success":true,"result":{"exitCode":3}}}"#;
    let transcript = r#"{"type":"message","timestamp":1,"message":{"role":"toolResult","toolCallId":"c1","isError":false,"details":{"exitCode":3},"content":[]}}"#;
    let failed = ["result c1 failed Some(3)"];
    assert_eq!(facts(Dialect::Sidecar, sidecar), failed);
    assert_eq!(facts(Dialect::OpenClaw, transcript), failed);
}

#[test]
fn a_failed_command_of_pi_states_its_exit_code_in_its_last_line() {
    let result = |is_error: bool, text: &str| {
        let row = format!(
            r#"{{"type":"message","timestamp":1,"message":{{"role":"toolResult","toolCallId":"c1","isError":{is_error},"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        );
        facts(Dialect::Pi, &row)
    };
    let said = r"expected 5, got -1\n\n\nCommand exited with code 3";
    assert_eq!(result(true, said), ["result c1 failed Some(3)"]);
    assert_eq!(result(true, r"Command exited with code 3\nmore"), ["result c1 failed None"]);
    assert_eq!(result(false, said), ["result c1 ok None"]);
}

#[test]
fn rollouts_of_both_generations_are_read() {
    let row = |kind: &str, payload: &str| {
        facts(
            Dialect::CodexRollout,
            &format!(
                r#"{{"timestamp":"2026-06-01T10:00:00Z","type":"{kind}","payload":{payload}}}"#
            ),
        )
    };
    assert_eq!(row("event_msg", r#"{"type":"user_message","message":"hi"}"#), ["prompt hi"]);
    assert_eq!(
        row(
            "event_msg",
            r#"{"type":"item_completed","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"hi"}]}}"#
        ),
        ["prompt hi"]
    );
    assert_eq!(
        row(
            "response_item",
            r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}"#
        ),
        ["call c1 shell"]
    );
    assert_eq!(
        row(
            "event_msg",
            r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","exit_code":3,"status":"completed"}}"#
        ),
        ["result c1 failed Some(3)"]
    );
    assert_eq!(
        row(
            "response_item",
            r#"{"type":"function_call_output","call_id":"c1","output":"Process exited with code 1\nOutput:\n"}"#
        ),
        ["result c1 failed Some(1)"]
    );
    assert_eq!(
        row(
            "event_msg",
            r#"{"type":"task_complete","last_agent_message":null,"error":{"message":"429"}}"#
        ),
        [r#"ended error Some("429")"#]
    );
    assert_eq!(
        row(
            "event_msg",
            r#"{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"output_tokens":2}}}"#
        ),
        ["model - Some(7)"]
    );
    assert_eq!(row("brand_new", "{}"), ["other brand_new false"]);
    // In code mode, only the item states the calls that a script makes.
    let nested = |item: &str| {
        row("event_msg", &format!(r#"{{"type":"item_completed","item":{{"id":"exec-1",{item}}}}}"#))
    };
    assert_eq!(
        nested(r#""type":"CommandExecution","command":["ls"],"exit_code":2,"status":"failed""#),
        ["call exec-1 exec_command", "result exec-1 failed Some(2)"]
    );
    assert_eq!(
        nested(r#""type":"McpToolCall","tool":"find","arguments":{},"status":"completed""#),
        ["call exec-1 find", "result exec-1 ok None"]
    );
    assert_eq!(
        nested(r#""type":"FileChange","changes":{},"status":"completed""#),
        ["call exec-1 apply_patch", "result exec-1 ok None"]
    );
}

#[test]
fn a_file_is_recognised_by_its_beginning() {
    let of = |head: &str| sniff(Head::of(head.as_bytes()));
    assert_eq!(of(r#"{"type":"session","version":3,"id":"s"}"#), Some(Dialect::OpenClaw));
    assert_eq!(of("garbage\n{\"type\":\"session\",\"id\":\"s\"}"), Some(Dialect::OpenClaw));
    let rollout =
        r#"{"timestamp":"2026-06-01T10:00:00Z","type":"session_meta","payload":{"id":"t1"}}"#;
    assert_eq!(of(rollout), Some(Dialect::CodexRollout));
    assert_eq!(of(rollout.strip_suffix("}}").unwrap()), Some(Dialect::CodexRollout));
    assert_eq!(Dialect::stated_session(rollout.as_bytes()).as_deref(), Some("t1"));
    for unknown in ["", "  \n", "{}", "[1]", r#"{"type":"user","uuid":"u"}"#, r#"{"a":"session"}"#]
    {
        assert_eq!(of(unknown), None, "{unknown}");
    }
}

#[test]
fn outcomes_of_recorders_are_read_from_flags_and_made_up_results() {
    let result = |data: &str| {
        let row = format!(r#"{{"type":"tool.result","data":{data}}}"#);
        facts(Dialect::Sidecar, &row)
    };
    assert_eq!(result(r#"{"toolCallId":"c","success":false}"#), ["result c failed None"]);
    assert_eq!(
        result(
            r#"{"toolCallId":"c","success":false,"result":{"status":"failed","reason":"missing_tool_result"}}"#
        ),
        ["result c unanswered None"]
    );
    assert_eq!(Outcome::Unanswered.name(), "unanswered");
}

fn any_json() -> impl Strategy<Value = String> {
    let names = prop_oneof![
        Just("type".to_owned()),
        Just("payload".to_owned()),
        Just("message".to_owned()),
        Just("role".to_owned()),
        Just("content".to_owned()),
        Just("data".to_owned()),
        Just("usage".to_owned()),
        Just("item".to_owned()),
        Just("id".to_owned()),
        Just("output".to_owned()),
        Just("info".to_owned()),
        Just("error".to_owned()),
        "[a-z]{1,4}",
    ];
    let words = prop_oneof![
        Just("message"),
        Just("assistant"),
        Just("user"),
        Just("toolResult"),
        Just("response_item"),
        Just("event_msg"),
        Just("item_completed"),
        Just("token_count"),
        Just("CommandExecution"),
        Just("toolCall"),
        Just("tool.result"),
        Just("model.completed"),
        Just("compaction"),
    ];
    let leaf = prop_oneof![
        words.prop_map(|word| format!("\"{word}\"")),
        any::<i32>().prop_map(|number| number.to_string()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_row_states_at_least_one_fact_and_never_panics(row in any_json()) {
        let row = Json::parse(&row).unwrap();
        for dialect in Dialect::ALL {
            let mut count = 0;
            dialect.decode(&row, Place::line(1), &mut |event| {
                count += 1;
                if let Fact::ToolCall(call) = &event.fact {
                    drop(crate::run::command_of(call));
                }
            });
            prop_assert!(count > 0, "{dialect:?}");
        }
    }
}
