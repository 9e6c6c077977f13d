//! The ISO 8601 forms that recorders write.

use super::UnixMillis;
use super::civil::{CivilDate, CivilTime, MILLIS_PER_DAY};

pub(super) fn parse(text: &str) -> Option<UnixMillis> {
    let mut cursor = IsoCursor { rest: text.as_bytes() };
    let date = cursor.date()?;
    let time = if cursor.rest.is_empty() { CivilTime::default() } else { cursor.time()? };
    if !cursor.rest.is_empty() {
        return None;
    }
    UnixMillis::new(date.to_days().checked_mul(MILLIS_PER_DAY)?.checked_add(time.to_millis()?)?)
}

struct IsoCursor<'a> {
    rest: &'a [u8],
}

impl IsoCursor<'_> {
    /// `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; signed years have six digits.
    fn date(&mut self) -> Option<CivilDate> {
        let year = match self.rest.first()? {
            b'+' => {
                self.rest = &self.rest[1..];
                self.number(6)?
            }
            b'-' => {
                self.rest = &self.rest[1..];
                // There is no negative year zero.
                -self.number(6).filter(|year| *year != 0)?
            }
            _ => self.number(4)?,
        };
        let month = if self.take(b'-') { self.number(2)? } else { 1 };
        let day = if self.take(b'-') { self.number(2)? } else { 1 };
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(CivilDate {
            year,
            month,
            day,
        })
    }

    /// `THH:MM[:SS[.fraction]][Z|±HH:MM|±HHMM]`.
    fn time(&mut self) -> Option<CivilTime> {
        if !self.take(b'T') && !self.take(b't') {
            return None;
        }
        let hour = self.number(2)?;
        self.take(b':').then_some(())?;
        let minute = self.number(2)?;
        let mut time = CivilTime { hour, minute, ..CivilTime::default() };
        if self.take(b':') {
            time.second = self.number(2)?;
            if self.take(b'.') {
                time.milli = self.fraction()?;
            }
        }
        time.offset = self.offset()?;
        Some(time)
    }

    fn offset(&mut self) -> Option<i64> {
        if self.rest.is_empty() || self.take(b'Z') || self.take(b'z') {
            return Some(0);
        }
        let sign = if self.take(b'+') {
            1
        } else if self.take(b'-') {
            -1
        } else {
            return None;
        };
        let hours = self.number(2).filter(|hours| *hours < 24)?;
        self.take(b':');
        let minutes = self.number(2).filter(|minutes| *minutes < 60)?;
        Some(sign * (hours * 60 + minutes))
    }

    /// Any number of digits; digits beyond milliseconds are dropped.
    fn fraction(&mut self) -> Option<i64> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let (fraction, rest) = self.rest.split_at(digits);
        self.rest = rest;
        let padded = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(3);
        Some(padded.fold(0, |millis, digit| millis * 10 + i64::from(digit - b'0')))
    }

    /// Exactly `digits` decimal digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        let value = number.iter().try_fold(0, |value, byte| {
            byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
        })?;
        self.rest = rest;
        Some(value)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }
}
