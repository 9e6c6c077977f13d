//! A piece of a conversation as a step.

use std::collections::BTreeSet;

use traj_core::json::{Json, Number, Object};
use traj_core::timestamp::UnixMillis;

use crate::convert::losses::{Loss, Losses};
use crate::convert::notes::CallArguments;
use crate::convert::pieces::{Call, Message, ModelPart, Piece, Step};
use crate::inspect::agent_calls::AgentCalls;
use crate::inspect::story::What;

/// The step of a piece; `None` for one that only repeats what others state.
pub(super) fn step_of(
    piece: Piece,
    agents: &AgentCalls,
    losses: &mut Losses,
) -> Option<Object<'static>> {
    match piece {
        Piece::Message(message) => Some(message_step(message, agents, losses)),
        Piece::Step(step) => plain_step(step, losses),
    }
}

/// The step of a system prompt.
pub(super) fn system_prompt(text: &str, at: Option<UnixMillis>) -> Object<'static> {
    let mut step = begin("system", at, text.to_owned());
    push_extra(&mut step, "system_prompt", |_| {});
    step
}

/// The only step of a run without any.
pub(super) fn empty() -> Object<'static> {
    begin("system", None, "the run has no steps".to_owned())
}

fn begin(source: &'static str, at: Option<UnixMillis>, message: String) -> Object<'static> {
    let mut step = Object::new();
    step.push("step_id", 0_u64);
    step.push_some("timestamp", at.map(UnixMillis::to_iso));
    step.push("source", source);
    step.push("message", message);
    step
}

/// Adds what kind of step it is, and what there is no member for.
fn push_extra(
    step: &mut Object<'static>,
    kind: &'static str,
    fill: impl FnOnce(&mut Object<'static>),
) {
    let mut extra = Object::new();
    extra.push("kind", kind);
    fill(&mut extra);
    step.push("extra", Json::Object(extra));
}

fn message_step(message: Message, agents: &AgentCalls, losses: &mut Losses) -> Object<'static> {
    let mut step = begin("agent", message.at, message.text());
    if let Some(model) = &message.model {
        step.push_some("model_name", model.usage.model.clone());
    }
    if !message.reasoning.is_empty() {
        step.push("reasoning_content", message.reasoning.join("\n\n"));
    }
    if !message.calls.is_empty() {
        let ids = distinct_ids(&message.calls);
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for (call, id) in message.calls.iter().zip(ids) {
            losses.add(Loss::Images, call.note.images);
            losses.add(Loss::NoCallId, u64::from(call.shown.id.is_none()));
            let stated = call.shown.id.as_deref().unwrap_or_default();
            let started = agents.started(stated, message.sub_agent.as_deref(), call.note.seq);
            results.extend(result_of(call, &id, started.map(|(agent, _)| agent)));
            calls.push(call_of(call, id));
        }
        step.push("tool_calls", Json::Array(calls));
        if !results.is_empty() {
            let mut observation = Object::new();
            observation.push("results", Json::Array(results));
            step.push("observation", Json::Object(observation));
        }
    }
    if let Some(model) = &message.model {
        step.push("metrics", metrics_of(model));
    }
    step
}

/// A unique id for each call of a step.
fn distinct_ids(calls: &[Call]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let distinct = |call: &Call| {
        let stated = call.shown.id.clone().unwrap_or_else(|| format!("call-{}", call.note.seq));
        let mut id = stated.clone();
        let mut number = 1;
        while !seen.insert(id.clone()) {
            number += 1;
            id = format!("{stated}#{number}");
        }
        id
    };
    calls.iter().map(distinct).collect()
}

fn call_of(call: &Call, id: String) -> Json<'static> {
    let mut object = Object::new();
    object.push("tool_call_id", id);
    object.push("function_name", call.shown.tool.clone());
    let mut extra = Object::new();
    let arguments = match &call.note.arguments {
        CallArguments::Value(value) if value.as_object().is_some() => value.clone(),
        CallArguments::None => Json::Object(Object::new()),
        CallArguments::Value(value) => wrapped("value", value.clone(), &mut extra),
        CallArguments::Text(text) => wrapped("text", text.clone().into(), &mut extra),
    };
    object.push("arguments", arguments);
    extra.push_some("timestamp", call.at.map(UnixMillis::to_iso));
    if !extra.is_empty() {
        object.push("extra", Json::Object(extra));
    }
    Json::Object(object)
}

