//! The canonical form of JSON for hashing: compact, with the members of every
//! object sorted by name.

use sha2::{Digest as _, Sha256};

use crate::json::Json;

/// A SHA-256.
pub(super) type Hash = [u8; 32];

/// The hash of a value.
pub(super) fn hash_of(value: &Json<'_>) -> Hash {
    let mut text = String::new();
    write(value, &mut text);
    Sha256::digest(text.as_bytes()).into()
}

fn write(value: &Json<'_>, text: &mut String) {
    match value {
        Json::Object(object) => {
            let mut members: Vec<(&str, &Json<'_>)> = object.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                Json::from(name).write_compact(text);
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        plain => plain.write_compact(text),
    }
}

/// A hash from its hexadecimal form.
pub(super) fn parse(text: &str) -> Option<Hash> {
    let digits = text.as_bytes();
    let mut hash = Hash::default();
    if digits.len() != 2 * hash.len() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
    }
    Some(hash)
}

/// The hexadecimal form of a hash.
pub(super) fn show(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_and_other_letters_stay_as_they_are() {
        let value = Json::parse(r#"{"b":[1,{"d":"ü","c":null}],"a":"x\ny"}"#).unwrap();
        let mut text = String::new();
        write(&value, &mut text);
        assert_eq!(text, "{\"a\":\"x\\ny\",\"b\":[1,{\"c\":null,\"d\":\"ü\"}]}");
    }

    #[test]
    fn a_hash_comes_back_from_its_digits() {
        let hash = hash_of(&Json::Null);
        assert_eq!(parse(&show(&hash)), Some(hash));
        assert_eq!(parse("00"), None);
        assert_eq!(parse(&"0g".repeat(32)), None);
    }
}
