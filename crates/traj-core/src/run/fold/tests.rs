//! The totals of a run, on rows of every dialect.

use super::*;
use crate::dialect::Dialect;
use crate::json::Json;

fn run_of(rows: &[String]) -> Run {
    let mut fold = Fold::new(Prices::default());
    for (line, row) in (1..).zip(rows) {
        let row = Json::parse(row).unwrap();
        let dialect = Dialect::of_row(&row).unwrap();
        dialect.decode(&row, Place::line(line), &mut |event| fold.push(&event));
    }
    fold.finish()
}

fn runtime(second: u32, kind: &str, data: &str) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"{kind}","ts":"2026-06-01T10:00:{second:02}Z","seq":1,"sessionId":"s","provider":"p","modelId":"m","data":{data}}}"#
    )
}

fn entry(second: u32, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"e{second}","timestamp":"2026-06-01T10:00:{second:02}Z","message":{message}}}"#
    )
}

#[test]
fn facts_that_both_witnesses_state_count_once() {
    let rows = [
        runtime(0, "session.started", "{}"),
        runtime(1, "prompt.submitted", r#"{"prompt":"do it"}"#),
        entry(1, r#"{"role":"user","content":[{"type":"text","text":"do it"}]}"#),
        entry(
            3,
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"shell","arguments":{"command":"make"}}],"model":"m","usage":{"input":10,"cacheRead":5,"output":2}}"#,
        ),
        runtime(
            3,
            "tool.call",
            r#"{"toolCallId":"c","name":"shell","arguments":{"command":"make"}}"#,
        ),
        runtime(
            5,
            "tool.result",
            r#"{"toolCallId":"c","name":"shell","success":true,"result":{"exitCode":2,"output":"a\nno rule"}}"#,
        ),
        entry(
            6,
            r#"{"role":"toolResult","toolCallId":"c","toolName":"shell","isError":false,"details":{"exitCode":2},"content":[{"type":"text","text":"a\nno rule"}]}"#,
        ),
        entry(
            8,
            r#"{"role":"assistant","content":[{"type":"text","text":"it failed"}],"model":"m","usage":{"input":20,"output":3}}"#,
        ),
        runtime(
            8,
            "model.completed",
            r#"{"assistantTexts":["it failed"],"usage":{"input":30,"cacheRead":5,"output":5}}"#,
        ),
        runtime(9, "session.ended", r#"{"status":"success"}"#),
    ];
    let run = run_of(&rows);
    assert_eq!((run.turns, run.calls.calls, run.calls.failed), (1, 1, 1));
    assert_eq!((run.models.calls, run.usage().total()), (2, 40));
    assert_eq!(run.context_peak.unwrap().usage.total(), 23);
    assert_eq!(run.status, Some(RunState::Ended("success".to_owned())));
    let Some(FirstFailure::Call(call)) = &run.first_failure else { panic!("{run:?}") };
    assert_eq!(
        (call.command.as_deref(), call.exit_code, call.millis),
        (Some("make"), Some(2), Some(2_000))
    );
    assert_eq!(call.output.as_deref(), Some("a\nno rule"));
    let kinds: Vec<&str> = run.moments.iter().map(|moment| moment.kind).collect();
    assert_eq!(kinds, ["started", "prompt", "call", "result", "reply", "ended"]);
    assert_eq!((run.time.wall, run.time.tool), (9_000, 2_000));
    assert_eq!(run.cost(), None, "no price is known");
}

