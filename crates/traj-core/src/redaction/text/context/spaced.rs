//! A name with nothing but spaces after it: a flag, an `ENV` line, a netrc
//! entry, a column, or the middle of a sentence.

use super::assignment::{skip_continuation, special};
use super::label::Label;
use super::reading::{self, Ends, ValueSpan};
use super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_placeholder, looks_chosen, looks_random};

/// Words that make the next word a name and the one after it its value.
const SETTERS: &[&[u8]] = &[
    b"ENV",
    b"ARG",
    b"setenv",
    b"-gx",
    b"-Ux",
    b"-x",
    b"proxy_set_header",
    b"fastcgi_param",
    b"#define",
];

/// Reads the value after the spaces; returns whether there is one.
pub(super) fn read(scan: &mut ContextScan<'_>, label: &Label, after: usize, gap: usize) -> bool {
    let start = skip_continuation(scan, after);
    if let Some(value) = said(scan, start) {
        if !special(scan, label, value)
            && let Some(value) = reading::value(scan, value, Ends::Prose)
        {
            let style = if value.quoted { Style::Cell } else { Style::Prose };
            scan.hide_if(value.start, value.end, label.class, style);
        }
        return true;
    }
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return false;
    };
    let line = scan.line_start(label.start, 512);
    let head = scan.slice(line, label.start);
    // In a quoted text the line begins after the last `\n`.
    let head = memchr::memmem::rfind(head, b"\\n").map_or(head, |place| &head[place + 2..]);
    let bytes = scan.slice(value.start, value.end);
    if is_setting(scan, label, line, head) {
        if (scan.byte(value.start) != b'-' || value.quoted) && !is_option_list(bytes) {
            // Only quotes can hold a value of several words together.
            let several = value.quoted && bytes.contains(&b' ');
            let password = NameClass::Strong(Frame::Password);
            if several && label.flag && label.class == password && !is_placeholder(bytes) {
                scan.hide(value.start, value.end, label.frame);
            } else {
                let style = if several { Style::Quoted } else { Style::Machine };
                scan.hide_if(value.start, value.end, label.class, style);
            }
        }
        return true;
    }
    let strong = matches!(label.class, NameClass::Strong(_));
    // `PASSWORD 'secret'`, `:password "secret"`
    if value.quoted && strong && bytes.len() >= 6 && (looks_chosen(bytes) || looks_random(bytes)) {
        scan.hide_if(value.start, value.end, label.class, Style::Quoted);
        return true;
    }
    let tail = scan.slice(value.end, scan.line_end(value.end, 256)).trim_ascii();
    if !tail.is_empty() && !tail.starts_with(b"\\n") {
        return false;
    }
    last_on_line(scan, label, value, (gap, after), head);
    true
}

/// A value that ends its line, after the name alone.
fn last_on_line(
    scan: &mut ContextScan<'_>,
    label: &Label,
    value: ValueSpan,
    (gap, after): (usize, usize),
    head: &[u8],
) {
    let bytes = scan.slice(value.start, value.end);
    let strong = matches!(label.class, NameClass::Strong(_));
    let leads = head.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'|'));
    if gap >= 2 || scan.byte(after.wrapping_sub(1)) == b'\t' {
        if leads {
            scan.hide_if(value.start, value.end, label.class, Style::Cell);
        }
        return;
    }
    let name = scan.slice(label.start, label.end);
    // A line of a protocol or of settings: `PASS secret`, `requirepass secret`.
    let protocol = (leads || head.trim_ascii_end().ends_with(b">"))
        && bytes.len() >= 6
        && looks_chosen(bytes)
        && (matches!(name, b"PASS" | b"AUTH")
            || (strong && label.frame == Frame::Password && bytes.iter().any(u8::is_ascii_digit)));
    if protocol {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Cell);
    } else if strong && bytes.len() >= 16 && looks_random(bytes) {
        scan.hide_if(value.start, value.end, label.class, Style::Prose);
    }
}

/// Whether the line sets the name to what follows.
fn is_setting(scan: &ContextScan<'_>, label: &Label, line: usize, head: &[u8]) -> bool {
    label.flag
        || SETTERS.iter().any(|word| ends_with_word(head, word))
        || (label.frame == Frame::Password
            && (is_netrc(head) || head.trim_ascii().is_empty() && netrc_above(scan, line)))
}

/// `machine h login user` or `username user` before the name.
fn is_netrc(head: &[u8]) -> bool {
    let mut words = head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).rev();
    let (_, Some(before)) = (words.next(), words.next()) else {
        return false;
    };
    let named = before.eq_ignore_ascii_case(b"login") || before.eq_ignore_ascii_case(b"username");
    named
        && (words.next().is_none()
            || contains_word(head, b"machine")
            || contains_word(head, b"default"))
}

/// `id=npmrc,src=…`: options of a flag, judged by their own names.
fn is_option_list(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    (1..12).contains(&name)
        && bytes.get(name) == Some(&b'=')
        && bytes.get(name + 1).is_some_and(|byte| *byte != b'=')
}

/// `is`, `was`, `set to` between a name and its value.
fn said(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    const WORDS: &[&[u8]] =
        &[b"is now ", b"is: ", b"is ", b"was ", b"will be ", b"set to ", b"= ", b"-> ", b"equals "];
    let rest = scan.slice(place, place + 16);
    WORDS
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

/// Whether one of the lines above is a netrc entry.
fn netrc_above(scan: &ContextScan<'_>, line: usize) -> bool {
    let above = scan.slice(line.saturating_sub(160), line);
    contains_word(above, b"machine") || contains_word(above, b"login")
}
