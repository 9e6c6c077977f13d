//! Results whose calls were not seen: they come later, or were never recorded.

use std::collections::BTreeMap;

use super::{CallExample, CallKey, Calls, KeptResult, REMEMBERED};
use crate::run::Origin;

/// A result whose call was not seen yet.
#[derive(Clone, Debug)]
pub(super) struct EarlyResult {
    pub(super) tool: String,
    pub(super) result: KeptResult,
}

impl Calls {
    /// Keeps a result whose call was not seen yet. If none comes, it still proves
    /// that there was one.
    pub(super) fn answer_early(
        &mut self,
        id: u64,
        origin: Origin,
        early: EarlyResult,
    ) -> (bool, CallKey) {
        let known = [origin, origin.other()]
            .iter()
            .find_map(|origin| self.early.get(&(id, *origin)).map(|(number, _)| *number));
        let number = known.unwrap_or(self.numbered + 1);
        self.numbered = self.numbered.max(number);
        if self.early.len() < REMEMBERED {
            self.early.entry((id, origin)).or_insert((number, early));
        } else if known.is_none() {
            self.settle_early(number, early);
        }
        (known.is_none(), CallKey { number, place: None })
    }

    /// Counts a call of which only a result was seen.
    fn settle_early(&mut self, number: u64, early: EarlyResult) {
        let EarlyResult { tool, result } = early;
        let millis = result.millis.and_then(|millis| i64::try_from(millis).ok());
        self.count(&tool, &result.outcome, millis);
        let is_failure = result.outcome.is_failure();
        self.examples.take(CallExample {
            number,
            seq: result.order,
            id: result.id,
            tool,
            command: None,
            exit_code: result.outcome.exit_code(),
            outcome: result.outcome.name(),
            millis,
            output: result.output,
            failed_at: if is_failure { result.order } else { u64::MAX },
            started_at: None,
        });
    }

    /// Counts the calls of which only results were seen. Both witnesses may have
    /// stated the same one.
    pub(super) fn finish_early(&mut self) {
        let early = std::mem::take(&mut self.early).into_iter();
        let by_number: BTreeMap<_, _> =
            early.map(|(_, (number, early))| ((number, early.result.order), early)).collect();
        let mut last = 0;
        for ((number, _), early) in by_number {
            if number != last {
                self.settle_early(number, early);
            }
            last = number;
        }
    }
}
