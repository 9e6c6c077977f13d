//! When a row was written.

use super::{Dialect, table_row, text};
use crate::dialect::transcript::entry_instant;
use crate::json::Json;
use crate::timestamp::UnixMillis;

impl Dialect {
    /// When a row was written; `None` if it states no readable time. The Unix
    /// epoch counts as no time.
    #[must_use]
    pub fn time_of(self, row: &Json<'_>) -> Option<UnixMillis> {
        let at = match self {
            Self::OpenClaw | Self::Pi => Some(entry_instant(row)),
            Self::Crush | Self::Goose | Self::OpenCode => table_row::time_of(row),
            Self::Sidecar | Self::Bundle => text(row, "ts").and_then(UnixMillis::parse_lenient),
            _ => text(row, "timestamp").and_then(UnixMillis::parse_lenient),
        };
        at.filter(|at| *at != UnixMillis::EPOCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Place;

    #[test]
    fn every_fact_of_a_row_has_the_time_of_the_row() {
        for (dialect, row) in [
            (Dialect::OpenClaw, r#"{"type":"model_change","id":"a","timestamp":1780308005000}"#),
            (Dialect::Sidecar, r#"{"type":"session.started","ts":"2026-06-01T10:00:05Z"}"#),
            (
                Dialect::CodexRollout,
                r#"{"type":"turn_context","timestamp":"2026-06-01T10:00:05Z","payload":{}}"#,
            ),
            (
                Dialect::Bundle,
                r#"{"type":"session.leaf","source":"transcript","ts":"2026-06-01T10:00:05Z"}"#,
            ),
        ] {
            let row = Json::parse(row).unwrap();
            let expected = UnixMillis::new(1_780_308_005_000);
            assert_eq!(dialect.time_of(&row), expected);
            dialect.decode(&row, Place::line(1), &mut |event| assert_eq!(event.at, expected));
        }
        let untimed = Json::parse(r#"{"type":"x","timestamp":"1970-01-01T00:00:00Z"}"#).unwrap();
        assert_eq!(Dialect::OpenClaw.time_of(&untimed), None);
    }
}
