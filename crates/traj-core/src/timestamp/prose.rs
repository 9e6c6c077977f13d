//! Dates as people and old tools write them: words, slashes, named zones.
//!
//! The rules are those of the JavaScript engines that write such files. A date
//! may begin like ISO 8601. Up to three numbers are a date; numbers joined by
//! colons are a time. Before the first number, all words but names of months
//! are ignored; after it, unknown words make the date invalid. Parentheses are
//! comments.

use super::UnixMillis;
use super::civil::MILLIS_PER_DAY;
use super::parts::{ClockParts, DayParts, ZoneParts};
use super::token::{DateToken, DateTokens};

pub(super) fn parse(text: &str) -> Option<UnixMillis> {
    let mut reading = ProseReading::default();
    // Some locales put a narrow space before `PM`.
    let text = text.replace(|letter: char| letter.is_whitespace() || letter == '\u{feff}', " ");
    let mut tokens = DateTokens::new(text.as_bytes());
    let mut next = reading.iso_date(&mut tokens)?;
    reading.read_number = !reading.day.is_empty();
    while let Some(token) = next.or_else(|| tokens.next()) {
        next = None;
        reading.accept(token, &mut tokens)?;
    }
    let days = reading.day.date()?.to_days();
    let time = reading.clock.millis(reading.zone.offset())?;
    UnixMillis::new(days.checked_mul(MILLIS_PER_DAY)?.checked_add(time)?)
}

#[derive(Default)]
struct ProseReading {
    day: DayParts,
    clock: ClockParts,
    zone: ZoneParts,
    read_number: bool,
}

impl ProseReading {
    /// Parses as much of an ISO date as there is and returns the next token.
    /// `None` if an invalid time follows.
    fn iso_date(&mut self, tokens: &mut DateTokens<'_>) -> Option<Option<DateToken>> {
        let first = tokens.next();
        let year = match first {
            Some(DateToken::Symbol(sign @ (b'+' | b'-'))) => match tokens.fixed(6) {
                Some(year) if sign == b'+' || year != 0 => {
                    if sign == b'+' {
                        year
                    } else {
                        -year
                    }
                }
                _ => return Some(first),
            },
            Some(DateToken::Number(year, 4)) => year,
            _ => return Some(first),
        };
        self.day.add(year)?;
        for most in [12, 31] {
            if !tokens.take(b'-') {
                break;
            }
            match tokens.next() {
                Some(DateToken::Number(part, 2)) if (1..=most).contains(&part) => {
                    self.day.add(part)?;
                }
                other => return Some(other),
            }
        }
        let next = tokens.next();
        // With a valid time, the whole date would have been parsed as ISO.
        if matches!(next, Some(DateToken::Word([b't', 0, 0], _))) { None } else { Some(next) }
    }

    fn accept(&mut self, token: DateToken, tokens: &mut DateTokens<'_>) -> Option<()> {
        match token {
            DateToken::Number(value, _) => {
                self.read_number = true;
                self.number(value, tokens)
            }
            DateToken::Word(word, letters) => self.word(&word, letters, tokens),
            DateToken::Symbol(sign @ (b'+' | b'-'))
                if self.zone.is_utc() || !self.clock.is_empty() =>
            {
                self.read_number = true;
                self.offset(if sign == b'+' { 1 } else { -1 }, tokens)
            }
            DateToken::Symbol(b'+' | b'-' | b')') if self.read_number => None,
            DateToken::Symbol(_) => Some(()),
        }
    }

    /// Parses what follows a sign after a time or a zone.
    fn offset(&mut self, sign: i64, tokens: &mut DateTokens<'_>) -> Option<()> {
        let (value, digits) = tokens.number().unwrap_or((0, 0));
        self.zone = if tokens.is_at(b':') {
            ZoneParts { sign: Some(sign), hours: Some(value), minutes: None }
        } else {
            let (hours, minutes) = match digits {
                1 | 2 => (value, 0),
                3 | 4 => (value / 100, value % 100),
                _ => return None,
            };
            ZoneParts { sign: Some(sign), hours: Some(hours), minutes: Some(minutes) }
        };
        Some(())
    }

    fn number(&mut self, value: i64, tokens: &mut DateTokens<'_>) -> Option<()> {
        if tokens.take(b':') {
            if tokens.take(b':') {
                // Missing minutes count as zero.
                return if self.clock.is_empty() {
                    self.clock.add(value)?;
                    self.clock.add(0)
                } else {
                    None
                };
            }
            self.clock.add(value)?;
            tokens.take(b'.');
            return Some(());
        }
        if tokens.take(b'.') && self.clock.expects(value) {
            self.clock.add(value)?;
            let (fraction, digits) = tokens.number()?;
            self.clock.add_last(millis_of(fraction, digits));
            return Some(());
        }
        if self.zone.expects(value) {
            self.zone.minutes = Some(value);
            return Some(());
        }
        if self.clock.expects(value) {
            self.clock.add_last(value);
            return tokens.may_follow_time().then_some(());
        }
        self.day.add(value)?;
        tokens.take(b'-');
        Some(())
    }

    fn word(&mut self, word: &[u8; 3], letters: usize, tokens: &mut DateTokens<'_>) -> Option<()> {
        const MONTHS: &[u8; 36] = b"janfebmaraprmayjunjulaugsepoctnovdec";
        if (word == b"am\0" || word == b"pm\0") && !self.clock.is_empty() {
            self.clock.afternoon = Some(word == b"pm\0");
            return Some(());
        }
        if let Some(month) = MONTHS.chunks_exact(3).position(|name| name == word) {
            self.day.month = Some(i64::try_from(month).ok()? + 1);
            tokens.take(b'-');
            return Some(());
        }
        // Only names of months may be longer than three letters.
        let zone_hours = match word {
            _ if letters > word.len() => None,
            b"utc" | b"gmt" | [b'z', 0, 0] | [b'u', b't', 0] => Some(0),
            b"est" | b"cdt" => Some(-5),
            b"edt" => Some(-4),
            b"cst" | b"mdt" => Some(-6),
            b"mst" | b"pdt" => Some(-7),
            b"pst" => Some(-8),
            _ => None,
        };
        if let Some(hours) = zone_hours.filter(|_| self.read_number) {
            self.zone = ZoneParts::hours(hours);
            return Some(());
        }
        // Other words are ignored before the first number and invalid after it.
        (!self.read_number && !tokens.is_at_number()).then_some(())
    }
}

/// Truncates a fraction to milliseconds.
fn millis_of(fraction: i64, digits: usize) -> i64 {
    match digits {
        1 => fraction * 100,
        2 => fraction * 10,
        // Only this many digits of a number are kept.
        _ => (3..digits.min(DateToken::MOST_DIGITS)).fold(fraction, |millis, _| millis / 10),
    }
}
