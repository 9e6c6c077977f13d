//! Values after a name: assignments, settings, flags, elements, cells,
//! sentences.

use super::judge::{Style, is_app_password};
use super::label::Label;
use super::reading::{self, Ends, ValueSpan};
use super::{ContextScan, auth, code, pair, spaced};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_code, is_uuid, is_word, looks_chosen, looks_random};

/// How many spaces may be between a name and its separator.
const MAX_GAP: usize = 48;

/// Finds the separator after a name and hands the value to its reader;
/// returns whether there is one.
pub(super) fn read(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    let mut place = label.end;
    let slashes = reading::count_backslashes(scan, place);
    let closes = matches!(scan.byte(place + slashes), b'"' | b'\'' | b'`');
    if closes {
        place += slashes + 1;
    }
    // Emphasis, an index or a call around the name: `**token**:`, `env["X"] =`.
    while matches!(scan.byte(place), b'*' | b']' | b')') && place - label.end < 6 {
        place += 1;
    }
    let gap = scan
        .slice(place, place + MAX_GAP)
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let mut after = place + gap;
    // `Unseal Key 1:` and `private key (WIF):`
    if gap == 1 {
        after = skip_note(scan, after).unwrap_or(after);
    }
    match scan.byte(after) {
        b'=' if matches!(scan.byte(after + 1), b'=' | b'~') => {}
        b'=' if scan.byte(after + 1) == b'>' => arrow(scan, label, after + 2),
        b'=' => assigned(scan, label, after + 1, gap > 0),
        b':' if scan.byte(after + 1) == b':' => {}
        b':' if scan.byte(after + 1) == b'=' => assigned(scan, label, after + 2, true),
        b':' => coloned(scan, label, after + 1),
        b'>' if scan.byte(label.start.wrapping_sub(1)) == b'<' => {
            pair::hide_element(scan, label, after + 1);
        }
        b',' if label.quoted && closes || scan.byte(label.start.wrapping_sub(1)) == b'{' => {
            quoted_only(scan, label, after + 1);
        }
        b'(' if gap == 0 => called(scan, label, after + 1),
        b'/' if gap == 0 => segment(scan, label, after + 1),
        b'|' if gap > 0 || scan.byte(after + 1) == b' ' => cell(scan, label, after + 1),
        b'\n' | b'\r' if !closes => alone(scan, label, after),
        _ if gap > 0 && !closes => return spaced::read(scan, label, after, gap),
        b'\\' if matches!(scan.byte(after + 1), b'\n' | b'\r') => {
            return spaced::read(scan, label, after, 1);
        }
        _ => return false,
    }
    true
}

/// `set_password("…")`: an argument, if it has the look of a secret.
fn called(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    if let Some(value) = reading::value(scan, after, Ends::Loose)
        && value.quoted
    {
        let bytes = scan.slice(value.start, value.end);
        let chosen = label.frame == Frame::Password && bytes.len() >= 8 && looks_chosen(bytes);
        if looks_random(bytes) || chosen {
            scan.hide_if(value.start, value.end, label.class, Style::Quoted);
        }
    }
}

/// `/token/…/`: a long random step of a path after the name of a secret.
fn segment(scan: &mut ContextScan<'_>, label: &Label, start: usize) {
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

/// A name alone on its line, its value alone on the next.
fn alone(scan: &mut ContextScan<'_>, label: &Label, line_end: usize) {
    let line = scan.line_start(label.start, 48);
    let head = scan.slice(line, label.start);
    if matches!(label.class, NameClass::Strong(_))
        && head.len() < 40
        && head
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'#' | b'*' | b'-'))
    {
        below(scan, label, line_end, 16);
    }
}

/// A number or a remark between a name and its colon.
fn skip_note(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    let rest = scan.slice(place, place + 64);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 && digits < 3 && rest.get(digits) == Some(&b':') {
        return Some(place + digits);
    }
    if rest.first() == Some(&b'(') {
        let close = rest.iter().take(28).position(|byte| *byte == b')')?;
        return matches!(rest.get(close + 1), Some(b':' | b'=')).then_some(place + close + 1);
    }
    if rest.starts_with(b"for ") || rest.starts_with(b"of ") {
        let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let colon = rest[..line].iter().position(|byte| *byte == b':')?;
        return matches!(rest.get(colon + 1), Some(b' ')).then_some(place + colon);
    }
    None
}

fn ends_of(scan: &ContextScan<'_>, label: &Label) -> Ends {
    if matches!(scan.byte(label.start.wrapping_sub(1)), b'?' | b'&' | b'#' | b';') {
        Ends::Query
    } else {
        Ends::Loose
    }
}

/// `name=value`, `name = value`.
fn assigned(scan: &mut ContextScan<'_>, label: &Label, after: usize, blank: bool) {
    let start = skip_continuation(scan, scan.skip_blanks(after));
    let spaced = blank || start > after;
    if special(scan, label, start) || tuple(scan, label, start) {
        return;
    }
    let Some(value) = reading::value(scan, start, ends_of(scan, label)) else {
        return;
    };
    let style = match (value.quoted, spaced) {
        (true, _) => Style::Quoted,
        (false, false) => Style::Machine,
        (false, true) => Style::Open,
    };
    let bytes = scan.slice(value.start, value.end);
    // `login(user=user, password=entered)`: a name handed on.
    if !value.quoted
        && !label.flag
        && is_word(bytes)
        && matches!(scan.byte(value.end), b',' | b')' | b';')
    {
        return;
    }
    if style == Style::Machine
        && matches!(scan.byte(label.start.wrapping_sub(1)), b'(' | b' ')
        && is_word(bytes)
        && scan.byte(value.end) == b'.'
    {
        return;
    }
    scan.hide_if(value.start, value.end, label.class, style);
}

