//! Price tables, and the costs computed with them.

use proptest::prelude::*;

use super::*;

fn table(rows: &str) -> Prices {
    Prices::parse(rows).unwrap()
}

const ROW: &str = r#"
[[model]]
model = ["m-1", "m-1-*"]
provider = ["p"]
currency = "USD"
input = 2.00
cached = 0.50
output = 10.00
valid-from = "2026-01-01"
source = "test"
"#;

#[test]
fn the_shipped_table_can_be_read() {
    assert!(Prices::parse(include_str!("../prices.toml")).is_ok());
    assert!(Prices::shipped().len() > 40);
    let usage = Usage { input: 1_000_000, ..Usage::default() };
    assert!(Prices::shipped().cost(None, "gpt-6.1-sol", None, &usage).is_some());
    assert_eq!(Prices::shipped().cost(None, "mock-model", None, &usage), None);
}

#[test]
fn cached_tokens_cost_less_and_are_not_counted_twice() {
    let usage = Usage { input: 1_000_000, cached: 400_000, output: 100_000, ..Usage::default() };
    let cost = table(ROW).cost(Some("p"), "m-1-2026", None, &usage).unwrap();
    assert_eq!((cost.nanos, cost.currency.as_str()), (2_400_000_000, "USD"));
    assert_eq!(cost.to_string(), "$2.4000");
}

#[test]
fn a_call_without_a_row_has_no_cost() {
    let usage = Usage { input: 1, ..Usage::default() };
    let prices = table(ROW);
    assert_eq!(prices.cost(Some("p"), "m-2", None, &usage), None);
    assert_eq!(prices.cost(Some("other"), "m-1", None, &usage), None);
    assert_eq!(prices.cost(Some("p"), "m-1", UnixMillis::new(0), &usage), None, "before it held");
    assert!(prices.cost(None, "p/m-1", None, &usage).is_some());
}

#[test]
fn an_overriding_table_wins() {
    let own = ROW.replace("2.00", "1.00");
    let usage = Usage { input: 1_000_000, ..Usage::default() };
    let prices = table(ROW).overridden_by(table(&own));
    assert_eq!(prices.cost(None, "m-1", None, &usage).unwrap().nanos, 1_000_000_000);
}

#[test]
fn an_invalid_table_is_reported_by_line() {
    let wrong = ROW.replace("output = 10.00", "output = \"ten\"");
    let error = Prices::parse(&wrong).unwrap_err();
    assert!(!error.to_string().contains("ten") && error.line > 1, "{error}");
    assert!(Prices::parse(&ROW.replace("source", "sauce")).is_err());
    assert!(Prices::parse(&ROW.replace("2026-01-01", "soon")).is_err());
    assert!(Prices::parse(&ROW.replace("2.00", "-2.00")).is_err());
}

proptest! {
    #[test]
    fn more_tokens_never_cost_less(
        input: u64, cached: u64, cache_write: u64, output: u64, more: u64,
    ) {
        let prices = table(ROW);
        let usage = Usage { input, cached, cache_write, output, reasoning: 0 };
        let longer = Usage { output: output.saturating_add(more), ..usage };
        let cost = |usage: &Usage| prices.cost(None, "m-1", None, usage).unwrap().nanos;
        prop_assert!(cost(&longer) >= cost(&usage));
    }
}

#[test]
fn a_table_can_be_written_and_read_again() {
    let shipped = Prices::shipped();
    let text = shipped.to_toml();
    let again = Prices::parse(&text).unwrap();
    assert_eq!((again.len(), again.to_toml()), (shipped.len(), text));
    let usage = Usage { input: 1_234, cached: 200, output: 77, ..Usage::default() };
    for model in ["gpt-5.4", "claude-opus-4-5", "nothing-known"] {
        let cost = |prices: &Prices| prices.cost(None, model, None, &usage);
        assert_eq!(cost(&again), cost(&shipped), "{model}");
    }
    let odd = "[[model]]\nmodel = [\"a\\\"b\\u0001\"] # secret\ncurrency = \"EUR\"\ninput = 0.1\noutput = 3\nsource = \"secret\"\n";
    let odd = Prices::parse(odd).unwrap().to_toml();
    assert!(Prices::parse(&odd).is_ok() && !odd.contains("secret"), "{odd}");
}
