//! Tokens by model.

use std::collections::BTreeMap;

use traj_core::json::{Json, Number, Object};

use crate::convert::pieces::Message;

/// At most this many models are listed by name.
const MOST_MODELS: usize = 200;

/// The usage of each model.
#[derive(Debug, Default)]
pub(super) struct UsageByModel(BTreeMap<String, ModelTokens>);

#[derive(Clone, Copy, Debug, Default)]
struct ModelTokens {
    input: u64,
    cached: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
    nanos: u128,
    unpriced: u64,
}

impl UsageByModel {
    pub(super) fn add(&mut self, message: &Message) {
        let Some(model) = &message.model else { return };
        let usage = &model.usage.usage;
        let cost = usage.cost.filter(|_| usage.currency.as_deref() == Some("USD"));
        let tokens = ModelTokens {
            input: usage.input_tokens,
            cached: usage.cached_tokens,
            cache_write: usage.cache_write_tokens,
            output: usage.output_tokens,
            reasoning: usage.reasoning_tokens,
            nanos: cost.map_or(0, |cost| (cost * 1e9).round() as u128),
            unpriced: u64::from(cost.is_none()),
        };
        self.add_to(model.usage.model.as_deref().unwrap_or("unknown"), tokens);
    }

    /// Adds the usage of another sample.
    pub(super) fn join(&mut self, other: &Self) {
        for (name, tokens) in &other.0 {
            self.add_to(name, *tokens);
        }
    }

    fn add_to(&mut self, name: &str, more: ModelTokens) {
        let is_new = !self.0.contains_key(name);
        let name = if is_new && self.0.len() >= MOST_MODELS { "other" } else { name };
        let sum = self.0.entry(name.to_owned()).or_default();
        sum.input = sum.input.saturating_add(more.input);
        sum.cached = sum.cached.saturating_add(more.cached);
        sum.cache_write = sum.cache_write.saturating_add(more.cache_write);
        sum.output = sum.output.saturating_add(more.output);
        sum.reasoning = sum.reasoning.saturating_add(more.reasoning);
        sum.nanos = sum.nanos.saturating_add(more.nanos);
        sum.unpriced = sum.unpriced.saturating_add(more.unpriced);
    }

    /// Here, input does not include tokens read from or written to a cache.
    pub(super) fn to_json(&self) -> Json<'static> {
        let mut models = Object::new();
        for (name, tokens) in &self.0 {
            let mut usage = Object::new();
            let cached = tokens.cached.saturating_add(tokens.cache_write);
            usage.push("input_tokens", tokens.input.saturating_sub(cached));
            usage.push("output_tokens", tokens.output);
            usage.push("total_tokens", tokens.input.saturating_add(tokens.output));
            usage.push("input_tokens_cache_write", tokens.cache_write);
            usage.push("input_tokens_cache_read", tokens.cached);
            usage.push("reasoning_tokens", tokens.reasoning);
            if tokens.unpriced == 0 {
                usage.push_some("total_cost", Number::from_f64(tokens.nanos as f64 / 1e9));
            }
            models.push(name.clone(), Json::Object(usage));
        }
        Json::Object(models)
    }
}
