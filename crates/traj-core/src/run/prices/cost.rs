//! An amount of money, exact to a billionth.

use std::fmt;

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostOrigin {
    /// Stated by the source.
    Stated,
    /// Tokens times a price.
    Computed,
}

impl CostOrigin {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Computed => "computed",
        }
    }
}

/// The cost of model calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Billionths of the currency, so that sums are exact in any order.
    pub nanos: u128,
    /// The currency, as its ISO 4217 code.
    pub currency: String,
    /// Where it comes from.
    pub origin: CostOrigin,
}

impl Cost {
    /// A cost of this many billionths.
    #[must_use]
    pub fn new(nanos: u128, currency: impl Into<String>, origin: CostOrigin) -> Self {
        Self { nanos, currency: currency.into(), origin }
    }

    /// A cost that a source states in dollars; `None` if it is not a valid
    /// amount.
    #[must_use]
    pub fn stated(dollars: f64) -> Option<Self> {
        let nanos = (dollars * 1e9).round();
        let fits = (0.0..1e27).contains(&nanos);
        fits.then(|| Self::new(nanos as u128, "USD", CostOrigin::Stated))
    }

    /// The amount as a number, for display only: do not add these up.
    #[must_use]
    pub fn amount(&self) -> f64 {
        self.nanos as f64 / 1e9
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.currency == "USD" { "$" } else { "" };
        write!(formatter, "{sign}{:.4}", self.amount())?;
        if sign.is_empty() { write!(formatter, " {}", self.currency) } else { Ok(()) }
    }
}
