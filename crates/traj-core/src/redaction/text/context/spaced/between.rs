//! Words between a name and its value: `the password for the db is …`,
//! `enable secret 0 …`, `password is generated for root: …`.

use super::super::label::Label;
use super::super::reading::{self, Ends};
use super::super::{ContextScan, Style, one_time};
use super::{hide_said, is_quoted_password, is_strong_password};
use crate::redaction::field_name::NameClass;
use crate::redaction::text::value::{is_placeholder, looks_chosen, looks_random};

/// Most bytes between a name and its value.
const MAX_BETWEEN: usize = 80;

/// Words that connect a name with what it belongs to.
const LINKS: &[&[u8]] = &[
    b"for ",
    b"of ",
    b"on ",
    b"to ",
    b"in ",
    b"at ",
    b"from ",
    b"is generated for ",
    b"generated for ",
    b"was generated for ",
    b"used ",
    b"we ",
    b"you ",
    b"i ",
    b"has been ",
    b"is set to ",
    b"was set to ",
    b"got ",
    b"changed to ",
    b"was changed to ",
    b"has been changed to ",
    b"del ",
    b"della ",
    b"dell'",
    b"di ",
    b"de la ",
    b"de l'",
    b"du ",
    b"des ",
    b"do ",
    b"da ",
    b"van ",
    b"voor ",
    b"von ",
    b"f\xc3\xbcr ",
    b"der ",
];

/// Words directly before a value.
const DIRECT: &[&[u8]] = &[
    b"to ",
    b"to: ",
    b"as ",
    b"and i typed ",
    b"and i entered ",
    b"and typed ",
    b"and entered ",
    b"i typed ",
    b"i entered ",
    b"i used ",
    b"'s value is ",
    b"value is ",
    b"value: ",
    b"reset to ",
    b"reset, new one: ",
    b"we use is ",
    b"changed, now ",
];

/// Words before the value itself; each begins with a space or a colon.
const VERBS: &[&[u8]] = &[
    b" is ",
    b" was ",
    b": ",
    b" = ",
    b" to ",
    b" -> ",
    b" be ",
    b" \xc3\xa8 ",
    b" est ",
    b" es ",
    b" \xc3\xa9 ",
    b" ist ",
    b" lautet ",
];

/// Reads the value after a few words; returns whether there is one.
pub(in super::super) fn read(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    one_time::after_name(scan, label, start)
        || level(scan, label, start)
        || direct(scan, label, start)
        || phrase(scan, label, start)
}

/// `password to …`, `passphrase and I typed …`: only a value that a person or a
/// machine made up.
fn direct(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    if !matches!(label.class, NameClass::Strong(_)) {
        return false;
    }
    if !matches!(scan.byte(start), b'a'..=b'c' | b'i' | b'I' | b'r'..=b'w' | b'A' | b'\'') {
        return false;
    }
    let rest = scan.slice(start, start + 24);
    let Some(words) = DIRECT
        .iter()
        .find(|words| rest.len() > words.len() && rest[..words.len()].eq_ignore_ascii_case(words))
    else {
        return false;
    };
    let Some(value) = reading::value(scan, start + words.len(), Ends::Prose) else {
        return false;
    };
    let bytes = scan.slice(value.start, value.end);
    let is_secret = is_strong_password(bytes) || looks_random(bytes);
    if is_secret {
        scan.hide_if(value.start, value.end, label.class, Style::Prose);
    }
    is_secret
}

/// `secret 0 value`, `password 7 value`: the digit states how a device stores
/// it.
fn level(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    let is_level = scan.byte(start).is_ascii_digit() && scan.byte(start + 1) == b' ';
    if !is_level || label.class.frame().is_none() {
        return false;
    }
    let Some(value) = reading::value(scan, scan.skip_blanks(start + 2), Ends::Loose) else {
        return false;
    };
    scan.hide_if(value.start, value.end, NameClass::Strong(label.frame), Style::Cell);
    true
}

/// `for the db is value`.
fn phrase(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    if !matches!(label.class, NameClass::Strong(_)) {
        return false;
    }
    let rest = scan.slice(start, scan.line_end(start, MAX_BETWEEN));
    if !LINKS
        .iter()
        .any(|link| rest.len() > link.len() && rest[..link.len()].eq_ignore_ascii_case(link))
    {
        return false;
    }
    // The first verb counts, unless a sentence ends before it.
    let verb = memchr::memchr2_iter(b' ', b':', rest).find_map(|place| {
        let behind = rest.get(place..)?;
        let verb = VERBS.iter().find(|verb| behind.starts_with(verb))?;
        Some((place, verb.len()))
    });
    let Some((place, length)) = verb else { return false };
    if rest[..place].windows(2).any(|pair| matches!(pair, b". " | b"; ")) {
        return false;
    }
    let Some(value) = reading::value(scan, scan.skip_blanks(start + place + length), Ends::Prose)
    else {
        return false;
    };
    let bytes = scan.slice(value.start, value.end);
    let is_secret =
        bytes.len() >= 6 && !is_placeholder(bytes) && (looks_random(bytes) || looks_chosen(bytes));
    let is_secret = is_secret || is_quoted_password(scan, label, value);
    if is_secret {
        hide_said(scan, label, value);
    }
    is_secret
}
