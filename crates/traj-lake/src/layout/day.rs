//! A day in UTC, which directories are named after.

use std::fmt;

use traj_core::timestamp::UnixMillis;

const MILLIS: i64 = 86_400_000;

/// 9999-12-31, the last day with a year of four digits.
const LAST: i64 = 2_932_896;

/// A day in UTC between 1970 and 9999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// The day of a time, or the nearest day that can be named; 1970-01-01
    /// without a time.
    #[must_use]
    pub fn of(at: Option<UnixMillis>) -> Self {
        Self(at.map_or(0, |at| at.as_millis().div_euclid(MILLIS)).clamp(0, LAST))
    }

    /// Reads `2026-11-18`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let day = Self::of(Some(UnixMillis::parse_iso(&format!("{text}T00:00:00.000Z"))?));
        (day.to_string() == text).then_some(day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let iso = UnixMillis::new(self.0 * MILLIS).unwrap_or_default().to_iso();
        formatter.write_str(iso.split_once('T').map_or(iso.as_str(), |(day, _)| day))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_utc_and_can_be_named() {
        let of = |iso: &str| Day::of(UnixMillis::parse_iso(iso)).to_string();
        assert_eq!(of("2026-11-18T23:59:59.999Z"), "2026-11-18");
        assert_eq!(of("2026-11-18T23:30:00.000-01:00"), "2026-11-19");
        assert_eq!(of("1969-12-31T23:59:59.999Z"), "1970-01-01");
        assert_eq!(of("+012026-11-18T00:00:00.000Z"), "9999-12-31");
        assert_eq!(Day::of(None).to_string(), "1970-01-01");
    }

    #[test]
    fn only_the_usual_form_is_a_day() {
        for day in ["1970-01-01", "2024-02-29", "9999-12-31"] {
            assert_eq!(Day::parse(day).unwrap().to_string(), day);
        }
        for other in ["", "2026-11-31", "2026-1-1", "2026-11-18T00", "1969-12-31", "10000-01-01"] {
            assert_eq!(Day::parse(other), None, "{other}");
        }
    }
}
