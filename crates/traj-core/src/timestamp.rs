//! Timestamps: milliseconds since 1970, and the many ways in which files write
//! them.
//!
//! Sidecars are ordered by time, so an offset, a missing fraction or a date in
//! prose must not move an event. [`UnixMillis::parse_lenient`] understands the
//! formats that other recorders accept. Times without a zone are read as UTC,
//! because the reader's zone says nothing about the writer's.

mod civil;
mod iso;
mod parts;
mod prose;
mod token;

#[cfg(test)]
mod tests;

use std::fmt;

/// A time in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(i64);

impl UnixMillis {
    /// The largest distance from 1970, in either direction, that a date can
    /// express.
    pub const MAX_DISTANCE: i64 = 8_640_000_000_000_000;

    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// A time, if it is within ±[`Self::MAX_DISTANCE`].
    #[must_use]
    pub const fn new(millis: i64) -> Option<Self> {
        if millis.unsigned_abs() <= Self::MAX_DISTANCE.unsigned_abs() {
            Some(Self(millis))
        } else {
            None
        }
    }

    /// The time that a JSON number states; fractions of a millisecond are
    /// truncated.
    #[must_use]
    pub fn from_f64(millis: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, new checks")]
        let whole = millis.trunc() as i64;
        if millis.is_nan() { None } else { Self::new(whole) }
    }

    /// Parses `2026-06-01T10:00:05.000Z` and its shorter and longer forms, with
    /// any offset.
    #[must_use]
    pub fn parse_iso(text: &str) -> Option<Self> {
        iso::parse(text)
    }

    /// Parses an ISO date, or a date as people and old tools write it
    /// (`June 1, 2026`, `6/1/26 10:00 GMT+2`).
    #[must_use]
    pub fn parse_lenient(text: &str) -> Option<Self> {
        iso::parse(text).or_else(|| prose::parse(text))
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The time `millis` later, or the last one that can be expressed.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        let sum = self.0.saturating_add(millis);
        Self(sum.clamp(-Self::MAX_DISTANCE, Self::MAX_DISTANCE))
    }

    /// ISO 8601 in UTC with milliseconds; years outside 0–9999 get a sign and
    /// six digits.
    #[must_use]
    pub fn to_iso(self) -> String {
        let mut iso = String::with_capacity(27);
        self.write_iso(&mut iso);
        iso
    }

    /// Appends the output of [`Self::to_iso`]. Written by hand for speed,
    /// because every event has a time.
    pub(crate) fn write_iso(self, out: &mut String) {
        let date = civil::CivilDate::from_millis(self.0);
        let of_day = self.0.rem_euclid(civil::MILLIS_PER_DAY);
        let year = date.year.abs();
        if !(0..=9_999).contains(&date.year) {
            out.push(if date.year < 0 { '-' } else { '+' });
            push_two(year / 10_000, out);
        }
        push_two(year / 100 % 100, out);
        let parts = [
            (year % 100, '-'),
            (date.month, '-'),
            (date.day, 'T'),
            (of_day / 3_600_000, ':'),
            (of_day / 60_000 % 60, ':'),
            (of_day / 1_000 % 60, '.'),
            (of_day / 10 % 100, digit(of_day % 10)),
        ];
        for (number, end) in parts {
            push_two(number, out);
            out.push(end);
        }
        out.push('Z');
    }

    /// The time as part of a file name: `2026-06-01T10-00-05`.
    #[must_use]
    pub fn to_file_stamp(self) -> String {
        let iso = self.to_iso();
        let seconds = iso.rsplit_once('.').map_or(iso.as_str(), |(seconds, _)| seconds);
        seconds.replace(':', "-")
    }
}

/// Appends a number below 100 as two digits.
fn push_two(number: i64, out: &mut String) {
    out.push(digit(number / 10));
    out.push(digit(number % 10));
}

fn digit(number: i64) -> char {
    u8::try_from(number).map_or('?', |number| char::from(b'0' + number))
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_iso())
    }
}
