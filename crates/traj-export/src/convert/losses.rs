//! What a format cannot hold: counted, and reported as notices.

use std::collections::BTreeMap;

use serde::Serialize;

use super::survey::Survey;

/// Something that a format does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ConvertNotice {
    /// What kind; stable across versions.
    pub code: &'static str,
    /// How often.
    pub count: u64,
    /// What it means.
    pub message: &'static str,
    /// Whether the format can hold what is missing.
    #[serde(rename = "gap")]
    pub is_gap: bool,
}

/// A kind of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loss {
    EventsTooLong,
    FormulaPrefix,
    Images,
    LateResults,
    LongTexts,
    MovedValues,
    NoCallId,
    NoTime,
    #[cfg(feature = "parquet")]
    RowlessTokens,
    #[cfg(feature = "otlp")]
    EstimatedTime,
    #[cfg(feature = "otlp")]
    OpenSpan,
    #[cfg(feature = "otlp")]
    Errors,
    #[cfg(feature = "inspect-log")]
    OtherSteps,
}

impl Loss {
    /// Whether a fact is missing that the format can hold, so that the output is not
    /// complete. `has_texts` says whether it can hold the texts of a run.
    const fn is_gap(self, has_texts: bool) -> bool {
        match self {
            Self::EventsTooLong | Self::LateResults | Self::LongTexts => true,
            Self::MovedValues => has_texts,
            #[cfg(feature = "otlp")]
            Self::Errors => true,
            _ => false,
        }
    }

    /// Its code, and what it means for one and for several.
    const fn describe(self) -> (&'static str, [&'static str; 2]) {
        match self {
            Self::EventsTooLong => (
                "events-too-long",
                [
                    "event is too long to read and was left out",
                    "events are too long to read and were left out",
                ],
            ),
            Self::FormulaPrefix => (
                "formula-prefix",
                [
                    "cell would begin a formula and has an apostrophe in front",
                    "cells would begin a formula and have an apostrophe in front",
                ],
            ),
            Self::Images => {
                ("images", ["image is counted, and left out", "images are counted, and left out"])
            }
            Self::LateResults => (
                "late-results",
                [
                    "result came so long after its call that the call counts as unanswered",
                    "results came so long after their calls that the calls count as unanswered",
                ],
            ),
            Self::LongTexts => (
                "long-texts",
                [
                    "text was cut: at most 16 MiB of the texts of an event are converted",
                    "texts were cut: at most 16 MiB of the texts of an event are converted",
                ],
            ),
            Self::MovedValues => (
                "moved-values",
                [
                    "long value was not converted: it is a list or an object, or not in the bundle",
                    "long values were not converted: they are lists or objects, or not in the bundle",
                ],
            ),
            Self::NoCallId => (
                "no-call-id",
                [
                    "call has no id in the source and got one from its position",
                    "calls have no id in the source and got one from their position",
                ],
            ),
            Self::NoTime => (
                "no-time",
                ["record has no time and was left out", "records have no time and were left out"],
            ),
            #[cfg(any(feature = "inspect-log", feature = "otlp", feature = "parquet"))]
            optional => optional.describe_optional(),
        }
    }

    /// The same for losses of optional formats.
    #[cfg(any(feature = "inspect-log", feature = "otlp", feature = "parquet"))]
    const fn describe_optional(self) -> (&'static str, [&'static str; 2]) {
        match self {
            #[cfg(feature = "parquet")]
            Self::RowlessTokens => (
                "rowless-tokens",
                [
                    "token was counted by the program without an event, and is in no row",
                    "tokens were counted by the program without an event, and are in no row",
                ],
            ),
            #[cfg(feature = "otlp")]
            Self::EstimatedTime => (
                "estimated-time",
                [
                    "span has no time in the source and got that of the last one",
                    "spans have no time in the source and got that of the last one",
                ],
            ),
            #[cfg(feature = "otlp")]
            Self::OpenSpan => (
                "open-span",
                [
                    "call has no result, and a span that ends at once",
                    "calls have no result, and a span that ends at once",
                ],
            ),
            #[cfg(feature = "otlp")]
            Self::Errors => {
                ("errors", ["further error was left out", "further errors were left out"])
            }
            #[cfg(feature = "inspect-log")]
            Self::OtherSteps => (
                "other-steps",
                [
                    "step without a chat message was left out, such as an approval",
                    "steps without a chat message were left out, such as approvals",
                ],
            ),
            _ => ("other", ["loss", "losses"]),
        }
    }
}

/// What was lost so far.
#[derive(Debug, Default)]
pub(super) struct Losses {
    counts: BTreeMap<Loss, u64>,
}

impl Losses {
    /// Counts a loss.
    pub(super) fn add(&mut self, loss: Loss, count: u64) {
        if count > 0 {
            *self.counts.entry(loss).or_default() += count;
        }
    }

    /// Counts what no format can hold of a run.
    pub(super) fn add_run(&mut self, survey: &Survey) {
        self.add(Loss::EventsTooLong, survey.too_long);
    }

    pub(super) fn into_notices(self, has_texts: bool) -> Vec<ConvertNotice> {
        let notice = |(loss, count): (Loss, u64)| {
            let (code, [one, several]) = loss.describe();
            let message = if count == 1 { one } else { several };
            ConvertNotice { code, count, message, is_gap: loss.is_gap(has_texts) }
        };
        self.counts.into_iter().map(notice).collect()
    }
}
