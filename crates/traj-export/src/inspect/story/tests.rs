//! Tests of which steps the rows of transcript and sidecar become.

use traj_core::dialect::Dialect;
use traj_core::json::Json;
use traj_core::run::Place;

use super::*;

/// Every step in a few words.
fn told(rows: &[String]) -> Vec<String> {
    let each = |take: &mut dyn FnMut(&RunEvent<'_>)| {
        for (line, row) in (1..).zip(rows) {
            let row = Json::parse(row).unwrap();
            let dialect = Dialect::of_row(&row).unwrap();
            dialect.decode(&row, Place::line(line), &mut |event| take(&event));
        }
    };
    let mut fold = Fold::new(Prices::shipped());
    each(&mut |event| fold.push(event));
    let run = fold.finish();
    let (texts, has_reasoning) = (TextAmount::Excerpt, false);
    let detail = StoryDetail { texts, has_reasoning, is_complete: false };
    let mut story = Story::new(&run, Prices::shipped(), detail);
    let mut told = Vec::new();
    each(&mut |event| story.take(event, &mut |step| told.push(in_short(&step))));
    story.finish(&mut |step| told.push(in_short(&step)));
    told
}

fn in_short(step: &StoryStep) -> String {
    let mark = if step.is_first_failure { " !" } else { "" };
    let what = match &step.what {
        What::Prompt { text, .. } => format!("prompt {}", text.text),
        What::Text { text } => format!("text {}", text.text),
        What::Call(call) => {
            let command = call.command.as_deref().unwrap_or("-");
            let millis = call.duration_millis.unwrap_or_default();
            format!("call {command} {} {millis} {}", call.in_words, call.output.text)
        }
        What::ModelCall(call) => format!("model {}", call.context),
        What::Turn { usage, .. } => format!("turn {} {}", step.turn, usage.tokens()),
        What::Approval { decision, waited_millis, .. } => {
            format!("approval {} {waited_millis:?}", decision.unwrap_or("open"))
        }
        What::Error { text, .. } => format!("error {text}"),
        What::Ended { status, error, .. } => format!("ended {status} {error:?}"),
        other => format!("{other:?}"),
    };
    what + mark
}

fn runtime(second: u32, kind: &str, data: &str) -> String {
    format!(
        r#"{{"traceSchema":"openclaw-trajectory","schemaVersion":1,"source":"runtime","type":"{kind}","ts":"2026-06-01T10:00:{second:02}Z","seq":1,"sessionId":"s","provider":"openai","modelId":"gpt-5.4","data":{data}}}"#
    )
}

fn entry(second: u32, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"e{second}","timestamp":"2026-06-01T10:00:{second:02}Z","message":{message}}}"#
    )
}

