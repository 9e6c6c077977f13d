//! The sums of a trajectory.

use traj_core::json::{Json, Number, Object};

use crate::convert::pieces::Message;

/// Tokens and cost of the steps of a trajectory.
#[derive(Debug, Default)]
pub(super) struct Totals {
    prompt: u64,
    completion: u64,
    cached: u64,
    /// Billionths of a dollar, so that the sum does not depend on the order.
    nanos: u128,
    /// How many calls have a cost in dollars, and how many have none.
    priced: u64,
    unpriced: u64,
}

impl Totals {
    pub(super) const fn new() -> Self {
        Self { prompt: 0, completion: 0, cached: 0, nanos: 0, priced: 0, unpriced: 0 }
    }

    /// Adds the model call of a message.
    pub(super) fn add(&mut self, message: &Message) {
        let Some(model) = &message.model else { return };
        let usage = &model.usage.usage;
        self.prompt = self.prompt.saturating_add(usage.input_tokens);
        self.completion = self.completion.saturating_add(usage.output_tokens);
        self.cached = self.cached.saturating_add(usage.cached_tokens);
        match usage.cost.filter(|_| usage.currency.as_deref() == Some("USD")) {
            Some(cost) => {
                self.nanos = self.nanos.saturating_add((cost * 1e9).round() as u128);
                self.priced += 1;
            }
            None => self.unpriced += 1,
        }
    }

    pub(super) fn to_json(&self, steps: u64) -> Json<'static> {
        let mut object = Object::new();
        object.push("total_prompt_tokens", self.prompt);
        object.push("total_completion_tokens", self.completion);
        object.push("total_cached_tokens", self.cached);
        if self.priced > 0 && self.unpriced == 0 {
            object.push_some("total_cost_usd", Number::from_f64(self.nanos as f64 / 1e9));
        }
        object.push("total_steps", steps);
        Json::Object(object)
    }
}
