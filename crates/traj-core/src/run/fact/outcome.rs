//! The outcome of a tool call.

use std::borrow::Cow;

/// The outcome of a tool call: one answer, however the source states it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome<'r> {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed(Failure<'r>),
    /// It took too long.
    TimedOut,
    /// A person or a policy declined it.
    Declined,
    /// Somebody stopped it.
    Interrupted,
    /// No result is recorded.
    Unanswered,
}

/// How a call failed, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<'r> {
    /// The exit code of the command.
    pub exit_code: Option<i64>,
    /// The signal that ended it.
    pub signal: Option<Cow<'r, str>>,
    /// The error that the source states, if it says more than the output.
    pub error: Option<Cow<'r, str>>,
}

impl Failure<'_> {
    /// A failure with only an exit code.
    #[must_use]
    pub const fn exit(code: i64) -> Self {
        Self { exit_code: Some(code), signal: None, error: None }
    }
}

impl Outcome<'_> {
    /// Its name in `--json` and in bundles.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed(_) => "failed",
            Self::TimedOut => "timedOut",
            Self::Declined => "declined",
            Self::Interrupted => "interrupted",
            Self::Unanswered => "unanswered",
        }
    }

    /// Whether the call failed or timed out. A call that was declined or
    /// interrupted did not fail, and one without a result is not known to have
    /// failed.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::TimedOut)
    }

    /// How informative the outcome is. Of two witnesses, the more informative one
    /// counts.
    #[must_use]
    pub const fn weight(&self) -> u8 {
        match self {
            Self::Unanswered => 0,
            Self::Ok => 1,
            Self::Interrupted => 2,
            Self::Failed(Failure { exit_code: None, signal: None, .. }) => 3,
            Self::Failed(_) => 4,
            Self::TimedOut => 5,
            Self::Declined => 6,
        }
    }

    /// The same outcome with owned strings.
    #[must_use]
    pub fn into_owned(self) -> Outcome<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        match self {
            Self::Ok => Outcome::Ok,
            Self::Failed(Failure { exit_code, signal, error }) => {
                Outcome::Failed(Failure { exit_code, signal: owned(signal), error: owned(error) })
            }
            Self::TimedOut => Outcome::TimedOut,
            Self::Declined => Outcome::Declined,
            Self::Interrupted => Outcome::Interrupted,
            Self::Unanswered => Outcome::Unanswered,
        }
    }

    /// The exit code, if known.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i64> {
        match self {
            Self::Failed(failure) => failure.exit_code,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failed_and_timed_out_calls_are_failures() {
        assert!(Outcome::Failed(Failure::exit(3)).is_failure());
        assert!(Outcome::TimedOut.is_failure());
        for outcome in [Outcome::Ok, Outcome::Declined, Outcome::Interrupted, Outcome::Unanswered] {
            assert!(!outcome.is_failure(), "{outcome:?}");
        }
    }

    #[test]
    fn the_more_informative_outcome_weighs_more() {
        let by_weight = [
            Outcome::Unanswered,
            Outcome::Ok,
            Outcome::Interrupted,
            Outcome::Failed(Failure::default()),
            Outcome::Failed(Failure::exit(1)),
            Outcome::TimedOut,
            Outcome::Declined,
        ];
        assert!(by_weight.is_sorted_by_key(Outcome::weight));
    }
}
