//! Values after a name: assignments, settings, flags, elements, table cells,
//! sentences.

mod layout;
mod operator;

use self::layout::{
    alone, below, cell, ends_of, is_login_entry, is_noise, only_word_of_more, opens_tuple, segment,
    skip_emphasis, skip_mark, skip_note,
};
use self::operator::Operator;
use super::judge::{Style, is_app_password};
use super::label::Label;
use super::reading::{self, Ends};
use super::{ContextScan, auth, call, code, one_time, pair, spaced};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_uuid, is_word, looks_chosen, looks_random};

/// Most spaces and tabs between a name and its separator.
const MAX_GAP: usize = 48;

/// Finds the separator after a name and passes the value to its reader.
/// Returns whether there is a separator.
pub(super) fn read(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    let mut place = label.end;
    let slashes = reading::count_backslashes(scan, place);
    let owns = scan.slice(place, place + 3) == b"'s ";
    let closes = !owns && matches!(scan.byte(place + slashes), b'"' | b'\'' | b'`');
    if owns {
        place += 2;
    }
    if closes {
        place += slashes + 1;
    }
    // Skip emphasis or brackets around the name: `**token**:`, `env["X"] =`.
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
        after = skip_note(scan, label, after).unwrap_or(after);
    }
    if by_operator(scan, label, after, gap) {
        return true;
    }
    match scan.byte(after) {
        b':' if scan.byte(after + 1) == b':' => {}
        b':' => coloned(scan, label, after + 1),
        b'>' if scan.byte(label.start.wrapping_sub(1)) == b'<' => {
            pair::hide_element(scan, label, after + 1);
        }
        b',' if label.quoted && closes || opens_tuple(scan, label) => {
            quoted_only(scan, label, after + 1);
        }
        b'{' if label.quoted && closes => pair::block::read_named(scan, label, after + 1),
        _ if gap > 0 && pair::read_attributes(scan, label, after) => {}
        b't' if closes && scan.slice(after, after + 4) == b"to \"" => {
            quoted_only(scan, label, after + 3);
        }
        b'(' | b'{' if gap == 0 => called(scan, label, after + 1),
        b'/' if gap == 0 => segment(scan, label, after + 1),
        b'|' if gap > 0 || scan.byte(after + 1) == b' ' => cell(scan, label, after + 1),
        b'\n' | b'\r' if !closes => return alone(scan, label, after),
        // PHP's serialisation: `s:8:"password";s:12:"…"`.
        b';' if closes && scan.slice(after + 1, after + 3) == b"s:" => {
            let length =
                scan.slice(after + 3, after + 9).iter().take_while(|byte| byte.is_ascii_digit());
            quoted_only(scan, label, after + 4 + length.count());
        }
        _ if gap > 0 && !closes => {
            if let Some(value) = operator::declared(scan, after) {
                quoted_only(scan, label, value);
                return true;
            }
            return spaced::read(scan, label, after, gap);
        }
        b'\\' if matches!(scan.byte(after + 1), b'\n' | b'\r') => {
            return spaced::read(scan, label, after, 1);
        }
        _ => return false,
    }
    true
}

/// Reads the value after an operator or a prompt; returns whether there is one.
fn by_operator(scan: &mut ContextScan<'_>, label: &Label, after: usize, gap: usize) -> bool {
    // In a sentence, a word follows.
    if gap > 0 && scan.byte(after).is_ascii_alphanumeric() {
        return false;
    }
    if let Some((start, end)) = operator::shell_default(scan, label) {
        scan.hide_if(start, end, label.class, Style::Machine);
        return true;
    }
    // `char key[32] = "…"`
    if gap == 0
        && let Some(behind) = operator::skip_dimension(scan, after)
        && let Some((Operator::Assigns, value)) = operator::operator(scan, scan.skip_blanks(behind))
    {
        if operator::byte_array(scan, value).is_none() {
            quoted_only(scan, label, value);
        }
        return true;
    }
    if let Some(value) =
        operator::after_accessors(scan, after).or_else(|| operator::expected(scan, after))
    {
        quoted_only(scan, label, value);
        return true;
    }
    if operator::is_pasted(scan, label, after) {
        return true;
    }
    if let Some((operator, value)) = operator::operator(scan, after) {
        match operator {
            Operator::Assigns => assigned(scan, label, value, gap > 0 || value > after + 1),
            Operator::Quotes => quoted_only(scan, label, value),
            Operator::Points => arrow(scan, label, value),
            Operator::Nothing => {}
        }
        return true;
    }
    if let Some(value) = operator::prompt_end(scan, after) {
        let line_end = scan.line_end(value, 512);
        let bytes = scan.slice(value, line_end).trim_ascii_end();
        if matches!(label.class, NameClass::Strong(_)) && !bytes.contains(&b' ') {
            scan.hide_if(value, value + bytes.len(), label.class, Style::Cell);
        }
        return true;
    }
    false
}

/// `set_password("…")`: an argument that looks like a secret.
fn called(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    // `t.pass("…")` of a test.
    if scan.slice(label.start, label.end).ends_with(b".pass")
        || scan.slice(label.start.saturating_sub(1), label.end) == b".pass"
    {
        return;
    }
    if let Some(value) = reading::quoted_value(scan, after) {
        let bytes = scan.slice(value.start, value.end);
        let chosen = label.frame == Frame::Password && bytes.len() >= 8 && looks_chosen(bytes);
        if looks_random(bytes) || chosen {
            scan.hide_if(value.start, value.end, label.class, Style::Quoted);
        }
    }
}

