//! Tokens in a rollout: one record per response, or a counter that only grows.
//! New files have both, old ones only the counter.

use super::super::{said, text};
use super::other;
use crate::json::Json;
use crate::run::{Fact, ModelCall, Usage, UsageScope};

/// The tokens of one response.
pub(super) fn record<'r>(payload: &'r Json<'r>) -> Fact<'r> {
    let usage = payload.get("usage").or_else(|| payload.get("token_usage"));
    Fact::ModelCall(ModelCall {
        id: said(payload, "response_id"),
        model: said(payload, "model"),
        usage: usage.and_then(Usage::read),
        ..ModelCall::default()
    })
}

/// The counter for the session so far.
pub(super) fn counter<'r>(payload: &'r Json<'r>) -> Fact<'r> {
    let info = payload.get("info").unwrap_or(&Json::Null);
    let reading = info.get("total_token_usage").and_then(Usage::read);
    if reading.is_none() {
        // Rate limits use the same rows.
        let kind = text(payload, "type").unwrap_or_default();
        return other(Some("event_msg"), kind, true);
    }
    Fact::ModelCall(ModelCall {
        usage: reading,
        scope: UsageScope::Counter,
        last: info.get("last_token_usage").and_then(Usage::read),
        ..ModelCall::default()
    })
}
