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

/// Maximum length of a cell, in bytes.
const MAX_CELL: usize = 4096;

/// `| name | value |`.
pub(super) fn cell(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let start = scan.skip_blanks(after);
    let rest = scan.text.get(start..).unwrap_or_default();
    let rest = rest.get(..MAX_CELL).unwrap_or(rest);
    // Only this cell is read, not the rest of its line.
    let length = memchr::memchr3(b'|', b'\n', b'\r', rest).unwrap_or(rest.len());
    let bytes = scan.slice(start, start + length).trim_ascii_end();
    let bytes_end = start + bytes.len();
    let (start, bytes_end) = match bytes {
        [b'`', inner @ .., b'`'] => (start + 1, start + 1 + inner.len()),
        _ => (start, bytes_end),
    };
    scan.hide_if(start, bytes_end, label.class, Style::Cell);
}

/// Which separators end the value of a name.
pub(super) fn ends_of(scan: &ContextScan<'_>, label: &Label) -> reading::Ends {
    if matches!(scan.byte(label.start.wrapping_sub(1)), b'?' | b'&' | b'#' | b';') {
        reading::Ends::Query
    } else {
        reading::Ends::Loose
    }
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
pub(super) fn skip_note(scan: &ContextScan<'_>, label: &Label, place: usize) -> Option<usize> {
    // `Card number: …`
    const NUMBERS: &[&[u8]] = &[b"number", b"num", b"no.", b"no", b"nr.", b"nr", b"#"];
    let rest = scan.slice(place, place + 64);
    if label.frame == Frame::CardNumber {
        let is_word = |word: &&&[u8]| {
            rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
                && matches!(rest.get(word.len()), Some(b':' | b'='))
        };
        return NUMBERS.iter().find(is_word).map(|word| place + word.len());
    }
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

/// Whether a word is the password of a login by its neighbours: in a connection
/// string, or below the user in a file of settings.
pub(super) fn is_login_entry(
    scan: &ContextScan<'_>,
    label: &Label,
    value: reading::ValueSpan,
) -> bool {
    let bytes = scan.slice(value.start, value.end);
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    label.class == NameClass::Strong(Frame::Password)
        && !value.quoted
        && bytes.len() >= 4
        && bytes.iter().all(is_plain)
        && (is_in_connection_string(scan, label, value.end)
            || is_below_user(scan, label, value.end))
}

/// `Server=db1;User ID=ada;Password=…;Encrypt=yes`.
fn is_in_connection_string(scan: &ContextScan<'_>, label: &Label, end: usize) -> bool {
    const MAX_BEFORE: usize = 128;
    const MAX_BEHIND: usize = 32;
    const PARTS: &[&[u8]] =
        &[b"data source=", b"initial catalog=", b"server=", b"provider=", b"uid=", b"user id="];
    if !matches!(scan.byte(end), b';' | b'"' | b'\'' | 0 | b'\n' | b'\r') {
        return false;
    }
    let floor = label.start.saturating_sub(MAX_BEFORE);
    let before = scan.slice(floor, label.start);
    // The pair before this one ends with a semicolon, or a new literal begins.
    if !matches!(before.trim_ascii_end().last(), Some(b';' | b'"')) {
        return false;
    }
    let line = memchr::memrchr(b'\n', before).map_or(before, |place| &before[place..]);
    let is_part = |text: &[u8]| {
        PARTS.iter().any(|part| text.windows(part.len()).any(|w| w.eq_ignore_ascii_case(part)))
    };
    line.contains(&b';') && is_part(line) || is_part(scan.slice(end, end + MAX_BEHIND))
}

/// `user = ada` on one line, `password = …` on the next, and nothing else on it.
fn is_below_user(scan: &ContextScan<'_>, label: &Label, end: usize) -> bool {
    const MAX_LINE: usize = 96;
    const USERS: &[&[u8]] = &[b"user", b"username", b"login", b"usr", b"user_name"];
    if !matches!(scan.byte(end), 0 | b'\n' | b'\r') {
        return false;
    }
    let line = scan.line_start(label.start, MAX_LINE);
    if line == 0 || !scan.slice(line, label.start).trim_ascii().is_empty() {
        return false;
    }
    let above = scan.slice(scan.line_start(line - 1, MAX_LINE), line - 1);
    let Some(sign) = above.iter().position(|byte| *byte == b'=') else { return false };
    let (name, user) = (above[..sign].trim_ascii(), above[sign + 1..].trim_ascii());
    USERS.iter().any(|known| name.eq_ignore_ascii_case(known))
        && !user.is_empty()
        && user
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'@'))
}

/// Whether more words follow a plain word: the colon introduces a sentence.
pub(super) fn only_word_of_more(scan: &ContextScan<'_>, value: reading::ValueSpan) -> bool {
    is_word(scan.slice(value.start, value.end))
        && scan.byte(value.end) == b' '
        && scan.byte(value.end + 1).is_ascii_alphabetic()
}

/// Whether a value is a long number, or random text with spaces, like the salts
/// of a site.
pub(super) fn is_noise(value: &[u8]) -> bool {
    let classes = Classes::of(value);
    value.len() >= 14 && classes.digit == value.len()
        || value.len() >= 24
            && classes.other >= 6
            && classes.digit >= 2
            && classes.space * 8 < value.len()
}

/// Skips the stars of `**Password:** value`; `None` if they are a mask, which is the
/// value: in `Password:**** Port:5432`, the port is not.
pub(super) fn skip_emphasis(scan: &ContextScan<'_>, label: &Label, start: usize) -> Option<usize> {
    const SHORTEST_MASK: usize = 3;
    const LONGEST_MASK: usize = 64;
    let stars = scan.slice(start, start + LONGEST_MASK);
    let length = stars.iter().take_while(|byte| **byte == b'*').count();
    let is_whole = matches!(scan.byte(start + length), b' ' | b'\t' | b',' | b';');
    let opens = || {
        let head = scan.slice(scan.line_start(label.start, 64), label.start);
        memchr::memmem::find(head, &stars[..length]).is_some()
    };
    let is_mask = length >= SHORTEST_MASK && is_whole && !opens();
    (!is_mask).then_some(start + length)
}

/// Skips the mark of a default or an anchor: `password: *"…"`, `password: &main …`.
pub(super) fn skip_mark(scan: &ContextScan<'_>, start: usize) -> usize {
    match scan.byte(start) {
        b'*' if scan.byte(start + 1) == b'"' => start + 1,
        b'&' => {
            let name = scan.slice(start + 1, start + 33);
            let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let value = start + 1 + length;
            let after = scan.skip_blanks(value);
            // `password: &str = …` is a type.
            let is_anchor = length > 0 && after > value && scan.byte(after) != b'=';
            if is_anchor { after } else { start }
        }
        _ => start,
    }
}
