//! Remembers the prices of recently used models: a run has few models and many
//! calls.

use std::collections::VecDeque;

use super::row::PriceRow;
use super::{Cost, Prices};
use crate::run::Usage;
use crate::timestamp::UnixMillis;

/// How many models are remembered.
const MOST_MODELS: usize = 8;

/// Longer names are not remembered.
const LONGEST_NAME: usize = 200;

/// A table, and its rows for recently used models.
#[derive(Clone, Debug)]
pub(in crate::run) struct RememberedPrices {
    prices: Prices,
    models: VecDeque<ModelPrices>,
}

/// The rows that match one model, best first.
#[derive(Clone, Debug)]
struct ModelPrices {
    provider: Option<String>,
    model: String,
    rows: Vec<PriceRow>,
}

impl RememberedPrices {
    pub(in crate::run) const fn new(prices: Prices) -> Self {
        Self { prices, models: VecDeque::new() }
    }

    /// The same as [`Prices::cost`].
    pub(in crate::run) fn cost(
        &mut self,
        provider: Option<&str>,
        model: &str,
        at: Option<UnixMillis>,
        usage: &Usage,
    ) -> Option<Cost> {
        if model.len() + provider.map_or(0, str::len) > LONGEST_NAME {
            return self.prices.cost(provider, model, at, usage);
        }
        let is_it =
            |known: &ModelPrices| known.model == model && known.provider.as_deref() == provider;
        let place = match self.models.iter().position(is_it) {
            Some(place) => place,
            None => self.add(provider, model),
        };
        best(self.models.get(place)?.rows.iter(), at, usage)
    }

    /// Adds a model; returns its index.
    fn add(&mut self, provider: Option<&str>, model: &str) -> usize {
        if self.models.len() >= MOST_MODELS {
            self.models.pop_front();
        }
        self.models.push_back(ModelPrices {
            provider: provider.map(str::to_owned),
            model: model.to_owned(),
            rows: self.prices.rows_for(provider, model).into_iter().cloned().collect(),
        });
        self.models.len() - 1
    }
}

/// The cost according to the first row that applies to a call.
pub(super) fn best<'r>(
    mut rows: impl Iterator<Item = &'r PriceRow>,
    at: Option<UnixMillis>,
    usage: &Usage,
) -> Option<Cost> {
    rows.find(|row| row.holds_for(at, usage)).map(|row| row.cost_of(usage))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn remembering_changes_no_cost(
            calls in prop::collection::vec(
                (
                    prop::option::of(prop::sample::select(vec!["openai", "anthropic", "other"])),
                    prop::sample::select(vec![
                        "gpt-5.4", "gpt-5.5", "gpt-5", "openai/gpt-5.4", "anthropic/claude-sonnet-4-5",
                        "claude-opus-4-1", "claude-haiku-4-5", "gemini-2.5-pro", "nobody", "", "a/b",
                    ]),
                    prop::option::of(0_i64..2_000_000_000_000),
                    0_u64..2_000_000,
                ),
                0..60,
            ),
        ) {
            let prices = Prices::shipped();
            let mut remembered = RememberedPrices::new(prices.clone());
            for (provider, model, at, input) in calls {
                let (at, usage) =
                    (at.and_then(UnixMillis::new), Usage { input, output: 7, ..Usage::default() });
                prop_assert_eq!(
                    remembered.cost(provider, model, at, &usage),
                    prices.cost(provider, model, at, &usage)
                );
                prop_assert!(remembered.models.len() <= MOST_MODELS);
            }
        }
    }
}
