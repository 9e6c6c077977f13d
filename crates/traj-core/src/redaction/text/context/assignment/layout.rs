//! Values that only their position connects with a name: below it, in the next
//! cell, in the next segment of a path.

use super::super::label::Label;
use super::super::{ContextScan, Style, reading};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{Classes, is_code, is_word, looks_chosen, looks_random};

/// A name alone on its line, with its value alone on the next. Returns whether the
/// name is alone.
pub(super) fn alone(scan: &mut ContextScan<'_>, label: &Label, line_end: usize) -> bool {
    let line = scan.line_start(label.start, 48);
    let head = scan.slice(line, label.start);
    let is_alone = head.len() < 40
        && head
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'#' | b'*' | b'-'));
    if is_alone && matches!(label.class, NameClass::Strong(_)) {
        below(scan, label, line_end, 16);
    }
    is_alone
}

/// A value alone on the line below its name.
pub(super) fn below(scan: &mut ContextScan<'_>, label: &Label, line_end: usize, least: usize) {
    let mut place = line_end;
    for _ in 0..2 {
        let Some(next) = reading::next_line(scan, place) else {
            return;
        };
        let first = scan.skip_blanks(next);
        let stop = scan.line_end(first, 4096);
        if first == stop {
            place = stop;
            continue;
        }
        let bytes = scan.slice(first, stop).trim_ascii_end();
        let single = !bytes.iter().any(|byte| matches!(byte, b' ' | b'\t'));
        if single
            && !bytes.ends_with(b":")
            && !bytes.starts_with(b"```")
            && bytes.len() >= least
            && (looks_random(bytes) || looks_chosen(bytes))
            && !bytes.contains(&b'=')
            && !is_code(bytes)
        {
            scan.hide_if(first, first + bytes.len(), label.class, Style::Cell);
        }
        return;
    }
}

/// `/token/…/`: a long random path segment after the name of a secret.
pub(super) fn segment(scan: &mut ContextScan<'_>, label: &Label, start: usize) {
    let length = scan
        .slice(start, start + 512)
        .iter()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=')
        })
        .count();
    let bytes = scan.slice(start, start + length);
    let named = matches!(
        label.class,
        NameClass::Strong(Frame::Token | Frame::Secret | Frame::ApiKey | Frame::Password)
    );
    if named && length >= 24 && looks_random(bytes) && !bytes.iter().all(u8::is_ascii_hexdigit) {
        scan.hide_if(start, start + length, label.class, Style::Cell);
    }
}

/// `| name | value |`.
pub(super) fn cell(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let start = scan.skip_blanks(after);
    let line_end = scan.line_end(start, 4096);
    let end =
        memchr::memchr(b'|', scan.slice(start, line_end)).map_or(line_end, |found| start + found);
    let bytes = scan.slice(start, end).trim_ascii_end();
    let bytes_end = start + bytes.len();
    let (start, bytes_end) = match bytes {
        [b'`', inner @ .., b'`'] => (start + 1, start + 1 + inner.len()),
        _ => (start, bytes_end),
    };
    scan.hide_if(start, bytes_end, label.class, Style::Cell);
}

/// `{name, "…"}`, `{:name, "…"}`.
pub(super) fn opens_tuple(scan: &ContextScan<'_>, label: &Label) -> bool {
    matches!(scan.slice(label.start.saturating_sub(2), label.start), [.., b'{'] | [b'{', b':'])
}

/// Words that say what a secret is for: `Password di accesso: …`.
const NOTES: &[&str] = &[
    "for ", "of ", "to ", "on ", "at ", "di ", "de ", "del ", "della ", "da ", "do ", "dla ",
    "para ", "per ", "pour ", "für ", "zum ", "zur ", "voor ", "för ", "til ", "till ", "untuk ",
    "pentru ",
];

/// Skips a number or a remark between a name and its colon.
pub(super) fn skip_note(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    let rest = scan.slice(place, place + 64);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 && digits < 3 && rest.get(digits) == Some(&b':') {
        return Some(place + digits);
    }
    if rest.first() == Some(&b'(') {
        let close = rest.iter().take(28).position(|byte| *byte == b')')?;
        return matches!(rest.get(close + 1), Some(b':' | b'=')).then_some(place + close + 1);
    }
    if NOTES.iter().any(|word| rest.starts_with(word.as_bytes())) {
        let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let colon = rest[..line].iter().position(|byte| *byte == b':')?;
        return matches!(rest.get(colon + 1), Some(b' ')).then_some(place + colon);
    }
    None
}

/// Whether more words follow a plain word: the colon introduces a sentence.
pub(super) fn only_word_of_more(scan: &ContextScan<'_>, value: reading::ValueSpan) -> bool {
    is_word(scan.slice(value.start, value.end))
        && scan.byte(value.end) == b' '
        && scan.byte(value.end + 1).is_ascii_alphabetic()
}

/// Whether a value is a long number, or noise with spaces like the salts of a site.
pub(super) fn is_noise(value: &[u8]) -> bool {
    let classes = Classes::of(value);
    value.len() >= 14 && classes.digit == value.len()
        || value.len() >= 24
            && classes.other >= 6
            && classes.digit >= 2
            && classes.space * 8 < value.len()
}
