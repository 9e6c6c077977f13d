//! The parts of a date as they are parsed, and their result.

use super::civil::{CivilDate, CivilTime};

/// Up to three numbers, and the number of a named month.
#[derive(Default)]
pub(super) struct DayParts {
    numbers: Vec<i64>,
    pub(super) month: Option<i64>,
}

impl DayParts {
    pub(super) const fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn add(&mut self, number: i64) -> Option<()> {
        self.numbers.push(number);
        (self.numbers.len() <= 3).then_some(())
    }

    pub(super) fn date(&self) -> Option<CivilDate> {
        let first = *self.numbers.first()?;
        let second = self.numbers.get(1).copied().unwrap_or(1);
        let third = self.numbers.get(2).copied().unwrap_or(1);
        let is_day = (1..=31).contains(&first);
        let (year, month, day) = match (self.month, is_day) {
            (Some(month), true) => (second, month, first),
            (Some(month), false) => (first, month, second),
            (None, true) => (third, first, second),
            (None, false) => (first, second, third),
        };
        let year = match year {
            0..=49 => year + 2_000,
            50..=99 => year + 1_900,
            year => year,
        };
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(CivilDate {
            year,
            month,
            day,
        })
    }
}

/// Hour, minute, second and millisecond, as far as they were parsed.
#[derive(Default)]
pub(super) struct ClockParts {
    parts: Vec<i64>,
    pub(super) afternoon: Option<bool>,
}

impl ClockParts {
    const PARTS: usize = 4;

    pub(super) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether this number is valid as the next part.
    pub(super) fn expects(&self, number: i64) -> bool {
        match self.parts.len() {
            1 | 2 => (0..60).contains(&number),
            3 => (0..1_000).contains(&number),
            _ => false,
        }
    }

    pub(super) fn add(&mut self, number: i64) -> Option<()> {
        self.parts.push(number);
        (self.parts.len() <= Self::PARTS).then_some(())
    }

    /// Adds the last part and sets the missing ones to zero.
    pub(super) fn add_last(&mut self, number: i64) {
        self.parts.push(number);
        self.parts.resize(Self::PARTS, 0);
    }

    pub(super) fn millis(&self, offset: i64) -> Option<i64> {
        let part = |index: usize| self.parts.get(index).copied().unwrap_or(0);
        let mut hour = part(0);
        if let Some(afternoon) = self.afternoon {
            if !(0..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if afternoon { 12 } else { 0 };
        }
        let milli = part(3);
        let time = CivilTime { hour, minute: part(1), second: part(2), milli, offset };
        if milli < 1_000 { time.to_millis() } else { None }
    }
}

/// A zone, as far as it was parsed.
#[derive(Default)]
pub(super) struct ZoneParts {
    pub(super) sign: Option<i64>,
    pub(super) hours: Option<i64>,
    pub(super) minutes: Option<i64>,
}

impl ZoneParts {
    pub(super) const fn hours(east: i64) -> Self {
        let sign = if east < 0 { -1 } else { 1 };
        Self { sign: Some(sign), hours: Some(east.abs()), minutes: Some(0) }
    }

    pub(super) fn is_utc(&self) -> bool {
        self.hours == Some(0) && self.minutes == Some(0)
    }

    /// Whether this number is valid as the minutes after the hours.
    pub(super) fn expects(&self, number: i64) -> bool {
        self.hours.is_some() && self.minutes.is_none() && (0..60).contains(&number)
    }

    /// Minutes east of UTC.
    pub(super) fn offset(&self) -> i64 {
        let minutes = self.hours.unwrap_or(0) * 60 + self.minutes.unwrap_or(0);
        self.sign.map_or(0, |sign| sign * minutes)
    }
}
