//! Model calls: tokens, cost and context, each call counted once.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use super::names;
use super::own_counts::{OwnCounts, more_cost};
use super::taken::CountedCall;
use crate::run::prices::RememberedPrices;
use crate::run::{Cost, CostOrigin, ModelCall, Thread, Usage, UsageScope};
use crate::timestamp::UnixMillis;

/// How many responses are remembered to recognise repeated rows.
const REMEMBERED: usize = 8_192;

/// How many context sizes are kept: enough to plot them.
const MOST_POINTS: usize = 512;

/// Tokens and cost of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTotals {
    /// The number of recorded calls.
    pub calls: u64,
    /// Their tokens.
    pub usage: Usage,
    /// Their cost, by currency, in billionths.
    pub nanos: BTreeMap<String, u128>,
    /// How many calls have a cost stated by their source.
    pub stated: u64,
    /// How many calls have no known price.
    pub unpriced: u64,
}

impl ModelTotals {
    /// The cost; `None` if a call has no known price, or there was no call.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        let (currency, nanos) = self.nanos.first_key_value()?;
        let is_whole = self.unpriced == 0 && self.nanos.len() == 1;
        let is_stated = self.stated == self.calls;
        let origin = if is_stated { CostOrigin::Stated } else { CostOrigin::Computed };
        is_whole.then(|| Cost::new(*nanos, currency.clone(), origin))
    }

    /// Adds a call; `cost` is `None` if no price is known.
    pub fn add(&mut self, usage: &Usage, cost: Option<&Cost>) {
        self.calls += 1;
        self.usage.add(usage);
        match cost {
            Some(cost) => {
                let sum = self.nanos.entry(cost.currency.clone()).or_default();
                *sum = sum.saturating_add(cost.nanos);
                self.stated += u64::from(cost.origin == CostOrigin::Stated);
            }
            None => self.unpriced += u64::from(!usage.is_zero()),
        }
    }

    /// Adds tokens to a call that was added already.
    pub(super) fn add_more(&mut self, more: &Usage, cost: Option<&Cost>) {
        self.usage.add(more);
        if let Some(cost) = cost {
            let sum = self.nanos.entry(cost.currency.clone()).or_default();
            *sum = sum.saturating_add(cost.nanos);
        }
    }

    /// These calls without earlier ones of the same sequence.
    pub(super) fn without(&self, earlier: &Self) -> Self {
        let nanos = self.nanos.iter().map(|(currency, sum)| {
            let before = earlier.nanos.get(currency).copied().unwrap_or_default();
            (currency.clone(), sum.saturating_sub(before))
        });
        Self {
            calls: self.calls.saturating_sub(earlier.calls),
            usage: self.usage.since(&earlier.usage),
            nanos: nanos.collect(),
            stated: self.stated.saturating_sub(earlier.stated),
            unpriced: self.unpriced.saturating_sub(earlier.unpriced),
        }
    }
}

/// The size of the context at one model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextPoint {
    /// When the call was made.
    pub at: Option<UnixMillis>,
    /// Its tokens.
    pub usage: Usage,
}

/// The model calls according to one kind of record.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelTally {
    pub(super) totals: ModelTotals,
    pub(super) models: BTreeMap<String, ModelTotals>,
    pub(super) other_models: u64,
    pub(super) peak: Option<ContextPoint>,
    pub(super) points: Vec<ContextPoint>,
    /// One call in this many is kept as a point.
    stride: u64,
    /// What is known of each response, because rows repeat it.
    seen: HashMap<u64, Usage>,
    order: VecDeque<u64>,
    /// The last reading of the counter of each thread.
    readings: HashMap<u64, Usage>,
    /// What the last row added to a call that was counted already.
    more: Option<CountedCall>,
    hasher: RandomState,
}

