//! When an entry was written.

use crate::json::Json;
use crate::timestamp::UnixMillis;

/// The time of an entry; 1970 if it has no readable one.
#[must_use]
pub fn entry_instant(entry: &Json<'_>) -> UnixMillis {
    let instant = match entry.get("timestamp") {
        Some(Json::Number(number)) => number.as_f64().and_then(UnixMillis::from_f64),
        Some(Json::String(text)) => UnixMillis::parse_lenient(text),
        _ => None,
    };
    instant.unwrap_or(UnixMillis::EPOCH)
}

#[cfg(test)]
mod tests {
    use super::entry_instant;
    use crate::json::Json;

    #[test]
    fn numbers_and_texts_are_read_and_the_rest_is_1970() {
        let iso = |entry: &str| entry_instant(&Json::parse(entry).unwrap()).to_iso();
        assert_eq!(iso(r#"{"timestamp":1780308005123.7}"#), "2026-06-01T10:00:05.123Z");
        assert_eq!(iso(r#"{"timestamp":"2026-06-01T12:00:05+02:00"}"#), "2026-06-01T10:00:05.000Z");
        for bad in [r#"{"timestamp":"not a date"}"#, r#"{"timestamp":9e15}"#, "{}"] {
            assert_eq!(iso(bad), "1970-01-01T00:00:00.000Z");
        }
    }
}
