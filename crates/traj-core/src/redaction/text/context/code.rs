//! Recovery codes, seed phrases, card numbers and logins as people write them.

use super::reading::{self, Ends};
use super::{ContextScan, Style, judge};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_placeholder, looks_chosen, made_of_words};

/// Reads the codes after an announcement such as `Recovery codes:`.
pub(super) fn read(scan: &mut ContextScan<'_>, _start: usize, end: usize) {
    let mut place = end;
    // The rest of the word, such as the `s` of `codes`.
    while scan.byte(place).is_ascii_alphabetic() && place - end < 16 {
        place += 1;
    }
    let line_end = scan.line_end(place, 200);
    let rest = scan.slice(place, line_end);
    let Some(colon) = memchr::memchr(b':', rest) else {
        return;
    };
    if rest[..colon].len() > 60 {
        return;
    }
    let mut place = place + colon + 1;
    for _ in 0..32 {
        while matches!(
            scan.byte(place),
            b' ' | b'\t' | b',' | b'\n' | b'\r' | b'-' | b'*' | b'>' | b'"' | b'\''
        ) {
            place += 1;
        }
        // `1. abcd-efgh`
        let digits =
            scan.slice(place, place + 3).iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 && digits < 3 && matches!(scan.byte(place + digits), b'.' | b')') {
            place = scan.skip_blanks(place + digits + 1);
        }
        let mut stop = place;
        loop {
            if scan.byte(stop) == b'<'
                && let Some(after) = scan.marker_at(stop)
            {
                stop = after;
            } else if scan.byte(stop).is_ascii_alphanumeric() || scan.byte(stop) == b'-' {
                stop += 1;
            } else {
                break;
            }
        }
        let code = scan.slice(place, stop);
        if scan.is_marked(place, stop) {
            place = stop;
            continue;
        }
        if !is_recovery_code(code) {
            return;
        }
        scan.hide(place, stop, Frame::RecoveryCode);
        place = stop;
    }
}

fn is_recovery_code(code: &[u8]) -> bool {
    (6..=48).contains(&code.len()) && code.iter().any(u8::is_ascii_digit) && {
        let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
        digits >= 6 || code.contains(&b'-') || looks_chosen(code)
    }
}

/// Reads the words of a seed phrase at `start`.
pub(super) fn read_seed(scan: &mut ContextScan<'_>, start: usize) {
    let mut place = start;
    while matches!(scan.byte(place), b'"' | b'\'' | b'`' | b'\\' | b' ' | b'\n' | b'\r') {
        place += 1;
    }
    let first = place;
    let mut words = 0;
    let mut end = place;
    while words < 48 {
        let length = scan
            .slice(place, place + 12)
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        if !(3..=9).contains(&length) {
            break;
        }
        words += 1;
        end = place + length;
        place = end;
        while matches!(scan.byte(place), b' ' | b'\n' | b'\r' | b',' | b'-') && place - end < 4 {
            place += 1;
        }
        if place == end {
            break;
        }
    }
    if words >= 11 {
        scan.hide(first, end, Frame::SeedPhrase);
    } else if let Some(value) = reading::quoted_value(scan, start) {
        let bytes = scan.slice(value.start, value.end);
        if judge(bytes, NameClass::Strong(Frame::SeedPhrase), Style::Data) {
            scan.hide(value.start, value.end, Frame::SeedPhrase);
        }
    }
}

/// Reads a card number at `start`, with or without digit groups.
pub(super) fn read_card(scan: &mut ContextScan<'_>, start: usize, class: NameClass) {
    let mut place = start;
    while matches!(scan.byte(place), b'"' | b'\'' | b'\\' | b' ') {
        place += 1;
    }
    let length = scan
        .slice(place, place + 28)
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
        .count();
    let run = scan.slice(place, place + length).trim_ascii_end();
    // The run may include the expiry date: try the longest number first.
    let mut end = run.len();
    while end >= 12 {
        if run[end - 1].is_ascii_digit()
            && judge(&run[..end], class, Style::Data)
            && !run.get(end).is_some_and(u8::is_ascii_digit)
        {
            scan.hide(place, place + end, Frame::CardNumber);
            return;
        }
        end -= 1;
    }
}

/// `login is admin / password`, `login: admin / password`.
pub(super) fn read_login(scan: &mut ContextScan<'_>, end: usize) {
    let mut place = scan.skip_blanks(end);
    let rest = scan.slice(place, place + 4);
    if scan.slice(end.saturating_sub(5), end) == b"LOGIN" && place > end {
        return imap_login(scan, place);
    }
    if rest.starts_with(b"is ") {
        place += 3;
    } else if rest.starts_with(b":") {
        place = scan.skip_blanks(place + 1);
    } else {
        return;
    }
    user_and_password(scan, place);
}

/// `log in with admin / password`, `creds are admin:password`.
pub(super) fn read_pair(scan: &mut ContextScan<'_>, end: usize) {
    let place = scan.skip_blanks(end);
    if user_and_password(scan, place) {
        return;
    }
    let user = scan
        .slice(place, place + 64)
        .iter()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@')
        })
        .count();
    if user < 2 || scan.byte(place + user) != b':' || scan.byte(place + user + 1) == b'/' {
        return;
    }
    if let Some(value) = reading::value(scan, place + user + 1, Ends::Prose) {
        let bytes = scan.slice(value.start, value.end);
        if bytes.len() >= 6 && !is_placeholder(bytes) && looks_chosen(bytes) {
            scan.hide(value.start, value.end, Frame::Password);
        }
    }
}

/// Reads `admin / password` at `place`; returns whether it is there.
pub(super) fn user_and_password(scan: &mut ContextScan<'_>, place: usize) -> bool {
    let user = scan
        .slice(place, place + 64)
        .iter()
        .take_while(|byte| byte.is_ascii_graphic() && **byte != b'/')
        .count();
    // `credentials: https://…` is not a user.
    if user == 0 || scan.byte(place + user - 1) == b':' {
        return false;
    }
    let mut slash = scan.skip_blanks(place + user);
    if scan.byte(slash) != b'/' {
        return false;
    }
    slash = scan.skip_blanks(slash + 1);
    if let Some(value) = reading::value(scan, slash, Ends::Prose) {
        let bytes = scan.slice(value.start, value.end);
        // `vendor/model-3-flash` is a name.
        let is_name = scan.byte(slash - 1) == b'/' && made_of_words(bytes);
        if !is_placeholder(bytes) && looks_chosen(bytes) && bytes.len() >= 6 && !is_name {
            scan.hide(value.start, value.end, Frame::Password);
            return true;
        }
    }
    false
}

/// `a1 LOGIN user secret` in an IMAP session.
fn imap_login(scan: &mut ContextScan<'_>, start: usize) {
    let user =
        scan.slice(start, start + 128).iter().take_while(|byte| byte.is_ascii_graphic()).count();
    let place = scan.skip_blanks(start + user);
    let line_end = scan.line_end(place, 256);
    let bytes = scan.slice(place, line_end).trim_ascii_end();
    if user > 0 && bytes.len() >= 6 && looks_chosen(bytes) && !is_placeholder(bytes) {
        scan.hide(place, place + bytes.len(), Frame::Password);
    }
}