/// `auth=('user', 'password')`.
fn tuple(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    if scan.byte(start) != b'(' || !scan.slice(label.start, label.end).ends_with(b"auth") {
        return false;
    }
    let Some(user) = reading::value(scan, scan.skip_blanks(start + 1), Ends::Loose) else {
        return false;
    };
    let mut place = user.end + 1;
    while matches!(scan.byte(place), b',' | b' ') {
        place += 1;
    }
    if let Some(value) = reading::value(scan, place, Ends::Loose)
        && value.quoted
    {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Quoted);
    }
    true
}

/// `name: value`, also with the value on the next line.
fn coloned(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let mut after = after;
    // `**Password:** value`
    while scan.byte(after) == b'*' {
        after += 1;
    }
    let start = skip_continuation(scan, scan.skip_blanks(after));
    if special(scan, label, start) {
        return;
    }
    if matches!(scan.byte(start), b'\n' | b'\r') {
        below(scan, label, start, 8);
        return;
    }
    let line_end = scan.line_end(start, 8);
    if matches!(scan.slice(start, line_end).trim_ascii_end(), b"|" | b">" | b"|-" | b">-" | b"|+") {
        let line = scan.line_start(label.start, 256);
        let indent = scan.skip_blanks(line) - line;
        if let Some(value) = reading::block(scan, line_end, indent)
            && matches!(label.class, NameClass::Strong(_))
        {
            scan.hide_if(value.start, value.end, label.class, Style::Quoted);
        }
        return;
    }
    if typed(scan, label, start) {
        return;
    }
    let ends = if label.quoted || scan.byte(label.start.wrapping_sub(1)) == b'_' {
        Ends::Loose
    } else {
        ends_of(scan, label)
    };
    let Some(value) = reading::value(scan, start, ends) else {
        return;
    };
    let style = if value.quoted { Style::Quoted } else { Style::Open };
    if style == Style::Open && only_word_of_more(scan, value) {
        return;
    }
    scan.hide_if(value.start, value.end, label.class, style);
}

/// `name: Type = "value"`.
fn typed(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    let line = scan.slice(start, scan.line_end(start, 64));
    let Some(sign) = memchr::memmem::find(line, b" = ") else {
        return false;
    };
    let is_type = line[..sign].iter().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'&' | b'\''
                    | b'<'
                    | b'>'
                    | b'_'
                    | b':'
                    | b'['
                    | b']'
                    | b'|'
                    | b' '
                    | b'?'
                    | b'.'
                    | b','
            )
    });
    if is_type && sign > 0 {
        assigned(scan, label, start + sign + 3, true);
    }
    is_type
}

/// A plain word with more words after it: a sentence after a colon.
fn only_word_of_more(scan: &ContextScan<'_>, value: ValueSpan) -> bool {
    is_word(scan.slice(value.start, value.end))
        && scan.byte(value.end) == b' '
        && scan.byte(value.end + 1).is_ascii_alphabetic()
}

/// A value alone on the line below its name.
fn below(scan: &mut ContextScan<'_>, label: &Label, line_end: usize, least: usize) {
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

/// A backslash at the line's end carries on below.
pub(super) fn skip_continuation(scan: &ContextScan<'_>, place: usize) -> usize {
    if matches!(scan.byte(place), b'\\' | b'`' | b'^')
        && let Some(next) = reading::next_line(scan, place + 1)
    {
        return scan.skip_blanks(next);
    }
    place
}

/// `name => value`: quoted, or without any doubt.
fn arrow(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let start = scan.skip_blanks(after);
    match reading::value(scan, start, Ends::Loose) {
        Some(value) if !value.quoted => {
            if looks_random(scan.slice(value.start, value.end)) {
                scan.hide_if(value.start, value.end, label.class, Style::Open);
            }
        }
        _ => quoted_only(scan, label, after),
    }
}

/// Only a quoted value counts: `"name", "value"` and `'name' => 'value'`.
fn quoted_only(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let start = scan.skip_blanks(after);
    if special(scan, label, start) {
        return;
    }
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return;
    };
    let bytes = scan.slice(value.start, value.end);
    if value.quoted && (looks_random(bytes) || looks_chosen(bytes) || is_uuid(bytes)) {
        scan.hide_if(value.start, value.end, label.class, Style::Quoted);
    }
}

/// `| name | value |`.
fn cell(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
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

/// Values that are read in their own way: headers, cookies, seeds, cards.
/// Returns whether the label is dealt with.
pub(super) fn special(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    match label.frame {
        Frame::Authorization => {
            auth::read_header(scan, start, label.quoted);
            true
        }
        Frame::Cookie => {
            auth::read_cookies(scan, start);
            true
        }
        Frame::Credential => code::user_and_password(scan, start),
        Frame::SeedPhrase => {
            code::read_seed(scan, start);
            true
        }
        Frame::CardNumber => {
            code::read_card(scan, start, label.class);
            true
        }
        Frame::Password
            if is_app_password(scan.slice(start, start + 19))
                && !scan.byte(start + 19).is_ascii_alphanumeric() =>
        {
            scan.hide(start, start + 19, Frame::Password);
            true
        }
        _ => false,
    }
}
