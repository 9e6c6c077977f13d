//! The user's time zone: as named by `TZ`, else the machine's, else UTC.

use traj_core::settings::configuration::Preferences;
use traj_core::timestamp::UnixMillis;
use tz::TimeZone;

use super::Host;

/// A time zone for displaying times.
#[derive(Debug)]
pub(crate) struct Zone(TimeZone);

impl Host {
    /// The user's time zone.
    pub(crate) fn zone(&self) -> Zone {
        let named = Preferences::from_host(&self.facts).timezone.value;
        Zone::named(named.as_deref().unwrap_or("localtime"))
    }
}

impl Zone {
    /// The zone with this name; UTC if there is none.
    fn named(name: &str) -> Self {
        Self(TimeZone::from_posix_tz(name).unwrap_or_else(|_| TimeZone::utc()))
    }

    /// A time with its zone, to the second: `2026-06-01 12:00:00 CEST`.
    pub(crate) fn show(&self, at: UnixMillis) -> String {
        let seconds = at.as_millis().div_euclid(1_000);
        let (offset, name) = match self.0.find_local_time_type(seconds) {
            Ok(local) => (local.ut_offset(), local.time_zone_designation()),
            Err(_) => (0, "UTC"),
        };
        let iso = at.plus_millis(i64::from(offset) * 1_000).to_iso();
        let time = iso.split('.').next().unwrap_or(&iso).replace('T', " ");
        if name.is_empty() && offset == 0 {
            format!("{time} UTC")
        } else if name.starts_with(char::is_alphabetic) {
            format!("{time} {name}")
        } else {
            // Some zones have no name, only an offset from UTC.
            let (hours, minutes) = (offset.abs() / 3_600, offset.abs() % 3_600 / 60);
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{time} {sign}{hours:02}:{minutes:02}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_with_their_zone() {
        let at = |text| UnixMillis::parse_iso(text).unwrap();
        let summer = at("2026-06-01T10:00:00.999Z");
        let winter = at("2026-12-31T23:30:00Z");
        let berlin = Zone::named("CET-1CEST,M3.5.0,M10.5.0/3");
        assert_eq!(berlin.show(summer), "2026-06-01 12:00:00 CEST");
        assert_eq!(berlin.show(winter), "2027-01-01 00:30:00 CET");
        assert_eq!(Zone::named("<-0330>3:30").show(summer), "2026-06-01 06:30:00 -03:30");
        assert_eq!(Zone::named("Nowhere/None").show(summer), "2026-06-01 10:00:00 UTC");
    }
}
