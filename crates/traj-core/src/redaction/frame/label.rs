//! Names and what stands behind them: assignments, settings, flags, elements,
//! cells, sentences.

use super::super::name::{self, NameClass};
use super::super::rule::Frame;
use super::super::value::{is_word, looks_chosen, looks_random};
use super::judge::{Style, is_app_password};
use super::reading::{self, Ends, Value};
use super::{Scan, auth, code, table};

/// Names longer than this are no names.
const MAX_NAME: usize = 64;
/// How many blanks may stand between a name and its separator.
const MAX_GAP: usize = 48;

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// A name in the text with its judgement.
struct Label {
    start: usize,
    end: usize,
    class: NameClass,
    frame: Frame,
    quoted: bool,
    flag: bool,
}

/// Reads a label around the word at `start..end`.
pub(super) fn read(scan: &mut Scan<'_>, start: usize, end: usize) {
    if start < scan.label_end {
        return;
    }
    let Some(label) = label_around(scan, start, end) else {
        return;
    };
    if named_pair(scan, &label) || table::read_header(scan, label.start, label.end) {
        return;
    }
    separated(scan, &label);
}

/// Widens a keyword to the name it is part of and judges the name.
fn label_around(scan: &mut Scan<'_>, start: usize, end: usize) -> Option<Label> {
    let mut first = start;
    while first > 0 && is_name_byte(scan.byte(first - 1)) && start - first < MAX_NAME {
        first -= 1;
    }
    // A keyword may end with the sign behind the name.
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
fn class_of(scan: &Scan<'_>, first: usize, last: usize) -> NameClass {
    let word = scan.slice(first, last);
    if word.iter().any(|byte| !byte.is_ascii_alphabetic()) || word.len() > 12 {
        return name::classify(word);
    }
    let mut words: Vec<&[u8]> = vec![word];
    let mut place = first;
    while words.len() < 4 && place > 1 && scan.byte(place - 1) == b' ' {
        let end = place - 1;
        let mut begin = end;
        while begin > 0 && scan.byte(begin - 1).is_ascii_alphanumeric() && end - begin < 20 {
            begin -= 1;
        }
        if begin == end {
            break;
        }
        words.insert(0, scan.slice(begin, end));
        place = begin;
    }
    if words.len() == 1 {
        return name::classify(word);
    }
    // A camel-case word keeps its own words.
    if word.iter().skip(1).any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase) {
        return name::classify(word);
    }
    name::classify_words(&words)
}

/// `name: TOKEN` with `value: …` beside or below it.
fn named_pair(scan: &mut Scan<'_>, label: &Label) -> bool {
    let before = scan.slice(label.start.saturating_sub(24), label.start);
    let trimmed = before.trim_ascii_end();
    let trimmed = trimmed
        .strip_suffix(b"\"")
        .or_else(|| trimmed.strip_suffix(b"'"))
        .unwrap_or(trimmed)
        .trim_ascii_end();
    let Some(trimmed) = trimmed.strip_suffix(b":").or_else(|| trimmed.strip_suffix(b"=")) else {
        return false;
    };
    let trimmed = trimmed.trim_ascii_end();
    let trimmed =
        trimmed.strip_suffix(b"\"").or_else(|| trimmed.strip_suffix(b"'")).unwrap_or(trimmed);
    let named = [&b"name"[..], b"key", b"Name", b"Key", b"label", b"field", b"header"]
        .iter()
        .any(|word| trimmed.ends_with(word));
    if !named {
        return false;
    }
    let mut place = label.end;
    let mut skipped = 0;
    while matches!(scan.byte(place), b'"' | b'\'' | b',' | b' ' | b'\t' | b'\n' | b'\r' | b'\\')
        && skipped < 64
    {
        place += 1;
        skipped += 1;
    }
    let rest = scan.slice(place, place + 16);
    const WORDS: &[&[u8]] = &[b"value", b"Value", b"val", b"input", b"content", b"default"];
    let Some(word) = WORDS.iter().find(|word| rest.starts_with(word)) else {
        return false;
    };
    place += word.len();
    while matches!(scan.byte(place), b'"' | b'\'' | b' ' | b'\\') {
        place += 1;
    }
    if !matches!(scan.byte(place), b':' | b'=') {
        return false;
    }
    let place = scan.skip_blanks(place + 1);
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        scan.hide_if(value.start, value.end, label.class, Style::Data);
    }
    true
}