impl ModelTally {
    /// Takes a record; returns what it adds, if its call is not counted yet.
    pub(super) fn take(
        &mut self,
        call: &ModelCall<'_>,
        thread: Thread<'_>,
        name: &str,
        at: Option<UnixMillis>,
        prices: &mut RememberedPrices,
    ) -> Option<CountedCall> {
        let stated = call.usage?;
        let usage = if call.scope == UsageScope::Counter {
            let key = self.hasher.hash_one(thread);
            let is_known = self.readings.contains_key(&key);
            let before = if is_known || self.readings.len() < REMEMBERED {
                self.readings.insert(key, stated)
            } else {
                None
            };
            if before == Some(stated) {
                return None;
            }
            let gained = before.map_or(stated, |before| stated.since(&before));
            call.last.unwrap_or(gained)
        } else {
            stated
        };
        if let Some(id) = call.id {
            let key = self.hasher.hash_one(id);
            if let Some(known) = self.seen.get(&key).copied() {
                self.take_more(call, name, at, prices, (key, known, usage));
                return None;
            }
            if self.order.len() >= REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.seen.remove(&oldest);
            }
            self.order.push_back(key);
            self.seen.insert(key, usage);
        }
        let stated_cost = call.cost.and_then(|cost| Cost::stated(cost.dollars));
        let cost = stated_cost.or_else(|| prices.cost(call.provider, name, at, &usage));
        self.totals.add(&usage, cost.as_ref());
        let shown = shown_name(call, name);
        if !shown.is_empty() {
            match names::entry(&mut self.models, &shown) {
                Some(model) => model.add(&usage, cost.as_ref()),
                None => self.other_models += 1,
            }
        }
        if call.scope != UsageScope::Turn {
            self.add_point(ContextPoint { at, usage });
        }
        Some(CountedCall { model: shown, usage, cost })
    }

    /// Takes another row of a response. The first rows of a stream state only
    /// the tokens written so far.
    fn take_more(
        &mut self,
        call: &ModelCall<'_>,
        name: &str,
        at: Option<UnixMillis>,
        prices: &mut RememberedPrices,
        (key, known, stated): (u64, Usage, Usage),
    ) {
        let mut usage = known;
        usage.raise(&stated);
        let more = usage.since(&known);
        if more.is_zero() || call.scope != UsageScope::Call {
            return;
        }
        self.seen.insert(key, usage);
        let [before, now] =
            [known, usage].map(|usage| prices.cost(call.provider, name, at, &usage));
        // A stated cost is final.
        let cost = more_cost(before.as_ref(), now.as_ref()).filter(|_| call.cost.is_none());
        self.totals.add_more(&more, cost.as_ref());
        if let Some(model) = self.models.get_mut(&names::NameCounts::key(&shown_name(call, name))) {
            model.add_more(&more, cost.as_ref());
        }
        self.more = Some(CountedCall { model: shown_name(call, name), usage: more, cost });
        if let Some(point) = self.points.last_mut().filter(|point| point.usage == known) {
            point.usage = usage;
        }
        if self.peak.is_none_or(|peak| peak.usage.total() < usage.total()) {
            self.peak = Some(ContextPoint { at, usage });
        }
    }

    fn add_point(&mut self, point: ContextPoint) {
        if self.peak.is_none_or(|peak| peak.usage.total() < point.usage.total()) {
            self.peak = Some(point);
        }
        self.stride = self.stride.max(1);
        if (self.totals.calls - 1).is_multiple_of(self.stride) {
            self.points.push(point);
        }
        if self.points.len() > MOST_POINTS {
            // Keep every second point, and from here on every second call.
            let mut place = 0;
            self.points.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
    }
}

/// The name under which a model is counted.
fn shown_name(call: &ModelCall<'_>, name: &str) -> String {
    match call.provider {
        Some(provider) if !name.is_empty() => format!("{provider}/{name}"),
        _ => name.to_owned(),
    }
}

/// Several kinds of records state the same model calls: one per call, one per
/// turn, and a counter. The kind with the most tokens counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Models {
    calls: ModelTally,
    turns: ModelTally,
    counter: ModelTally,
    /// What the program itself counted.
    own: OwnCounts,
    /// Whether a part of the session is a copy of another one.
    pub(super) is_fork: bool,
}

impl Models {
    /// Takes a record; returns the call that it adds, and what it adds to a call that
    /// is counted already.
    pub(super) fn take(
        &mut self,
        call: &ModelCall<'_>,
        thread: Thread<'_>,
        name: &str,
        at: Option<UnixMillis>,
        prices: &mut RememberedPrices,
    ) -> [Option<CountedCall>; 2] {
        let tally = match call.scope {
            UsageScope::Call => &mut self.calls,
            UsageScope::Turn => &mut self.turns,
            UsageScope::Counter => &mut self.counter,
            UsageScope::Session => {
                let cost = call.cost.and_then(|cost| Cost::stated(cost.dollars));
                if let Some(usage) = call.usage {
                    self.own.state(&shown_name(call, name), usage, cost, self.is_fork);
                }
                return [None, None];
            }
        };
        let counted = tally.take(call, thread, name, at, prices);
        let more = tally.more.take();
        // A program does not count a call that was cut off.
        if call.scope == UsageScope::Call && call.stop_reason.is_some() {
            let shown = shown_name(call, name);
            if let Some(counted) = &counted {
                self.own.record(&shown, &counted.usage, counted.cost.as_ref());
            } else if let Some(more) = &more {
                self.own.record_more(&shown, &more.usage, more.cost.as_ref());
            }
        }
        [counted, more]
    }

    /// The kind that counts, and its tally. `summaries` is how often the
    /// conversation was summarised, each time with a call of its own.
    pub(super) fn settle(self, summaries: u64) -> (UsageScope, ModelTally) {
        let Self { calls, turns, counter, own, .. } = self;
        let tallies =
            [(UsageScope::Counter, counter), (UsageScope::Turn, turns), (UsageScope::Call, calls)];
        // Of equals, the most detailed kind counts.
        let most = tallies.into_iter().max_by_key(|(_, tally)| tally.totals.usage.total());
        let (scope, mut tally) = most.unwrap_or_default();
        if scope == UsageScope::Call {
            own.settle(&mut tally.totals, &mut tally.models, summaries);
        }
        (scope, tally)
    }
}