#[test]
fn the_longer_text_wins_and_each_call_is_shown_once() {
    let rows = [
        entry(0, r#"{"role":"user","content":"go"}"#),
        runtime(1, "tool.call", r#"{"toolCallId":"c","name":"shell","arguments":{}}"#),
        entry(
            1,
            r#"{"role":"assistant","content":[{"type":"text","text":"now"},{"type":"toolCall","id":"c","name":"shell","arguments":{"command":"make"}}]}"#,
        ),
        runtime(3, "tool.result", r#"{"toolCallId":"c","name":"shell","success":true}"#),
        entry(
            4,
            r#"{"role":"toolResult","toolCallId":"c","toolName":"shell","content":[{"type":"text","text":"no rule"}],"details":{"exitCode":2}}"#,
        ),
    ];
    let expected = ["prompt go", "text now", "call make exit 2 2000 no rule !", "turn 1 0"];
    assert_eq!(told(&rows), expected);
}

#[test]
fn a_result_without_a_call_is_shown() {
    let rows = [
        entry(
            1,
            r#"{"role":"toolResult","toolCallId":"c","toolName":"shell","content":[{"type":"text","text":"out"}],"details":{"exitCode":0}}"#,
        ),
        runtime(
            2,
            "tool.call",
            r#"{"toolCallId":"d","name":"shell","arguments":{"command":"ls"}}"#,
        ),
    ];
    assert_eq!(told(&rows), ["call - ok 0 out", "call ls no result 0 "]);
}

#[test]
fn an_approval_is_one_step_before_its_call() {
    let rows = [
        runtime(
            1,
            "tool.call",
            r#"{"toolCallId":"c","name":"shell","arguments":{"command":"rm"}}"#,
        ),
        runtime(2, "approval.asked", r#"{"approvalId":"a","toolCallId":"c","subject":"rm"}"#),
        runtime(5, "approval.decided", r#"{"approvalId":"a","decision":"denied"}"#),
        runtime(6, "approval.asked", r#"{"approvalId":"b","subject":"mv"}"#),
    ];
    let expected = ["approval denied Some(3000)", "call rm no result 0 ", "approval open None"];
    assert_eq!(told(&rows), expected);
}

#[test]
fn an_error_is_stated_once_and_an_end_by_artifacts_comes_last() {
    let rows = [
        runtime(1, "prompt.submitted", r#"{"prompt":"go"}"#),
        runtime(2, "trace.artifacts", r#"{"finalStatus":"error","promptError":"no quota"}"#),
    ];
    let told_by_artifacts = ["prompt go", "error no quota !", "turn 1 0", "ended error None"];
    assert_eq!(told(&rows), told_by_artifacts);
    let end = runtime(3, "session.ended", r#"{"status":"error","error":"no quota"}"#);
    assert_eq!(told(&[&rows[..], &[end]].concat()), told_by_artifacts);
}

#[test]
fn tokens_of_a_turn_are_not_shown_as_those_of_a_call() {
    let usage = r#"{"usage":{"input":100,"output":5}}"#;
    let rows = [
        runtime(1, "prompt.submitted", r#"{"prompt":"one"}"#),
        runtime(2, "model.completed", usage),
        runtime(3, "prompt.submitted", r#"{"prompt":"two"}"#),
    ];
    assert_eq!(told(&rows), ["prompt one", "turn 1 105", "prompt two", "turn 2 0"]);
    let call = entry(
        1,
        r#"{"role":"assistant","model":"gpt-5.4","content":[],"usage":{"input":100,"output":5}}"#,
    );
    let rows = [runtime(0, "prompt.submitted", r#"{"prompt":"one"}"#), call, rows[1].clone()];
    assert_eq!(told(&rows), ["prompt one", "model 105", "turn 1 105"]);
}

#[test]
fn a_result_after_very_many_steps_is_counted_as_late() {
    let call = entry(
        0,
        r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"shell","arguments":{}}]}"#,
    );
    let result =
        entry(9, r#"{"role":"toolResult","toolCallId":"c","toolName":"shell","content":[]}"#);
    for (steps, late) in [(1_000, 0), (16_400, 1)] {
        let detail =
            StoryDetail { texts: TextAmount::Nothing, has_reasoning: false, is_complete: false };
        let mut story = Story::new(&Run::default(), Prices::shipped(), detail);
        let mut outcomes = Vec::new();
        let mut read = |row: &str, line: u64| {
            let row = Json::parse(row).unwrap();
            Dialect::OpenClaw.decode(&row, Place::line(line), &mut |event| {
                story.take(&event, &mut |step| {
                    if let What::Call(call) = step.what {
                        outcomes.push(call.outcome);
                    }
                });
            });
        };
        read(&call, 1);
        for number in 0..steps {
            let text = format!(r#"{{"role":"user","content":"{number}"}}"#);
            read(&entry(1, &text), number + 2);
        }
        read(&result, steps + 2);
        assert_eq!(
            (story.late_results(), outcomes.as_slice()),
            (late, &[["ok", "unanswered"][late as usize]][..])
        );
    }
}
