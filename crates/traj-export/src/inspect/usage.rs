//! Tokens and cost, added up.

use serde::Serialize;
use traj_core::json::Json;

/// Tokens and cost of a session, where they are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by it.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cached_tokens: u64,
    /// The cost that the harness computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What the transcript says of the same turns.
    #[serde(skip)]
    transcript: Option<Box<Self>>,
}

impl Usage {
    pub(super) fn take(&mut self, kind: &str, event: &Json<'_>) {
        let data = event.get("data");
        match kind {
            "assistant.message" => {
                let usage = data.and_then(|data| data.get("message")).and_then(|m| m.get("usage"));
                if let Some(usage) = usage.filter(|usage| usage.as_object().is_some()) {
                    self.transcript.get_or_insert_default().add(usage);
                }
            }
            "model.completed" => {
                let usage = data.and_then(|data| data.get("usage"));
                if let Some(usage) = usage.filter(|usage| usage.as_object().is_some()) {
                    self.add(usage);
                }
            }
            _ => {}
        }
    }

    /// Both tell of the same turns; the one that tells of more of them counts.
    pub(super) fn settle(&mut self) {
        let Some(transcript) = self.transcript.take() else { return };
        if transcript.tokens() >= self.tokens() {
            let cost = transcript.cost.or(self.cost);
            *self = Self { cost, ..*transcript };
        } else {
            self.cost = self.cost.or(transcript.cost);
        }
    }

    /// All tokens together.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens).saturating_add(self.cached_tokens)
    }

    fn add(&mut self, usage: &Json<'_>) {
        let number = |names: &[&str]| {
            names.iter().find_map(|name| usage.get(name)?.as_u64()).unwrap_or_default()
        };
        for (sum, names) in [
            (&mut self.input_tokens, ["input", "inputTokens", "input_tokens"]),
            (&mut self.output_tokens, ["output", "outputTokens", "output_tokens"]),
            (
                &mut self.cached_tokens,
                ["cacheRead", "cachedInputTokens", "cache_read_input_tokens"],
            ),
        ] {
            // Anybody can write any number into a bundle.
            *sum = sum.saturating_add(number(&names));
        }
        let cost = usage.get("cost");
        let cost = cost.and_then(|cost| cost.get("total").unwrap_or(cost).as_f64());
        if let Some(cost) = cost {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
    }
}
