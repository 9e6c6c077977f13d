//! One row of a price table.

use serde::Deserialize;

use super::cost::{Cost, CostOrigin};
use super::pattern::fit;
use crate::run::Usage;
use crate::timestamp::UnixMillis;

/// Prices of one model, or of a few with the same prices.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PriceRow {
    model: Vec<String>,
    #[serde(default)]
    provider: Vec<String>,
    #[serde(default)]
    pub(super) above_input: u64,
    currency: String,
    input: TokenPrice,
    cached: Option<TokenPrice>,
    cache_write: Option<TokenPrice>,
    output: TokenPrice,
    #[serde(default)]
    pub(super) valid_from: PriceDate,
    /// Where the price comes from; for people who read the table.
    #[serde(default)]
    source: String,
}

/// Units of the currency for a million tokens, in thousandths of a billionth
/// of a unit for one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
struct TokenPrice(u64);

impl TryFrom<f64> for TokenPrice {
    type Error = &'static str;

    fn try_from(price: f64) -> Result<Self, Self::Error> {
        // A million tokens at 1.00 are 1000 billionths for each.
        let fits = (0.0..1e9).contains(&price);
        if fits {
            Ok(Self((price * 1e6).round() as u64))
        } else {
            Err("a price is a positive number")
        }
    }
}

impl TokenPrice {
    /// Billionths, in thousandths.
    const fn of(self, tokens: u64) -> u128 {
        (self.0 as u128).saturating_mul(tokens as u128)
    }
}

/// A day as `2026-11-18`, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PriceDate(UnixMillis);

impl TryFrom<String> for PriceDate {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_day = text.len() == 10;
        let day = UnixMillis::parse_iso(&format!("{text}T00:00:00.000Z")).filter(|_| is_day);
        day.map(Self).ok_or("a date is written like 2026-11-18")
    }
}

impl PriceRow {
    /// How well the row fits a model; `None` when it does not.
    pub(super) fn fit(&self, provider: Option<&str>, model: &str) -> Option<usize> {
        let is_sold_by = |name: &str| {
            self.provider.is_empty()
                || self.provider.iter().any(|one| one.eq_ignore_ascii_case(name))
        };
        if !provider.is_none_or(is_sold_by) {
            return None;
        }
        self.model.iter().filter_map(|pattern| fit(pattern, model)).max()
    }

    /// Whether the row holds for a call of a model that it fits.
    pub(super) fn holds_for(&self, at: Option<UnixMillis>, usage: &Usage) -> bool {
        at.is_none_or(|at| self.valid_from.0 <= at)
            && (self.above_input == 0 || usage.input > self.above_input)
    }

    /// What a call costs by this row.
    pub(super) fn cost_of(&self, usage: &Usage) -> Cost {
        let beside = usage.cached.saturating_add(usage.cache_write);
        let plain = usage.input.saturating_sub(beside);
        let thousandths = [
            self.input.of(plain),
            self.cached.unwrap_or(self.input).of(usage.cached),
            self.cache_write.unwrap_or(self.input).of(usage.cache_write),
            self.output.of(usage.output),
        ];
        let sum = thousandths.into_iter().fold(0_u128, u128::saturating_add);
        Cost::new(sum / 1_000, self.currency.clone(), CostOrigin::Computed)
    }
}
