//! Numbers, durations and costs as people read them.

use super::report::UsageSummary;

/// A duration, to two units.
#[must_use]
pub fn duration_in_words(millis: u64) -> String {
    let seconds = millis / 1_000;
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{seconds}.{} s", millis % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Tokens and their cost.
#[must_use]
pub fn usage_in_words(usage: &UsageSummary) -> Vec<String> {
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    vec![
        format!("{} in{cached}", grouped(usage.input_tokens)),
        format!("{} out", grouped(usage.output_tokens)),
        cost_in_words(usage),
    ]
}

/// A cost. Without a known price, it is unknown, not zero.
#[must_use]
pub fn cost_in_words(usage: &UsageSummary) -> String {
    match (usage.cost, usage.currency.as_deref()) {
        (Some(cost), Some("USD")) => format!("${cost:.4}"),
        (Some(cost), Some(currency)) => format!("{cost:.4} {currency}"),
        _ => "cost unknown".to_owned(),
    }
}

/// A number of things: `1 file`, `2 files`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", grouped(number))
}

/// A number with its thousands apart.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_plural() {
        let things = [0, 1, 2].map(|number| counted(number, "file"));
        assert_eq!(things, ["0 files", "1 file", "2 files"]);
        assert_eq!(counted(1_234_567, "call"), "1,234,567 calls");
        assert_eq!(counted(999, "call"), "999 calls");
    }

    #[test]
    fn numbers_and_durations_are_shown_for_people() {
        assert_eq!([grouped(7), grouped(1_234), grouped(123_456)], ["7", "1,234", "123,456"]);
        let shown = [400, 12_400, 61_000, 3_720_000].map(duration_in_words);
        assert_eq!(shown, ["400 ms", "12.4 s", "1 min 1 s", "1 h 2 min"]);
    }

    #[test]
    fn an_unknown_cost_is_not_zero() {
        let mut usage = UsageSummary::default();
        assert_eq!(cost_in_words(&usage), "cost unknown");
        (usage.cost, usage.currency) = (Some(0.5), Some("USD".to_owned()));
        assert_eq!(cost_in_words(&usage), "$0.5000");
        usage.currency = Some("EUR".to_owned());
        assert_eq!(cost_in_words(&usage), "0.5000 EUR");
    }
}
