//! One row of a price table.

use std::fmt::Write as _;

use serde::Deserialize;

use super::cost::{Cost, CostOrigin};
use super::pattern::fit;
use crate::run::Usage;
use crate::timestamp::UnixMillis;

/// Prices of one model, or of several with the same prices.
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
    /// Where the price comes from, for people who read the table.
    #[serde(default)]
    source: String,
}

/// A price per million tokens, kept as thousandths of a billionth of the currency
/// unit per token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
struct TokenPrice(u64);

impl TryFrom<f64> for TokenPrice {
    type Error = &'static str;

    fn try_from(price: f64) -> Result<Self, Self::Error> {
        // 1.00 per million tokens is 1000 billionths per token.
        let fits = (0.0..1e9).contains(&price);
        if fits {
            Ok(Self((price * 1e6).round() as u64))
        } else {
            Err("a price must be a number from 0 to below 1e9")
        }
    }
}

impl TokenPrice {
    /// The price of tokens, in thousandths of a billionth.
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
        day.map(Self).ok_or("a date must look like 2026-11-18")
    }
}

impl TokenPrice {
    /// Appends a price per million tokens, as a table states it.
    fn write(self, out: &mut String) {
        // Writing to a string does not fail.
        write!(out, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000).ok();
    }
}

impl PriceRow {
    /// Appends the row as a TOML table, without the source of the price.
    pub(super) fn write_toml(&self, out: &mut String) {
        // A JSON string is also a TOML string, and writing to a string does not fail.
        let list = |names: &[String]| serde_json::to_string(names).unwrap_or_default();
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        write!(out, "[[model]]\nmodel = {}\n", list(&self.model)).ok();
        if !self.provider.is_empty() {
            writeln!(out, "provider = {}", list(&self.provider)).ok();
        }
        if self.above_input > 0 {
            writeln!(out, "above-input = {}", self.above_input).ok();
        }
        writeln!(out, "currency = {}", text(&self.currency)).ok();
        let prices = [
            ("input", Some(self.input)),
            ("cached", self.cached),
            ("cache-write", self.cache_write),
            ("output", Some(self.output)),
        ];
        for (name, price) in prices {
            if let Some(price) = price {
                write!(out, "{name} = ").ok();
                price.write(out);
                out.push('\n');
            }
        }
        let day = self.valid_from.0.to_iso();
        writeln!(out, "valid-from = {}", text(day.get(..10).unwrap_or_default())).ok();
    }

    /// How specifically the row matches a model; `None` if it does not.
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

    /// Whether the row applies to a call of a model that it matches.
    pub(super) fn holds_for(&self, at: Option<UnixMillis>, usage: &Usage) -> bool {
        at.is_none_or(|at| self.valid_from.0 <= at)
            && (self.above_input == 0 || usage.input > self.above_input)
    }

    /// The cost of a call according to this row.
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