/// Finds the separator behind a name and hands the value to its reader.
fn separated(scan: &mut Scan<'_>, label: &Label) {
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
        b'>' if scan.byte(label.start.wrapping_sub(1)) == b'<' => element(scan, label, after + 1),
        b',' if label.quoted && closes => quoted_only(scan, label, after + 1),
        b'|' => cell(scan, label, after + 1),
        _ if gap > 0 && !closes => spaced(scan, label, after, gap),
        b'\\' if matches!(scan.byte(after + 1), b'\n' | b'\r') => spaced(scan, label, after, 1),
        _ => {}
    }
}

/// A number or a remark between a name and its colon.
fn skip_note(scan: &Scan<'_>, place: usize) -> Option<usize> {
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

fn ends_of(scan: &Scan<'_>, label: &Label) -> Ends {
    if matches!(scan.byte(label.start.wrapping_sub(1)), b'?' | b'&' | b'#' | b';') {
        Ends::Query
    } else {
        Ends::Loose
    }
}

/// `name=value`, `name = value`.
fn assigned(scan: &mut Scan<'_>, label: &Label, after: usize, blank: bool) {
    let start = skip_continuation(scan, scan.skip_blanks(after));
    let spaced = blank || start > after;
    if special(scan, label, start) {
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

/// `name: value`, also with the value on the next line.
fn coloned(scan: &mut Scan<'_>, label: &Label, after: usize) {
    let start = skip_continuation(scan, scan.skip_blanks(after));
    if special(scan, label, start) {
        return;
    }
    if matches!(scan.byte(start), b'\n' | b'\r') {
        below(scan, label, start);
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

/// A plain word with more words behind it: a sentence after a colon.
fn only_word_of_more(scan: &Scan<'_>, value: Value) -> bool {
    is_word(scan.slice(value.start, value.end))
        && scan.byte(value.end) == b' '
        && scan.byte(value.end + 1).is_ascii_alphabetic()
}

/// A value alone on the line below its name.
fn below(scan: &mut Scan<'_>, label: &Label, line_end: usize) {
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
            && (looks_random(bytes) || bytes.len() >= 8 && looks_chosen(bytes))
            && !bytes.contains(&b'=')
        {
            scan.hide_if(first, first + bytes.len(), label.class, Style::Cell);
        }
        return;
    }
}

/// A backslash at the line's end carries on below.
fn skip_continuation(scan: &Scan<'_>, place: usize) -> usize {
    if matches!(scan.byte(place), b'\\' | b'`' | b'^')
        && let Some(next) = reading::next_line(scan, place + 1)
    {
        return scan.skip_blanks(next);
    }
    place
}

/// `name => value`: quoted, or without any doubt.
fn arrow(scan: &mut Scan<'_>, label: &Label, after: usize) {
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
fn quoted_only(scan: &mut Scan<'_>, label: &Label, after: usize) {
    let start = scan.skip_blanks(after);
    if special(scan, label, start) {
        return;
    }
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return;
    };
    let bytes = scan.slice(value.start, value.end);
    if value.quoted
        && (looks_random(bytes) || looks_chosen(bytes) || super::super::value::is_uuid(bytes))
    {
        scan.hide_if(value.start, value.end, label.class, Style::Quoted);
    }
}

/// `<name>value</name>`.
fn element(scan: &mut Scan<'_>, label: &Label, start: usize) {
    let rest = scan.slice(start, start + 4096);
    let mut end = 0;
    while let Some(byte) = rest.get(end) {
        if *byte == b'<' {
            match scan.marker_at(start + end) {
                Some(after) => {
                    end = after - start;
                    continue;
                }
                None => break,
            }
        }
        end += 1;
    }
    scan.hide_if(start, start + end, label.class, Style::Data);
}

/// `| name | value |`.
fn cell(scan: &mut Scan<'_>, label: &Label, after: usize) {
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

/// A name with nothing but blanks behind it: a flag, an `ENV` line, a netrc
/// entry, a column, or the middle of a sentence.
fn spaced(scan: &mut Scan<'_>, label: &Label, after: usize, gap: usize) {
    let start = skip_continuation(scan, after);
    if let Some(value) = said(scan, start) {
        if special(scan, label, value) {
            return;
        }
        if let Some(value) = reading::value(scan, value, Ends::Prose) {
            let style = if value.quoted { Style::Cell } else { Style::Prose };
            scan.hide_if(value.start, value.end, label.class, style);
        }
        return;
    }
    let line = scan.line_start(label.start, 512);
    let head = scan.slice(line, label.start);
    // In a quoted text the line begins behind the last `\n`.
    let head = memchr::memmem::rfind(head, b"\\n").map_or(head, |place| &head[place + 2..]);
    let setting = label.flag
        || ends_with_word(head, b"ENV")
        || ends_with_word(head, b"ARG")
        || ends_with_word(head, b"setenv")
        || (label.frame == Frame::Password
            && (contains_word(head, b"login")
                || contains_word(head, b"machine")
                || contains_word(head, b"default")))
        || (label.frame == Frame::Password
            && head.trim_ascii().is_empty()
            && netrc_above(scan, line));
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return;
    };
    let bytes = scan.slice(value.start, value.end);
    if setting {
        if (scan.byte(value.start) != b'-' || value.quoted) && !is_option_list(bytes) {
            scan.hide_if(value.start, value.end, label.class, Style::Machine);
        }
        return;
    }
    let line_end = scan.line_end(value.end, 256);
    let tail = scan.slice(value.end, line_end).trim_ascii();
    if !tail.is_empty() && !tail.starts_with(b"\\n") {
        return;
    }
    if gap >= 2 || scan.byte(after.wrapping_sub(1)) == b'\t' {
        if head.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'|')) {
            scan.hide_if(value.start, value.end, label.class, Style::Cell);
        }
    } else if matches!(label.class, NameClass::Strong(_))
        && value.end - value.start >= 16
        && looks_random(bytes)
    {
        scan.hide_if(value.start, value.end, label.class, Style::Prose);
    }
}

/// `id=npmrc,src=…`: options of a flag, judged by their own names.
fn is_option_list(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    (1..12).contains(&name)
        && bytes.get(name) == Some(&b'=')
        && bytes.get(name + 1).is_some_and(|byte| *byte != b'=')
}

/// `is`, `was`, `are`, `set to` between a name and its value.
fn said(scan: &Scan<'_>, place: usize) -> Option<usize> {
    let rest = scan.slice(place, place + 16);
    [&b"is now "[..], b"is: ", b"is ", b"was ", b"will be ", b"set to ", b"= ", b"-> ", b"equals "]
        .iter()
        .find(|word| rest.len() > word.len() && rest[..word.len()].eq_ignore_ascii_case(word))
        .map(|word| place + word.len())
}

fn ends_with_word(head: &[u8], word: &[u8]) -> bool {
    let head = head.trim_ascii_end();
    head.len() >= word.len()
        && head[head.len() - word.len()..].eq_ignore_ascii_case(word)
        && head
            .len()
            .checked_sub(word.len() + 1)
            .is_none_or(|place| !head[place].is_ascii_alphanumeric())
}

fn contains_word(head: &[u8], word: &[u8]) -> bool {
    head.split(u8::is_ascii_whitespace).any(|piece| piece.eq_ignore_ascii_case(word))
}

/// Whether one of the two lines above is a netrc entry.
fn netrc_above(scan: &Scan<'_>, line: usize) -> bool {
    let above = scan.slice(line.saturating_sub(160), line);
    contains_word(above, b"machine") || contains_word(above, b"login")
}

/// Values that are read in their own way: headers, cookies, seeds, cards.
/// Returns whether the label is dealt with.
fn special(scan: &mut Scan<'_>, label: &Label, start: usize) -> bool {
    match label.frame {
        Frame::Authorization => {
            auth::read_header(scan, start, label.quoted);
            true
        }
        Frame::Cookie => {
            auth::read_cookies(scan, start);
            true
        }
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
