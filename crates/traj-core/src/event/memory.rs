//! The memory an event takes: counted while it is made, when all of it is at
//! hand, so that nobody has to walk through it again to keep a queue in bounds.

use crate::json::{Json, Object};

/// Levels of a value that are walked on the stack. What is deeper, and nothing
/// a host means is, costs an allocation instead.
const LEVELS_ON_THE_STACK: usize = 32;

/// The memory that members take, roughly.
pub(super) fn of_members(members: &Object<'_>) -> usize {
    members.iter().map(|(name, value)| of_member(name, value)).sum()
}

/// The memory that a member takes, roughly. Texts are counted, not touched.
pub(super) fn of_member(name: &str, value: &Json<'_>) -> usize {
    let mut deeper = Vec::new();
    let mut bytes = name.len() + size(value, 0, &mut deeper);
    while let Some(value) = deeper.pop() {
        bytes += size(value, 0, &mut deeper);
    }
    bytes
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
    fn every_text_counts_however_deep_it_lies() {
        let value = size_of::<Json<'_>>();
        for depth in [0, 1, 31, 32, 33, 100, 1_000] {
            let text = Json::from("x".repeat(5_000));
            let nested = (0..depth).fold(text, |inside, _| Json::Array(vec![inside]));
            assert_eq!(of_member("name", &nested), 5_004 + (depth + 1) * value, "{depth}");
        }
        let object = Json::parse(r#"{"name":[1,true,{"inner":"text"}]}"#).unwrap();
        assert_eq!(of_member("", &object), "nameinnertext".len() + 6 * value);
    }
}
