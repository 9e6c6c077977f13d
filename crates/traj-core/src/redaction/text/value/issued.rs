//! Values that can be a key because the name of a service is next to them.

use super::{Classes, entropy, is_date, is_uuid, looks_random, made_of_words};

/// Whether a value next to the name of a service can be a key of that service:
/// letters and digits that are not words, a date or a version.
pub(in crate::redaction) fn looks_issued(value: &[u8]) -> bool {
    let classes = Classes::of(value);
    if is_uuid(value) || classes.digit > 0 && looks_random(value) {
        return is_padded_at_most(value);
    }
    classes.digit >= 3
        && classes.letters() >= 3
        && !is_date(value)
        && !made_of_words(value)
        && !value.contains(&b'/')
        && is_padded_at_most(value)
        && entropy(value) >= 2.8
}

/// Whether an equals sign occurs only as the padding at the end.
fn is_padded_at_most(value: &[u8]) -> bool {
    let end = value.iter().rposition(|byte| *byte != b'=').map_or(0, |place| place + 1);
    !value[..end].contains(&b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinguished_from_versions_and_words() {
        for text in ["4b1d22f09c3e", "0f8fad5b-d9cb-469f-a165-70867728950e", "Q7x91LmZ4tR2=="] {
            assert!(looks_issued(text.as_bytes()), "{text}");
        }
        for text in [
            "python-9-4-1",
            "2026-04-05-report",
            "search=1a2b3c4d5e",
            "access-control",
            "FromRawHandleOrSocket",
        ] {
            assert!(!looks_issued(text.as_bytes()), "{text}");
        }
    }
}