/// `name=value`, `name = value`.
fn assigned(scan: &mut ContextScan<'_>, label: &Label, after: usize, blank: bool) {
    let start = skip_continuation(scan, scan.skip_blanks(after));
    let spaced = blank || start > after;
    if special(scan, label, start) || tuple(scan, label, start) || odd(scan, label, start) {
        return;
    }
    let Some(value) = reading::value(scan, start, ends_of(scan, label)) else {
        return;
    };
    // A debugger prints the address before the string.
    let value = match scan.slice(value.start, value.end) {
        [b'0', b'x', ..] if matches!(scan.slice(value.end, value.end + 2), b" \"" | b" '") => {
            reading::value(scan, value.end + 1, Ends::Loose).unwrap_or(value)
        }
        _ => value,
    };
    let style = match (value.quoted, spaced) {
        (true, _) => Style::Quoted,
        (false, false) => Style::Machine,
        (false, true) => Style::Open,
    };
    let bytes = scan.slice(value.start, value.end);
    if is_login_entry(scan, label, value) {
        scan.hide_if(value.start, value.end, label.class, Style::Data);
        return;
    }
    // `login(user=user, password=entered)`: a variable passed as an argument.
    // `ATTR_PASSWORD = 277,`: a number of an enumeration.
    let is_number = spaced && bytes.len() <= 4 && bytes.iter().all(u8::is_ascii_digit);
    if !value.quoted
        && !label.flag
        && (is_word(bytes) || is_number)
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

/// Values in other notations: word diffs, byte arrays, defaults of expressions.
/// Returns whether there was one.
fn odd(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    let diff = operator::word_diff(scan, start);
    for (start, end) in diff.into_iter().flatten() {
        scan.hide_if(start, end, label.class, Style::Machine);
    }
    if diff.iter().any(Option::is_some) {
        return true;
    }
    if matches!(scan.byte(start), b'"' | b'\'' | b'`' | b'\\') {
        return false;
    }
    if matches!(label.class, NameClass::Strong(_))
        && let Some((start, end)) = operator::byte_array(scan, start)
    {
        scan.hide(start, end, label.frame);
        return true;
    }
    operator::default_in(scan, label, start)
}

/// `auth=('user', 'password')`.
fn tuple(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    if scan.byte(start) != b'(' || !scan.slice(label.start, label.end).ends_with(b"auth") {
        return false;
    }
    let found = call::arguments(scan, start + 1).into_iter().find(|(number, _)| *number == 1);
    if let Some((_, value)) = found {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Quoted);
    }
    true
}

/// `name: value`; the value may be on the next line.
fn coloned(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let mut after = after;
    // `${PASSWORD:-value}`
    if scan.byte(label.start.wrapping_sub(1)) == b'{'
        && matches!(scan.byte(after), b'-' | b'=' | b'+')
    {
        after += 1;
    }
    let Some(behind) = skip_emphasis(scan, label, after) else { return };
    after = behind;
    // `<b>Password:</b> value`
    if scan.slice(after, after + 2) == b"</"
        && let Some(close) = memchr::memchr(b'>', scan.slice(after, after + 16))
    {
        after += close + 1;
    }
    let start = skip_mark(scan, skip_continuation(scan, scan.skip_blanks(after)));
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
    if typed(scan, label, start) || odd(scan, label, start) {
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
    let is_type = line[..sign]
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"&'<>_:[]| ?.,".contains(byte));
    // A number of a declared type is a constant of the program.
    let value = scan.slice(start + sign + 3, start + sign + 5);
    let value = value.strip_prefix(b"-").unwrap_or(value);
    if is_type && sign > 0 && !value.first().is_some_and(u8::is_ascii_digit) {
        assigned(scan, label, start + sign + 3, true);
    }
    is_type
}

/// Skips a line continuation (`\`, `` ` `` or `^` at the end of the line).
pub(super) fn skip_continuation(scan: &ContextScan<'_>, place: usize) -> usize {
    if matches!(scan.byte(place), b'\\' | b'`' | b'^')
        && let Some(next) = reading::next_line(scan, place + 1)
    {
        return scan.skip_blanks(next);
    }
    place
}

/// `name => value`: the value must be quoted or look random.
fn arrow(scan: &mut ContextScan<'_>, label: &Label, after: usize) {
    let start = scan.skip_blanks(after);
    if let Some(value) = operator::dumped(scan, start) {
        return quoted_only(scan, label, value);
    }
    // `[password] => value`: a list as PHP prints it.
    let is_printed = scan.byte(label.start.wrapping_sub(1)) == b'['
        && scan.byte(label.end) == b']'
        && label.frame == Frame::Password;
    match reading::value(scan, start, Ends::Loose) {
        Some(value) if !value.quoted && is_printed => {
            scan.hide_if(value.start, value.end, label.class, Style::Cell);
        }
        Some(value) if !value.quoted => {
            // Do not search for names inside a long value.
            if value.end - value.start > 512 {
                scan.label_end = scan.label_end.max(value.end);
            }
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
    let Some(value) = reading::quoted_value(scan, start) else {
        operator::default_in(scan, label, start);
        return;
    };
    let bytes = scan.slice(value.start, value.end);
    if looks_random(bytes) || looks_chosen(bytes) || is_uuid(bytes) || is_noise(bytes) {
        scan.hide_if(value.start, value.end, label.class, Style::Quoted);
    }
}

/// Values that have their own reader: headers, cookies, logins, seeds, cards,
/// app passwords. Returns whether such a reader handled the label.
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
        Frame::OneTimeCode => one_time::after(scan, label, start),
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
