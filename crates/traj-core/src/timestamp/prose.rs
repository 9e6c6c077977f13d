//! Dates as people and old tools write them: words, slashes, zones by name.
//!
//! The rules are those of the JavaScript engines whose files we read: up to
//! three numbers are a date, numbers joined by colons a time; words before the
//! first number mean nothing unless they name a month or a zone, unknown words
//! after it spoil the date; parentheses are comments.

use super::UnixMillis;
use super::civil::{Date, MILLIS_PER_DAY, Time};

pub(super) fn parse(text: &str) -> Option<UnixMillis> {
    let mut reading = Reading::default();
    let mut tokens = Tokens { rest: text.as_bytes() };
    while let Some(token) = tokens.next() {
        reading.accept(token, &mut tokens)?;
    }
    let days = reading.date()?.to_days();
    UnixMillis::new(days.checked_mul(MILLIS_PER_DAY)?.checked_add(reading.time()?)?)
}

enum Token {
    Number(i64, usize),
    Word([u8; 3]),
    Symbol(u8),
}

struct Tokens<'a> {
    rest: &'a [u8],
}

impl Tokens<'_> {
    fn next(&mut self) -> Option<Token> {
        let first = *self.rest.first()?;
        if first.is_ascii_digit() {
            let digits = self.run(u8::is_ascii_digit);
            let value =
                digits.iter().take(10).fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
            return Some(Token::Number(value, digits.len()));
        }
        if first.is_ascii_alphabetic() {
            let word = self.run(u8::is_ascii_alphabetic);
            let mut prefix = [0; 3];
            for (slot, byte) in prefix.iter_mut().zip(word) {
                *slot = byte.to_ascii_lowercase();
            }
            return Some(Token::Word(prefix));
        }
        if first == b'(' {
            self.comment();
            // A comment separates like a blank does.
            return (!self.rest.is_empty()).then_some(Token::Symbol(b' '));
        }
        self.rest = &self.rest[1..];
        Some(Token::Symbol(first))
    }

    fn comment(&mut self) {
        let mut depth = 0_usize;
        while let Some((first, rest)) = self.rest.split_first() {
            self.rest = rest;
            match first {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn run(&mut self, belongs: impl Fn(&u8) -> bool) -> &[u8] {
        let length = self.rest.iter().take_while(|byte| belongs(byte)).count();
        let (run, rest) = self.rest.split_at(length);
        self.rest = rest;
        run
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }
}

#[derive(Default)]
struct Reading {
    numbers: Vec<i64>,
    month: Option<i64>,
    clock: Vec<i64>,
    millis: i64,
    /// A zone was named or a sign opened one.
    zone: Option<i64>,
    sign: Option<i64>,
    afternoon: Option<bool>,
    read_number: bool,
    clock_open: bool,
}

impl Reading {
    fn accept(&mut self, token: Token, tokens: &mut Tokens<'_>) -> Option<()> {
        match token {
            Token::Number(value, digits) => {
                self.read_number = true;
                self.number(value, digits, tokens)
            }
            Token::Word(word) => self.word(&word, tokens),
            Token::Symbol(sign @ (b'+' | b'-'))
                if self.zone.is_some() || !self.clock.is_empty() =>
            {
                self.zone = Some(0);
                self.sign = Some(if sign == b'+' { 1 } else { -1 });
                self.clock_open = false;
                Some(())
            }
            Token::Symbol(b'+' | b'-' | b')') if self.read_number => None,
            Token::Symbol(_) => {
                self.clock_open = false;
                Some(())
            }
        }
    }

    fn number(&mut self, value: i64, digits: usize, tokens: &mut Tokens<'_>) -> Option<()> {
        if let Some(sign) = self.sign.take() {
            let (hours, minutes) = if tokens.take(b':') {
                let Some(Token::Number(minutes, _)) = tokens.next() else { return None };
                (value, minutes)
            } else if digits > 2 {
                (value / 100, value % 100)
            } else {
                (value, 0)
            };
            self.zone = Some(sign * (hours * 60 + minutes));
            return (hours < 24 && minutes < 60).then_some(());
        }
        if tokens.take(b':') {
            self.clock.push(value);
            self.clock_open = true;
            return (self.clock.len() < 4).then_some(());
        }
        if self.clock_open {
            self.clock.push(value);
            self.clock_open = false;
            if self.clock.len() == 3 && tokens.take(b'.') {
                let Some(Token::Number(fraction, places)) = tokens.next() else { return None };
                let scale = |places: usize| 10_i64.pow(u32::try_from(places).unwrap_or(9).min(9));
                let places = places.min(10);
                self.millis = if places <= 3 {
                    fraction * scale(3 - places)
                } else {
                    fraction / scale(places - 3)
                };
            }
            return (self.clock.len() < 4).then_some(());
        }
        self.numbers.push(value);
        tokens.take(b'-');
        (self.numbers.len() <= 3).then_some(())
    }

    fn word(&mut self, word: &[u8; 3], tokens: &mut Tokens<'_>) -> Option<()> {
        const MONTHS: &[u8; 36] = b"janfebmaraprmayjunjulaugsepoctnovdec";
        if let Some(month) = MONTHS.chunks_exact(3).position(|name| name == word) {
            self.month = Some(i64::try_from(month).ok()? + 1);
            tokens.take(b'-');
            return Some(());
        }
        let zone_hours = match word {
            b"utc" | b"gmt" | [b'z', 0, 0] | [b'u', b't', 0] => Some(0),
            b"est" | b"cdt" => Some(-5),
            b"edt" => Some(-4),
            b"cst" | b"mdt" => Some(-6),
            b"mst" | b"pdt" => Some(-7),
            b"pst" => Some(-8),
            _ => None,
        };
        if let Some(hours) = zone_hours.filter(|_| self.read_number) {
            self.zone = Some(hours * 60);
            return Some(());
        }
        if (word == b"am\0" || word == b"pm\0") && !self.clock.is_empty() {
            self.afternoon = Some(word == b"pm\0");
            return Some(());
        }
        // Other words are greetings before a date and garbage behind one.
        let runs_into_number = tokens.rest.first().is_some_and(u8::is_ascii_digit);
        (!self.read_number && !runs_into_number).then_some(())
    }

    fn date(&self) -> Option<Date> {
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
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Date { year, month, day })
    }

    fn time(&self) -> Option<i64> {
        let part = |index: usize| self.clock.get(index).copied().unwrap_or(0);
        let mut hour = part(0);
        if let Some(afternoon) = self.afternoon {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if afternoon { 12 } else { 0 };
        }
        let offset = self.zone.unwrap_or(0);
        Time { hour, minute: part(1), second: part(2), milli: self.millis, offset }.to_millis()
    }
}
