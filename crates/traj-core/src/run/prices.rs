//! The cost of a model call: its tokens times a table of prices.
//!
//! The table is data (`prices.toml`); users can override it with their own. A
//! model without a matching row has no cost: unknown is not zero.

mod cost;
mod pattern;
mod remembered;
mod row;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub use cost::{Cost, CostOrigin};
pub(super) use remembered::RememberedPrices;

use remembered::best;
use row::PriceRow;

use super::Usage;
use crate::settings::toml_fault;
use crate::timestamp::UnixMillis;

/// Why a price table was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("line {line}: {problem}")]
pub struct PricesError {
    /// The line, counted from one.
    pub line: usize,
    /// The problem, without values from the file.
    pub problem: String,
}

/// Prices of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// The rows, with the number of the table they came from. An overriding table
    /// has a higher number.
    rows: Vec<(usize, PriceRow)>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default)]
    model: Vec<PriceRow>,
}

impl Prices {
    /// The table shipped with traj.
    #[must_use]
    pub fn shipped() -> Self {
        static SHIPPED: OnceLock<Prices> = OnceLock::new();
        // A test proves that it parses.
        SHIPPED.get_or_init(|| Self::parse(include_str!("prices.toml")).unwrap_or_default()).clone()
    }

    /// Parses a table of `[[model]]` rows, in the format of the shipped
    /// `prices.toml`.
    ///
    /// # Errors
    /// When the text is not TOML in this format.
    pub fn parse(text: &str) -> Result<Self, PricesError> {
        let file: PriceFile = toml::from_str(text).map_err(|error| {
            let (line, problem) = toml_fault::line_and_problem(text, &error);
            PricesError { line, problem }
        })?;
        Ok(Self::from_rows(file.model))
    }

    fn from_rows(rows: Vec<PriceRow>) -> Self {
        Self { rows: rows.into_iter().map(|row| (0, row)).collect() }
    }

    /// This table overridden by another: where rows of both apply to a call,
    /// those of `other` win.
    #[must_use]
    pub fn overridden_by(mut self, other: Self) -> Self {
        let above = self.rows.iter().map(|(table, _)| table + 1).max().unwrap_or(0);
        self.rows.extend(other.rows.into_iter().map(|(table, row)| (table + above, row)));
        self
    }

    /// The table in the format that [`Prices::parse`] reads: the prices only,
    /// without comments and sources.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        self.rows.iter().for_each(|(_, row)| row.write_toml(&mut text));
        text
    }

    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cost of one model call; `None` if no row applies.
    ///
    /// A row that names providers does not apply to others. Without a provider
    /// any row can apply, and the model may be written `provider/model`. The most
    /// specific pattern wins, then the highest `above-input`, then the newest row
    /// that is not newer than the call; for a call without a time, the newest
    /// row. Some models cost more for calls with much input, so the usage must be
    /// that of one call and not a sum.
    #[must_use]
    pub fn cost(
        &self,
        provider: Option<&str>,
        model: &str,
        at: Option<UnixMillis>,
        usage: &Usage,
    ) -> Option<Cost> {
        best(self.rows_for(provider, model).into_iter(), at, usage)
    }

    /// The rows that match a model, at any time, best first.
    fn rows_for(&self, provider: Option<&str>, model: &str) -> Vec<&PriceRow> {
        let (provider, model) = match (provider, model.split_once('/')) {
            (None, Some((provider, model))) => (Some(provider), model),
            (Some(provider), Some((prefix, model))) if prefix.eq_ignore_ascii_case(provider) => {
                (Some(provider), model)
            }
            (provider, _) => (provider, model),
        };
        let fitting = self.rows.iter().enumerate().filter_map(|(place, (table, row))| {
            let specificity = row.fit(provider, model)?;
            Some(((*table, specificity, row.above_input, row.valid_from, place), row))
        });
        let mut fitting: Vec<_> = fitting.collect();
        fitting.sort_unstable_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        fitting.into_iter().map(|(_, row)| row).collect()
    }
}
