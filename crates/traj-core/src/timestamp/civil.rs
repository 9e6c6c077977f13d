//! The proleptic Gregorian calendar over the whole range of timestamps.
//!
//! Calendar crates stop at the year 9999 or change their API with a feature;
//! files contain years up to ±275760.

pub(super) const MILLIS_PER_DAY: i64 = 86_400_000;

/// A calendar date.
pub(super) struct CivilDate {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

impl CivilDate {
    /// The date of a timestamp. Counts in 400-year eras that start in March, so
    /// that the leap day is the last day of its year.
    pub(super) const fn from_millis(millis: i64) -> Self {
        let days = millis.div_euclid(MILLIS_PER_DAY) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
        Self { year, month, day }
    }

    /// Days since 1970. A day past the end of its month counts into the next
    /// month.
    pub(super) const fn to_days(&self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let shifted_month = (self.month + 9) % 12;
        let day_of_year = (153 * shifted_month + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }
}

/// A time of day, with its zone if one was written.
#[derive(Default)]
pub(super) struct CivilTime {
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) milli: i64,
    /// Minutes east of UTC.
    pub(super) offset: i64,
}

impl CivilTime {
    /// Milliseconds since midnight UTC; `None` if a part is out of range.
    /// Midnight at the end of a day (`24:00`) is allowed.
    pub(super) const fn to_millis(&self) -> Option<i64> {
        let within = self.hour < 24 && self.minute < 60 && self.second < 60;
        let end_of_day = self.hour == 24 && self.minute == 0 && self.second == 0 && self.milli == 0;
        if !within && !end_of_day {
            return None;
        }
        let minutes = self.hour * 60 + self.minute - self.offset;
        Some(minutes * 60_000 + self.second * 1_000 + self.milli)
    }
}