/// Wraps arguments that are not an object in one.
fn wrapped(name: &'static str, value: Json<'static>, extra: &mut Object<'static>) -> Json<'static> {
    extra.push("arguments_in", name);
    let mut object = Object::new();
    object.push(name, value);
    Json::Object(object)
}

/// The result of a call, and the sub-agents that it started; `None` if there is none.
fn result_of<'n>(
    call: &Call,
    id: &str,
    sub_agents: impl Iterator<Item = &'n str>,
) -> Option<Json<'static>> {
    let shown = &call.shown;
    if shown.outcome == traj_core::run::Outcome::Unanswered.name() {
        return None;
    }
    let mut object = Object::new();
    object.push("source_call_id", id.to_owned());
    object.push("content", format!("{}{}", shown.output.text, shown.output.rest));
    let reference = |name: &str| {
        let mut reference = Object::new();
        reference.push("trajectory_id", name.to_owned());
        Json::Object(reference)
    };
    let references: Vec<Json<'static>> = sub_agents.map(reference).collect();
    if !references.is_empty() {
        object.push("subagent_trajectory_ref", Json::Array(references));
    }
    let mut extra = Object::new();
    extra.push("outcome", shown.outcome);
    extra.push_some("exit_code", shown.exit_code);
    extra.push_some("signal", shown.signal.clone());
    extra.push_some("error", shown.error.clone());
    extra.push_some("duration_ms", shown.duration_millis);
    if shown.is_truncated {
        extra.push("truncated", true);
    }
    object.push("extra", Json::Object(extra));
    Some(Json::Object(object))
}

fn metrics_of(model: &ModelPart) -> Json<'static> {
    let usage = &model.usage.usage;
    let mut metrics = Object::new();
    metrics.push("prompt_tokens", usage.input_tokens);
    metrics.push("completion_tokens", usage.output_tokens);
    metrics.push("cached_tokens", usage.cached_tokens);
    let mut extra = Object::new();
    if let Some(cost) = usage.cost.and_then(Number::from_f64) {
        if usage.currency.as_deref() == Some("USD") {
            metrics.push("cost_usd", cost);
        } else {
            extra.push("cost", cost);
            extra.push_some("currency", usage.currency.clone());
        }
        extra.push_some("cost_origin", usage.cost_origin.as_deref().map(str::to_owned));
    }
    extra.push("cache_write_tokens", usage.cache_write_tokens);
    extra.push("reasoning_tokens", usage.reasoning_tokens);
    extra.push_some("provider", model.note.provider.clone());
    extra.push_some("response_id", model.note.response.clone());
    extra.push_some("stop_reason", model.note.stop_reason.clone());
    extra.push_some("duration_ms", model.usage.duration_millis);
    extra.push_some("timestamp", model.at.map(UnixMillis::to_iso));
    metrics.push("extra", Json::Object(extra));
    Json::Object(metrics)
}

/// A step that is not a message of the model.
fn plain_step(step: Step, losses: &mut Losses) -> Option<Object<'static>> {
    let (at, is_first) = (step.at, step.is_first_failure);
    let system = |kind: &'static str, text: String, fill: &mut dyn FnMut(&mut Object<'static>)| {
        let mut step = begin("system", at, text);
        push_extra(&mut step, kind, |extra| {
            if is_first {
                extra.push("first_failure", true);
            }
            fill(extra);
        });
        Some(step)
    };
    match step.what {
        What::Prompt { text, images, skipped } => {
            losses.add(Loss::Images, images);
            let mut step = begin("user", at, text.text);
            if images > 0 || skipped.is_some() {
                push_extra(&mut step, "prompt", |extra| {
                    extra.push("images", images);
                    extra.push_some("skipped", skipped);
                });
            }
            Some(step)
        }
        What::Approval { subject, decision, decider, reason, waited_millis } => {
            let about = subject.unwrap_or_default();
            let text = format!("{}: {about}", decision.unwrap_or("asked for approval"));
            let subject = Some(about).filter(|about| !about.is_empty());
            system("approval", text, &mut |extra| {
                extra.push_some("subject", subject.clone());
                extra.push_some("decision", decision);
                extra.push_some("decider", decider.clone());
                extra.push_some("reason", reason.clone());
                extra.push_some("waited_ms", waited_millis);
            })
        }
        What::Compaction { tokens_before, summary } => {
            system("compaction", summary.text, &mut |extra| {
                extra.push_some("tokens_before", tokens_before);
            })
        }
        What::Changed { about } => system("changed", about, &mut |_| {}),
        What::Error { text, is_recovered } => system("error", text, &mut |extra| {
            extra.push("is_recovered", is_recovered);
        }),
        What::Lost { about } => system("lost", about, &mut |_| {}),
        What::Aside { about } => system("aside", about, &mut |_| {}),
        What::Ended { status, error, .. } => {
            let text = error.clone().unwrap_or_else(|| format!("ended: {status}"));
            system("ended", text, &mut |extra| {
                extra.push("status", status.clone());
                extra.push_some("error", error.clone());
            })
        }
        _ => None,
    }
}
