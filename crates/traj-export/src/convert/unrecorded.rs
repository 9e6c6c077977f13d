//! Model calls that no row states: programs make some that they do not record,
//! and a stream states the last tokens of a call after its first row. Only the
//! totals of a run contain them, so the difference becomes a separate message.

use std::collections::BTreeMap;

use traj_core::run::{Cost, CostOrigin, ModelTotals, Usage};

use super::notes::FactNote;
use super::pieces::{Message, ModelPart, Piece};
use super::survey::Survey;
use crate::inspect::report::UsageSummary;
use crate::inspect::story::ModelUse;

/// What the messages of a run state, by model.
#[derive(Debug, Default)]
pub(super) struct Stated {
    by_model: BTreeMap<String, (Usage, f64)>,
}

impl Stated {
    /// Takes a piece that is passed on.
    pub(super) fn take(&mut self, piece: &Piece) {
        let Piece::Message(Message { model: Some(model), .. }) = piece else { return };
        let used = &model.usage;
        let name = used.model.clone().unwrap_or_default();
        let (usage, cost) = self.by_model.entry(name).or_default();
        usage.add(&Usage {
            input: used.usage.input_tokens,
            cached: used.usage.cached_tokens,
            cache_write: used.usage.cache_write_tokens,
            output: used.usage.output_tokens,
            reasoning: used.usage.reasoning_tokens,
        });
        *cost += used.usage.cost.unwrap_or_default();
    }

    /// A message for each model with tokens that no message states.
    pub(super) fn rest(&self, survey: &Survey) -> Vec<Piece> {
        let models = survey.run.by_model.iter();
        models.filter_map(|(name, totals)| self.rest_of(name, totals, survey)).collect()
    }

    fn rest_of(&self, name: &str, totals: &ModelTotals, survey: &Survey) -> Option<Piece> {
        let (stated, cost) = self.by_model.get(name).copied().unwrap_or_default();
        let usage = totals.usage.since(&stated);
        if usage.is_zero() {
            return None;
        }
        let mut rest = ModelTotals::default();
        let whole = totals.cost();
        let currency = whole.as_ref().map(|whole| whole.currency.clone()).unwrap_or_default();
        let nanos = whole.map(|whole| ((whole.amount() - cost).max(0.0) * 1e9).round() as u128);
        let cost = nanos.map(|nanos| Cost::new(nanos, currency, CostOrigin::Computed));
        rest.add(&usage, cost.as_ref());
        let at = survey.run.ended_at;
        let usage = ModelUse {
            model: Some(name.to_owned()),
            context: 0,
            duration_millis: None,
            usage: UsageSummary::of(&rest),
        };
        let note = FactNote { seq: survey.run.events + 1, ..FactNote::default() };
        let model = Some(ModelPart { at, usage, note });
        Some(Piece::Message(Message {
            seq: survey.run.events + 1,
            turn: survey.run.turns,
            at,
            model,
            ..Message::default()
        }))
    }
}
