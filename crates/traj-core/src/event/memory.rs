//! The memory use of an event. It is counted when the event is built, so that
//! bounding a queue needs no second walk through the event.

use crate::json::{Json, MAX_DEPTH, Object};

/// Levels of a value that are walked on the stack. Each further block of
/// levels, which real data does not have, costs an allocation instead.
const LEVELS_ON_THE_STACK: usize = 40;

const _: () = assert!(MAX_DEPTH.is_multiple_of(LEVELS_ON_THE_STACK), "of_value counts in steps");

/// The approximate memory use of members.
pub(super) fn of_members(members: &mut Object<'_>) -> usize {
    members.iter_mut().map(|(name, value)| of_member(name, value)).sum()
}

/// The approximate memory use of a member. Only the lengths of strings are
/// read.
///
/// A value that is nested too deeply is cut: later code walks it recursively,
/// and must not overflow the stack of the host's process.
pub(super) fn of_member(name: &str, value: &mut Json<'_>) -> usize {
    let (mut bytes, is_too_deep) = of_value(value);
    if is_too_deep {
        value.limit_depth();
        (bytes, _) = of_value(value);
    }
    name.len() + bytes
}

/// The memory use of a value, and whether it is nested more than `MAX_DEPTH`
/// levels deep.
fn of_value(value: &Json<'_>) -> (usize, bool) {
    let mut deeper = Vec::new();
    let mut bytes = size(value, 0, &mut deeper);
    let mut depth = 0;
    while !deeper.is_empty() {
        depth += LEVELS_ON_THE_STACK;
        for value in std::mem::take(&mut deeper) {
            bytes += size(value, 0, &mut deeper);
        }
    }
    (bytes, depth >= MAX_DEPTH)
}

fn size<'v, 'j>(value: &'v Json<'j>, level: usize, deeper: &mut Vec<&'v Json<'j>>) -> usize {
    let inside = match value {
        Json::String(text) => text.len(),
        Json::Array(_) | Json::Object(_) if level == LEVELS_ON_THE_STACK => {
            deeper.push(value);
            return 0;
        }
        Json::Array(items) => items.iter().map(|item| size(item, level + 1, deeper)).sum(),
        Json::Object(object) => object
            .iter()
            .map(|(name, value)| name.len() + size(value, level + 1, deeper))
            .sum::<usize>(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    };
    inside + size_of::<Json<'_>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_counts_at_any_depth() {
        let value = size_of::<Json<'_>>();
        for depth in [0, 1, 39, 40, 41, 100, 1_000] {
            let text = Json::from("x".repeat(5_000));
            let mut nested = (0..depth).fold(text, |inside, _| Json::Array(vec![inside]));
            assert_eq!(of_member("name", &mut nested), 5_004 + (depth + 1) * value, "{depth}");
        }
        let mut object = Json::parse(r#"{"name":[1,true,{"inner":"text"}]}"#).unwrap();
        assert_eq!(of_member("", &mut object), "nameinnertext".len() + 6 * value);
    }

    #[test]
    fn values_nested_too_deeply_are_cut_first() {
        for depth in [MAX_DEPTH + 1, 1_000_000] {
            let deep = (0..depth).fold(Json::Null, |inside, _| Json::Array(vec![inside]));
            let mut members = Object::from_iter([("deep", deep)]);
            let bytes = of_members(&mut members);
            assert!(bytes < 2 * MAX_DEPTH * size_of::<Json<'_>>());
            let line = Json::Object(members.clone()).to_line();
            assert!(line.contains("trajectory-depth-limit"));
            assert_eq!(of_members(&mut members), bytes);
        }
    }
}
