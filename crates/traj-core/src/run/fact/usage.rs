//! Tokens of a model call: one definition for every provider's spelling.

use crate::json::Json;

/// Tokens of one or more model calls.
///
/// `input` is everything that the model read, including tokens read from a cache
/// and tokens written to one. `output` is everything it wrote, including
/// reasoning. Providers count differently; [`Usage::read`] converts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a plain sum, built literally by dialects")]
pub struct Usage {
    /// Tokens that the model read, cached ones included.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// Tokens that the model wrote, reasoning included.
    pub output: u64,
    /// Output tokens of reasoning.
    pub reasoning: u64,
}

/// A cost stated by the source.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "an amount in US dollars")]
pub struct StatedCost {
    /// The amount in US dollars, the only currency that sources use.
    pub dollars: f64,
}

impl Usage {
    /// Reads an object of token counts, under the names that providers and
    /// harnesses use; `None` if it contains none.
    ///
    /// Whether `input` already includes the cached tokens depends on the
    /// spelling: OpenAI's does, Anthropic's and OpenClaw's do not.
    #[must_use]
    pub fn read(usage: &Json<'_>) -> Option<Self> {
        let number = |names: &[&str]| names.iter().find_map(|name| usage.get(name)?.as_u64());
        let within = |holders: &[&str], name: &str| {
            holders.iter().find_map(|holder| usage.get(holder)?.get(name)?.as_u64())
        };
        let input =
            number(&["input", "inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]);
        let output = number(&[
            "output",
            "outputTokens",
            "output_tokens",
            "completionTokens",
            "completion_tokens",
        ]);
        // Counted in addition to the input.
        let beside_cached = number(&["cacheRead", "cache_read_input_tokens"]);
        let beside_written = number(&["cacheWrite", "cache_creation_input_tokens"]);
        // Counted as part of the input.
        let within_cached = number(&["cachedInputTokens", "cached_input_tokens"]).or_else(|| {
            within(&["prompt_tokens_details", "input_tokens_details"], "cached_tokens")
        });
        let within_written = number(&["cacheWriteInputTokens", "cache_write_input_tokens"]);
        if input.is_none() && output.is_none() && beside_cached.is_none() {
            return None;
        }
        let reasoning = number(&["reasoningOutputTokens", "reasoning_output_tokens", "reasoning"])
            .or_else(|| {
                let holders = ["completion_tokens_details", "output_tokens_details"];
                within(&holders, "reasoning_tokens").or_else(|| within(&holders, "thinking_tokens"))
            });
        let beside =
            beside_cached.unwrap_or_default().saturating_add(beside_written.unwrap_or_default());
        Some(Self {
            input: input.unwrap_or_default().saturating_add(beside),
            cached: beside_cached.or(within_cached).unwrap_or_default(),
            cache_write: beside_written.or(within_written).unwrap_or_default(),
            output: output.unwrap_or_default(),
            reasoning: reasoning.unwrap_or_default(),
        })
    }

    /// The cost that an object of token counts may also state.
    #[must_use]
    pub fn read_cost(usage: &Json<'_>) -> Option<StatedCost> {
        let cost = usage.get("cost")?;
        let dollars = cost.get("total").unwrap_or(cost).as_f64()?;
        dollars.is_finite().then_some(StatedCost { dollars })
    }

    /// Whether all counts are zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// All tokens, read and written. For a single call this is the size of its
    /// context.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds the tokens of another call. A file may contain any number, so sums
    /// saturate.
    pub const fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    /// Raises each count to that of another statement about the same call.
    pub(in crate::run) fn raise(&mut self, other: &Self) {
        self.input = self.input.max(other.input);
        self.cached = self.cached.max(other.cached);
        self.cache_write = self.cache_write.max(other.cache_write);
        self.output = self.output.max(other.output);
        self.reasoning = self.reasoning.max(other.reasoning);
    }

    /// The increase of a counter since an earlier reading.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cached: self.cached.saturating_sub(earlier.cached),
            cache_write: self.cache_write.saturating_sub(earlier.cache_write),
            output: self.output.saturating_sub(earlier.output),
            reasoning: self.reasoning.saturating_sub(earlier.reasoning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(usage: &str) -> [u64; 5] {
        let usage = Usage::read(&Json::parse(usage).unwrap()).unwrap_or_default();
        [usage.input, usage.cached, usage.cache_write, usage.output, usage.reasoning]
    }

    #[test]
    fn input_includes_cached_tokens_in_every_spelling() {
        let openclaw = r#"{"input":100,"output":7,"cacheRead":40,"cacheWrite":3}"#;
        assert_eq!(read(openclaw), [143, 40, 3, 7, 0]);
        let anthropic = r#"{"input_tokens":100,"output_tokens":7,"cache_read_input_tokens":40,"cache_creation_input_tokens":3}"#;
        assert_eq!(read(anthropic), [143, 40, 3, 7, 0]);
        let codex = r#"{"input_tokens":143,"cached_input_tokens":40,"cache_write_input_tokens":3,"output_tokens":7,"reasoning_output_tokens":2}"#;
        assert_eq!(read(codex), [143, 40, 3, 7, 2]);
        let wire = r#"{"inputTokens":143,"cachedInputTokens":40,"outputTokens":7}"#;
        assert_eq!(read(wire), [143, 40, 0, 7, 0]);
        let chat = r#"{"prompt_tokens":143,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens":7}"#;
        assert_eq!(read(chat), [143, 40, 0, 7, 0]);
    }

    #[test]
    fn an_object_without_counts_is_not_usage() {
        for nothing in ["{}", "null", "[]", r#"{"total":5}"#, r#"{"input":"5"}"#] {
            assert_eq!(Usage::read(&Json::parse(nothing).unwrap()), None, "{nothing}");
        }
    }

    #[test]
    fn a_stated_cost_is_a_number_or_its_total() {
        let cost = |usage: &str| Usage::read_cost(&Json::parse(usage).unwrap());
        assert_eq!(cost(r#"{"cost":0.5}"#), Some(StatedCost { dollars: 0.5 }));
        assert_eq!(cost(r#"{"cost":{"input":0.1,"total":0.5}}"#).unwrap().dollars, 0.5);
        assert_eq!(cost(r#"{"cost":1e999}"#), None);
    }

    #[test]
    fn sums_saturate() {
        let mut usage = Usage { input: u64::MAX, ..Usage::default() };
        usage.add(&Usage { input: 1, output: 2, ..Usage::default() });
        assert_eq!((usage.input, usage.output, usage.total()), (u64::MAX, 2, u64::MAX));
    }
}
