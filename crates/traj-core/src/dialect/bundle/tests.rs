//! Every fact survives encoding and decoding.

use super::encode::encode;
use crate::dialect::Dialect;
use crate::json::{Json, Object};
use crate::run::{
    ApprovalFact, ApprovalOutcome, Arguments, Attachment, Branches, Compaction, CompiledContext,
    Content, EndStatus, ErrorFact, Fact, Failure, Hook, Loss, ModeChange, ModelCall, ModelChange,
    Outcome, Place, Prompt, Rewind, SessionEnd, SessionStart, StatedCost, ToolCallFact,
    ToolResultFact, UnknownRows, Usage, UsageScope,
};

/// Asserts that a fact survives encoding and decoding.
fn assert_comes_back(fact: &Fact<'_>) {
    let (kind, data) = encode(fact);
    let mut event = Object::new();
    event.push("traceSchema", "openclaw-trajectory");
    event.push("source", "transcript");
    event.push("type", kind);
    event.push("data", Json::Object(data));
    let line = Json::Object(event).to_line();
    let event = Json::parse(&line).unwrap();
    let mut facts = 0;
    Dialect::Bundle.decode(&event, Place::line(1), &mut |read| {
        facts += 1;
        assert_eq!(&read.fact, fact, "{line}");
    });
    assert_eq!(facts, 1, "{line}");
}

fn result(outcome: Outcome<'static>) -> Fact<'static> {
    Fact::ToolResult(ToolResultFact {
        id: Some("c"),
        name: Some("shell"),
        outcome,
        content: Content::Text("x"),
        duration: Some(5),
        is_truncated: true,
    })
}

#[test]
fn the_bounds_of_a_run_survive_a_round_trip() {
    let arguments = Json::parse(r#"{"cmd":["ls"]}"#).unwrap();
    let ended = |status| SessionEnd {
        status,
        error: Some("no".into()),
        reason: Some("replaced".into()),
        is_final: true,
    };
    let facts = [
        Fact::SessionStarted(SessionStart::default()),
        Fact::SessionStarted(SessionStart {
            session: Some("s"),
            agent: Some("codex".into()),
            agent_version: Some("1"),
            workspace: Some("/w"),
            provider: Some("p"),
            model: Some("m"),
            parent: Some("q"),
            is_part: false,
            begins_run: true,
        }),
        Fact::SessionEnded(ended(EndStatus::Other("odd".into()))),
        Fact::ContextCompiled(CompiledContext {
            system: Content::Text("s"),
            tools: Some(&arguments),
        }),
        Fact::TurnStarted,
        Fact::TurnEnded(ended(EndStatus::Interrupted)),
    ];
    facts.iter().for_each(assert_comes_back);
}

#[test]
fn texts_calls_and_results_survive_a_round_trip() {
    let blocks = Json::parse(r#"[{"type":"tool_result","text":"a"},{"text":"b"}]"#).unwrap();
    let blocks = Content::Value(&blocks);
    let arguments = Json::parse(r#"{"cmd":["ls"]}"#).unwrap();
    let facts = [
        Fact::Prompt(Prompt { content: Content::Text("p"), images: 2, skipped: Some("why") }),
        Fact::Prompt(Prompt { content: blocks, images: 0, skipped: None }),
        Fact::Prompt(Prompt::default()),
        Fact::AssistantText(Content::Text("t")),
        Fact::AssistantText(blocks),
        Fact::Reasoning(blocks),
        Fact::Reasoning(Content::None),
        Fact::ToolCall(ToolCallFact { id: None, name: "t", arguments: Arguments::None }),
        Fact::ToolCall(ToolCallFact { id: Some("c"), name: "t", arguments: Arguments::Text("{") }),
        Fact::ToolCall(ToolCallFact {
            id: None,
            name: "t",
            arguments: Arguments::Value(&arguments),
        }),
        result(Outcome::Ok),
        result(Outcome::Failed(Failure::exit(3))),
        result(Outcome::Failed(Failure {
            exit_code: None,
            signal: Some("SIGKILL".into()),
            error: Some("e".into()),
        })),
        result(Outcome::TimedOut),
        result(Outcome::Declined),
        result(Outcome::Interrupted),
        result(Outcome::Unanswered),
    ];
    facts.iter().for_each(assert_comes_back);
}

#[test]
fn model_calls_and_approvals_survive_a_round_trip() {
    let usage = Usage { input: 9, cached: 3, cache_write: 2, output: 4, reasoning: 1 };
    let model_call = |scope| ModelCall {
        id: Some("r"),
        provider: Some("p"),
        model: Some("m"),
        usage: Some(usage),
        scope,
        last: Some(Usage { input: 1, ..Usage::default() }),
        cost: Some(StatedCost { dollars: 0.25 }),
        stop_reason: Some("stop".into()),
        latency: Some(7),
        error: Some("e".into()),
    };
    let approval = |decision| ApprovalFact {
        id: Some("a"),
        call: Some("c"),
        subject: Some("rm x".into()),
        decision,
        reason: Some("why".into()),
        decided_by: Some("user"),
        decider_name: Some("alice"),
        scope: Some("session"),
    };
    let facts = [
        Fact::ModelCall(ModelCall::default()),
        Fact::ModelCall(model_call(UsageScope::Call)),
        Fact::ModelCall(model_call(UsageScope::Turn)),
        Fact::ModelCall(model_call(UsageScope::Counter)),
        Fact::ApprovalAsked(approval(None)),
        Fact::ApprovalDecided(approval(Some(ApprovalOutcome::ApprovedForSession))),
    ];
    facts.iter().for_each(assert_comes_back);
}

#[test]
fn every_other_fact_survives_a_round_trip() {
    let blocks = Json::parse(r#"[{"type":"tool_result","text":"a"},{"text":"b"}]"#).unwrap();
    let blocks = Content::Value(&blocks);
    let facts = [
        Fact::Compaction(Compaction { summary: blocks, tokens_before: Some(4) }),
        Fact::ModelChanged(ModelChange {
            provider: Some("p"),
            model: Some("m"),
            reason: Some("r"),
        }),
        Fact::ModeChanged(ModeChange { name: "effort".into(), value: "high".into() }),
        Fact::Branches(Branches { count: 2, entries: 9 }),
        Fact::UnknownRows(UnknownRows { name: Some("brand_new"), count: 3 }),
        Fact::UnknownRows(UnknownRows { name: None, count: 4 }),
        Fact::Rewind(Rewind { to: Some("e"), turns: Some(2), summary: Content::Text("s") }),
        Fact::Attachment(Attachment { kind: Some("k".into()), name: Some("n"), content: blocks }),
        Fact::Hook(Hook {
            name: "h",
            outcome: Outcome::Failed(Failure::exit(1)),
            content: Content::Text("o"),
        }),
        Fact::Error(ErrorFact { text: "e".into(), kind: Some("k"), is_recovered: true }),
        Fact::Lost(Loss { reason: Some("r".into()), events: Some(1), bytes: Some(2) }),
        Fact::Other { name: "brand_new".into(), is_known: false },
    ];
    facts.iter().for_each(assert_comes_back);
}
