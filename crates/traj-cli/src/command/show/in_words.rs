//! Numbers, durations and costs as people read them.

use traj_export::UsageSummary;

use crate::quantity::grouped;

pub(super) fn duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{seconds}.{} s", millis % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Tokens, with what they cost.
pub(super) fn usage(usage: &UsageSummary) -> Vec<String> {
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    vec![
        format!("{} in{cached}", grouped(usage.input_tokens)),
        format!("{} out", grouped(usage.output_tokens)),
        cost(usage),
    ]
}

/// A cost; a price that is not known is not zero.
pub(super) fn cost(usage: &UsageSummary) -> String {
    match (usage.cost, usage.currency.as_deref()) {
        (Some(cost), Some("USD")) => format!("${cost:.4}"),
        (Some(cost), Some(currency)) => format!("{cost:.4} {currency}"),
        _ => "cost unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_durations_are_shown_for_people() {
        assert_eq!([grouped(7), grouped(1_234), grouped(123_456)], ["7", "1,234", "123,456"]);
        let shown = [400, 12_400, 61_000, 3_720_000].map(duration);
        assert_eq!(shown, ["400 ms", "12.4 s", "1 min 1 s", "1 h 2 min"]);
    }

    #[test]
    fn a_cost_that_is_not_known_is_not_zero() {
        let mut usage = UsageSummary::default();
        assert_eq!(cost(&usage), "cost unknown");
        (usage.cost, usage.currency) = (Some(0.5), Some("USD".to_owned()));
        assert_eq!(cost(&usage), "$0.5000");
        usage.currency = Some("EUR".to_owned());
        assert_eq!(cost(&usage), "0.5000 EUR");
    }
}
