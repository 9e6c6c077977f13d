//! A canonical string for each JSON value, independent of member order, spelling and locale.
//!
//! - Members are sorted by code point; of duplicate names, the last one counts.
//! - A number is written as the shortest decimal of its double, in JavaScript's notation, so that
//!   `1.0` and `1` agree. Integers that a double cannot represent and numbers beyond its range keep
//!   their spelling, so that no change goes unnoticed.

use std::collections::BTreeMap;

use crate::json::{Json, Number, write_string};

/// Integers below this size are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The canonical string of `value`.
#[must_use]
pub fn canonical_text(value: &Json<'_>) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => out.push_str(&canonical_number(number)),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Json::Object(object) => {
            let sorted: BTreeMap<&str, &Json<'_>> = object.iter().collect();
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
    }
}

fn canonical_number(number: &Number<'_>) -> String {
    let text = number.as_text();
    let Some(value) = number.as_f64() else { return text.to_owned() };
    let digits_only = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if digits_only && value.abs() >= EXACT {
        return text.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    shortest(value)
}

/// The shortest decimal that reads back as `value`, with an exponent only below 1e-6 and from 1e21.
fn shortest(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-6..21).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str) -> String {
        canonical_text(&Json::parse(text).unwrap())
    }

    #[test]
    fn numbers_agree_regardless_of_spelling() {
        let text = canonical(r#"{"a":1.0,"b":1e21,"c":-0,"d":0.1,"e":1e-7,"f":100e-2}"#);
        insta::assert_snapshot!(text, @r#"{"a":1,"b":1e+21,"c":0,"d":0.1,"e":1e-7,"f":1}"#);
    }

    #[test]
    fn numbers_beyond_a_double_keep_their_spelling() {
        assert_eq!(canonical("9007199254740993"), "9007199254740993");
        assert_eq!(canonical("1e400"), "1e400");
    }

    #[test]
    fn members_are_in_code_point_order_and_the_last_duplicate_counts() {
        let text = canonical(r#"{"b":1,"A":2,"a":3,"10":4,"2":5,"é":6,"a":7}"#);
        insta::assert_snapshot!(text, @r#"{"10":4,"2":5,"A":2,"a":7,"b":1,"é":6}"#);
    }

    proptest! {
        #[test]
        fn canonical_form_is_idempotent(value in crate::binding::tests::any_json()) {
            let once = canonical_text(&value);
            prop_assert_eq!(canonical(&once), once);
        }

        #[test]
        fn the_order_of_members_does_not_matter(
            members in proptest::collection::btree_map("[a-c]{0,3}", any::<i64>(), 0..6),
        ) {
            let forward: Json<'_> = Json::Object(members.clone().into_iter().collect());
            let backward: Json<'_> = Json::Object(members.into_iter().rev().collect());
            prop_assert_eq!(canonical_text(&forward), canonical_text(&backward));
        }
    }
}
