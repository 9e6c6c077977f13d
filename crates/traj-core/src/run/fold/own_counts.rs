//! What a program counted of its own model calls. Programs make calls that they
//! do not record, such as the one that writes a summary; only their own sums
//! contain those. They also know what a call really cost.

use std::collections::BTreeMap;

use super::models::ModelTotals;
use super::names;
use crate::run::{Cost, CostOrigin, Usage};

/// The counts of one model.
#[derive(Clone, Debug, Default)]
struct ModelCounts {
    /// Recorded calls that finished.
    recorded: ModelTotals,
    /// The last sum that the program stated.
    sum: Sum,
    /// The recorded calls at the last sum, and at the start of the current
    /// series of sums.
    at_sum: ModelTotals,
    at_start: ModelTotals,
    /// The sum at the start of the series: not zero in a fork.
    start: Sum,
    has_sum: bool,
    /// The results of earlier series, each ended by a restart of the program.
    closed: Vec<SettledCounts>,
}

/// A sum of the program.
#[derive(Clone, Debug, Default)]
struct Sum {
    usage: Usage,
    /// `None` if the program does not state it.
    nanos: Option<u128>,
}

/// How the totals of a model must change.
#[derive(Clone, Debug)]
struct SettledCounts {
    /// Recorded calls that the sum contains.
    covered: ModelTotals,
    unrecorded: Usage,
    nanos: Option<u128>,
}

/// Results of further series are dropped.
const MOST_RESTARTS: usize = 64;

/// The counts of all models.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnCounts {
    models: BTreeMap<String, ModelCounts>,
}

impl OwnCounts {
    /// Takes a recorded call that finished.
    pub(super) fn record(&mut self, model: &str, usage: &Usage, cost: Option<&Cost>) {
        if let Some(counts) = names::entry(&mut self.models, model) {
            counts.recorded.add(usage, cost);
        }
    }

    /// Takes more tokens of a call that was recorded already.
    pub(super) fn record_more(&mut self, model: &str, more: &Usage, cost: Option<&Cost>) {
        if let Some(counts) = self.models.get_mut(model) {
            counts.recorded.add_more(more, cost);
        }
    }

    /// Takes a sum. `is_fork` says that the first sum may contain what another
    /// session did.
    pub(super) fn state(&mut self, model: &str, usage: Usage, cost: Option<Cost>, is_fork: bool) {
        let Some(counts) = names::entry(&mut self.models, model) else { return };
        let nanos = cost.filter(|cost| cost.currency == "USD").map(|cost| cost.nanos);
        let sum = Sum { usage, nanos };
        if !counts.has_sum && is_fork {
            (counts.start, counts.at_start) = (sum.clone(), counts.recorded.clone());
        } else if counts.has_sum && !is_within(&counts.sum.usage, &usage) {
            // The program restarted its count.
            if counts.closed.len() < MOST_RESTARTS {
                counts.closed.extend(counts.settle());
            }
            (counts.start, counts.at_start) = (Sum::zero(), counts.at_sum.clone());
        } else if !counts.has_sum {
            counts.start = Sum::zero();
        }
        counts.has_sum = true;
        (counts.sum, counts.at_sum) = (sum, counts.recorded.clone());
    }

    /// Corrects the totals. A call without a row is counted once for each
    /// summary, but at least once.
    pub(super) fn settle(
        self,
        totals: &mut ModelTotals,
        models: &mut BTreeMap<String, ModelTotals>,
        summaries: u64,
    ) {
        for (name, counts) in self.models {
            let last = counts.settle().filter(|_| counts.has_sum);
            for settled in counts.closed.iter().chain(&last) {
                let calls = if settled.unrecorded.is_zero() { 0 } else { summaries.max(1) };
                let model = names::entry(models, &name);
                for totals in std::iter::once(&mut *totals).chain(model) {
                    settled.apply(totals, calls);
                }
            }
        }
    }
}

impl Sum {
    const fn zero() -> Self {
        Self {
            usage: Usage { input: 0, cached: 0, cache_write: 0, output: 0, reasoning: 0 },
            nanos: Some(0),
        }
    }
}

impl ModelCounts {
    /// `None` if the sum does not contain all recorded calls: the program
    /// started to count later, or counts something else.
    fn settle(&self) -> Option<SettledCounts> {
        let covered = self.at_sum.without(&self.at_start);
        let counted = self.sum.usage.since(&self.start.usage);
        let is_whole = is_within(&covered.usage, &counted);
        let nanos = self.sum.nanos.zip(self.start.nanos);
        is_whole.then(|| SettledCounts {
            unrecorded: counted.since(&covered.usage),
            covered,
            nanos: nanos.map(|(sum, start)| sum.saturating_sub(start)),
        })
    }
}

impl SettledCounts {
    fn apply(&self, totals: &mut ModelTotals, unrecorded: u64) {
        totals.calls += unrecorded;
        totals.usage.add(&self.unrecorded);
        let Some(nanos) = self.nanos else {
            totals.unpriced += unrecorded;
            return;
        };
        let computed = self.covered.nanos.get("USD").copied().unwrap_or_default();
        let sum = totals.nanos.entry("USD".to_owned()).or_default();
        *sum = sum.saturating_sub(computed).saturating_add(nanos);
        totals.unpriced = totals.unpriced.saturating_sub(self.covered.unpriced);
        totals.stated += unrecorded + self.covered.calls.saturating_sub(self.covered.stated);
    }
}

/// Whether no count of `part` is larger than that of `whole`. Not every program
/// states how much of the output was reasoning.
const fn is_within(part: &Usage, whole: &Usage) -> bool {
    part.input <= whole.input
        && part.cached <= whole.cached
        && part.cache_write <= whole.cache_write
        && part.output <= whole.output
}

/// The cost that more tokens add: by how much `now` exceeds `before`.
pub(super) fn more_cost(before: Option<&Cost>, now: Option<&Cost>) -> Option<Cost> {
    let now = now?;
    let before = before.filter(|before| before.currency == now.currency);
    let nanos = now.nanos.saturating_sub(before.map_or(0, |before| before.nanos));
    Some(Cost::new(nanos, now.currency.clone(), CostOrigin::Computed))
}