#[test]
fn a_run_that_began_after_the_last_end_did_not_end() {
    let rows = [
        runtime(0, "session.started", "{}"),
        runtime(1, "session.ended", r#"{"status":"success"}"#),
        runtime(2, "session.started", "{}"),
        runtime(3, "prompt.submitted", r#"{"prompt":"again"}"#),
    ];
    let run = run_of(&rows);
    assert_eq!(run.status, Some(RunState::Open));
    assert_eq!(run.endings, ["success"]);
}

#[test]
fn errors_are_listed_once_and_the_first_is_singled_out() {
    let rows = [
        runtime(0, "session.started", "{}"),
        entry(1, r#"{"role":"assistant","content":[],"errorMessage":"429  overloaded"}"#),
        runtime(2, "model.completed", r#"{"promptError":"429 overloaded"}"#),
        runtime(3, "session.ended", r#"{"status":"error","terminalError":{"message":"gave up"}}"#),
    ];
    let run = run_of(&rows);
    assert_eq!(run.errors, ["429 overloaded", "gave up"]);
    assert!(matches!(run.first_failure, Some(FirstFailure::Error { seq: 2, .. })), "{run:?}");
    assert_eq!(run.end_error.as_deref(), Some("gave up"));
}

#[test]
fn a_counter_and_records_of_a_rollout_count_once() {
    let row = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-06-01T10:00:00Z","type":"{kind}","payload":{payload}}}"#)
    };
    let counter = |total: u64, last: u64| {
        row(
            "event_msg",
            &format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total},"output_tokens":0}},"last_token_usage":{{"input_tokens":{last},"output_tokens":0}}}}}}"#
            ),
        )
    };
    let record = |id: &str, input: u64| {
        row(
            "token_usage_record",
            &format!(
                r#"{{"response_id":"{id}","usage":{{"input_tokens":{input},"output_tokens":0}}}}"#
            ),
        )
    };
    let old = [counter(10, 10), counter(10, 10), counter(25, 15)];
    assert_eq!(run_of(&old).usage().input, 25);
    let new =
        [record("r1", 10), record("r1", 10), counter(10, 10), record("r2", 15), counter(25, 15)];
    let run = run_of(&new);
    assert_eq!((run.usage().input, run.models.calls), (25, 2));
}

#[test]
fn an_interrupted_turn_is_not_an_error() {
    for (reason, about) in [("interrupted", "interrupted"), ("replaced", "interrupted: replaced")] {
        let aborted = format!(
            r#"{{"timestamp":"2026-06-01T10:00:00Z","type":"event_msg","payload":{{"type":"turn_aborted","reason":"{reason}"}}}}"#
        );
        let run = run_of(&[aborted]);
        assert_eq!(run.status, Some(RunState::Ended("interrupted".to_owned())));
        assert_eq!(run.endings, ["interrupted"]);
        assert!(run.errors.is_empty() && run.first_failure.is_none(), "{run:?}");
        assert_eq!((run.moments.len(), run.moments[0].about.as_str()), (1, about));
    }
}

#[test]
fn a_very_long_run_takes_bounded_memory() {
    let mut fold = Fold::new(Prices::default());
    for line in 1..=60_000_u64 {
        let text = format!(
            r#"{{"type":"message","id":"e","timestamp":{line},"message":{{"role":"assistant","model":"m{line}","usage":{{"input":{line},"output":1}},"content":[{{"type":"text","text":"t{line}"}}]}}}}"#
        );
        let row = Json::parse(&text).unwrap();
        Dialect::OpenClaw.decode(&row, Place::line(line), &mut |event| fold.push(&event));
    }
    let run = fold.finish();
    assert_eq!((run.events, run.models.calls), (60_000, 60_000));
    assert!(run.context.len() <= 512 && run.by_model.len() <= 200 && run.moments.len() <= 400);
    assert_eq!(run.moments.len() as u64 + run.moments_omitted, 60_000);
}

#[test]
fn each_event_returns_what_it_adds() {
    let rows = [
        runtime(1, "prompt.submitted", r#"{"prompt":"do it"}"#),
        entry(1, r#"{"role":"user","content":"do it"}"#),
        runtime(2, "approval.asked", r#"{"approvalId":"a","subject":"make"}"#),
        runtime(4, "approval.decided", r#"{"approvalId":"a","decision":"denied"}"#),
        entry(5, r#"{"role":"user","content":"stop"}"#),
        runtime(6, "session.ended", r#"{"status":"error","error":"it broke"}"#),
        runtime(7, "session.ended", r#"{"status":"error","error":"it broke"}"#),
    ];
    let mut fold = Fold::new(Prices::default());
    let mut told = Vec::new();
    for (line, row) in (1..).zip(&rows) {
        let row = Json::parse(row).unwrap();
        let dialect = Dialect::of_row(&row).unwrap();
        dialect.decode(&row, Place::line(line), &mut |event| {
            let taken = fold.read(&event);
            let waited = taken.approval.map(|approval| (approval.number, approval.millis));
            told.push((taken.turn, taken.is_new, taken.is_new_error, waited));
        });
    }
    let expected = [
        (1, true, false, None),
        (1, false, false, None),
        (1, true, false, Some((1, None))),
        (1, true, false, Some((1, Some(2_000)))),
        (2, true, false, None),
        (2, true, true, None),
        (2, true, false, None),
    ];
    assert_eq!(told, expected);
    assert_eq!(fold.finish().approvals_denied, 1);
}
