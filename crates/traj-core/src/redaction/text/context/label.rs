//! Names of values: finds the name around a keyword and judges it.

use super::reading::{self, Ends};
use super::{ContextScan, Style, assignment, code, pair, table};
use crate::redaction::field_name::{self, NameClass};
use crate::redaction::rule::Frame;
use crate::redaction::text::value::looks_chosen;

/// A longer string is not a name.
const MAX_NAME: usize = 64;

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// A name in the text with its judgement.
pub(super) struct Label {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) class: NameClass,
    pub(super) frame: Frame,
    /// A quote comes before it.
    pub(super) quoted: bool,
    /// Dashes come before it.
    pub(super) flag: bool,
}

/// Reads a label around the word at `start..end`.
pub(super) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if start < scan.label_end {
        return;
    }
    let Some(label) = label_around(scan, start, end) else {
        return;
    };
    if pair::read(scan, &label) || table::read_header(scan, label.start, label.end) {
        return;
    }
    if !assignment::read(scan, &label) {
        said_before(scan, &label);
    }
}

/// `use … as the password`.
fn said_before(scan: &mut ContextScan<'_>, label: &Label) {
    if !matches!(label.frame, Frame::Password | Frame::Passphrase) {
        return;
    }
    let floor = label.start.saturating_sub(128);
    let before = scan.slice(floor, label.start);
    const LINKS: &[&[u8]] =
        &[b" as the ", b" as ", b" as my ", b" as your ", b" as a ", b" as its "];
    let Some(link) = LINKS.iter().find(|link| before.ends_with(link)) else {
        return;
    };
    let end = label.start - link.len();
    let start = memchr::memrchr3(b' ', b'\n', b'"', scan.slice(floor, end))
        .map_or(floor, |place| floor + place + 1);
    if looks_chosen(scan.slice(start, end)) && end - start >= 6 {
        scan.hide_if(start, end, label.class, Style::Prose);
    }
}

/// Reads a label in another script or language, which ends at `end`.
pub(super) fn read_foreign(scan: &mut ContextScan<'_>, end: usize) {
    let mut place = end;
    while scan.byte(place).is_ascii_alphanumeric()
        || scan.byte(place) >= 0x80 && scan.slice(place, place + 3) != "：".as_bytes()
    {
        place += 1;
        if place - end > 24 {
            return;
        }
    }
    place = scan.skip_blanks(place);
    if matches!(scan.byte(place), b':' | b'=') {
        place += 1;
    } else if scan.slice(place, place + 3) == "：".as_bytes() {
        place += 3;
    } else {
        return;
    }
    let place = scan.skip_blanks(place);
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Open);
    }
}

/// Widens a keyword to the name it is part of and judges the name.
fn label_around(scan: &mut ContextScan<'_>, start: usize, end: usize) -> Option<Label> {
    let mut first = start;
    while first > 0 && is_name_byte(scan.byte(first - 1)) && start - first < MAX_NAME {
        first -= 1;
    }
    // A keyword may end with the sign after the name.
    let mut end = end;
    while end > start && !is_name_byte(scan.byte(end - 1)) {
        end -= 1;
    }
    let mut last = end;
    while is_name_byte(scan.byte(last)) && last - end < MAX_NAME {
        last += 1;
    }
    scan.label_end = last;
    if last - first > MAX_NAME {
        return None;
    }
    // `\nTOKEN=` in an escaped text: the letter belongs to the escape.
    if first > 0 && scan.byte(first - 1) == b'\\' && matches!(scan.byte(first), b'n' | b'r' | b't')
    {
        first += 1;
    }
    let dashes = first + scan.slice(first, last).iter().take_while(|byte| **byte == b'-').count();
    let flag = dashes > first;
    first = dashes;
    while last > first && !scan.byte(last - 1).is_ascii_alphanumeric() {
        last -= 1;
    }
    while last > first && !scan.byte(first).is_ascii_alphanumeric() && scan.byte(first) != b'_' {
        first += 1;
    }
    let class = class_of(scan, first, last);
    let Some(frame) = class.frame() else {
        if scan.slice(first, last).eq_ignore_ascii_case(b"login") {
            code::read_login(scan, last);
        }
        return None;
    };
    let before = scan.byte(first.wrapping_sub(1));
    let quoted = first > 0 && matches!(before, b'"' | b'\'' | b'`')
        || flag && matches!(scan.byte(first.saturating_sub(3)), b'"' | b'\'');
    Some(Label { start: first, end: last, class, frame, quoted, flag })
}

/// Judges a name; a bare word is judged with the words before it
/// (`partition key`, `Secret access key`).
fn class_of(scan: &ContextScan<'_>, first: usize, last: usize) -> NameClass {
    let word = scan.slice(first, last);
    if word.iter().any(|byte| !byte.is_ascii_alphabetic()) || word.len() > 12 {
        return scan.class_of(word);
    }
    // Filled from the end.
    let mut words: [&[u8]; 4] = [word; 4];
    let mut front = words.len() - 1;
    let mut place = first;
    while front > 0 && place > 1 && scan.byte(place - 1) == b' ' {
        let end = place - 1;
        let mut begin = end;
        while begin > 0 && scan.byte(begin - 1).is_ascii_alphanumeric() && end - begin < 20 {
            begin -= 1;
        }
        if begin == end {
            break;
        }
        front -= 1;
        words[front] = scan.slice(begin, end);
        place = begin;
    }
    if front == words.len() - 1 {
        return scan.class_of(word);
    }
    // A camel-case word keeps its own words.
    if word.iter().skip(1).any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase) {
        return scan.class_of(word);
    }
    field_name::classify_words(&words[front..])
}
