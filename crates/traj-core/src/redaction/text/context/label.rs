//! Names of values: finds the name around a keyword and classifies it.

pub(super) mod foreign;

use super::{ContextScan, Style, assignment, code, one_time, output, pair, table};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::looks_chosen;

/// Longest name.
const MAX_NAME: usize = 64;

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// A name in the string, with its class.
pub(super) struct Label {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) class: NameClass,
    pub(super) frame: Frame,
    /// Whether a quote comes before it.
    pub(super) quoted: bool,
    /// Whether dashes come before it.
    pub(super) flag: bool,
}

/// Reads the label around the word at `start..end`.
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
    let before = scan.spans.len();
    if !said_before(scan, &label) {
        assignment::read(scan, &label);
    }
    if scan.spans.len() == before {
        output::console::read(scan, &label);
    }
}

/// `use … as the password`, `type "…" into the password field`, `"…" == password`.
/// Returns whether there is a value.
fn said_before(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    const LINKS: &[&[u8]] = &[
        b" as the ",
        b" as ",
        b" as my ",
        b" as your ",
        b" as a ",
        b" as its ",
        b" into the ",
        b" into ",
        b" in the ",
        b" for the ",
        b" at the ",
    ];
    const SIGNS: &[&[u8]] =
        &[b" == ", b" === ", b" != ", b" !== ", b"==", b"!=", b" <> ", b" eq ", b" = "];
    if !matches!(label.class, NameClass::Strong(_)) {
        return false;
    }
    if one_time::before(scan, label) {
        return true;
    }
    // The last letters of the signs and links; most names follow something else.
    let ends = scan.slice(label.start.saturating_sub(2), label.start);
    let is_password = matches!(label.frame, Frame::Password | Frame::Passphrase);
    let may_link = match ends {
        [_, b'='] | [b'=' | b'>' | b'q' | b's' | b'y' | b'r' | b'a' | b'o' | b'e', b' '] => true,
        [b'a'..=b'z', b' '] => is_password,
        _ => false,
    };
    if !may_link {
        return false;
    }
    let floor = label.start.saturating_sub(128);
    let before = scan.slice(floor, label.start);
    let compared = SIGNS.iter().filter(|sign| before.ends_with(sign)).max_by_key(|sign| sign.len());
    // `as the admin password`: a word may be between the link and the name.
    let shorter = before.strip_suffix(b" ").and_then(|head| {
        let word = head.iter().rev().take(16).take_while(|byte| byte.is_ascii_lowercase()).count();
        (word > 2).then(|| &head[..head.len() - word])
    });
    let linked = |head: &[u8]| LINKS.iter().find(|link| is_password && head.ends_with(link));
    let (head, link) = match (compared.or_else(|| linked(before)), shorter) {
        (Some(link), _) => (before, link),
        (None, Some(shorter)) => match linked(shorter).filter(|link| link.ends_with(b" the ")) {
            Some(link) => (shorter, link),
            None => return false,
        },
        (None, None) => return false,
    };
    let end = floor + head.len() - link.len();
    let (start, end) = match scan.byte(end.wrapping_sub(1)) {
        quote @ (b'"' | b'\'' | b'`') => {
            let open = memchr::memrchr(quote, scan.slice(floor, end - 1));
            (open.map_or(end, |place| floor + place + 1), end - 1)
        }
        _ if compared.is_some() => return false,
        _ => {
            let space = memchr::memrchr3(b' ', b'\n', b'"', scan.slice(floor, end));
            (space.map_or(floor, |place| floor + place + 1), end)
        }
    };
    let is_chosen = end > start + 5 && looks_chosen(scan.slice(start, end));
    if is_chosen {
        scan.hide_if(start, end, label.class, Style::Prose);
    }
    is_chosen
}

/// Extends a keyword to the name that contains it, and classifies the name.
fn label_around(scan: &mut ContextScan<'_>, start: usize, end: usize) -> Option<Label> {
    let mut first = start;
    while first > 0 && is_name_byte(scan.byte(first - 1)) && start - first < MAX_NAME {
        first -= 1;
    }
    // A keyword may include the separator after the name.
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
    // `\nTOKEN=` in an escaped string: the letter belongs to the escape.
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

fn is_article(word: &[u8]) -> bool {
    [&b"the"[..], b"my", b"your", b"our", b"his", b"her", b"their", b"use", b"using", b"with"]
        .iter()
        .any(|article| word.eq_ignore_ascii_case(article))
}

/// Classifies a name; a single word is classified together with the words before
/// it (`partition key`, `Secret access key`).
fn class_of(scan: &ContextScan<'_>, first: usize, last: usize) -> NameClass {
    let word = scan.slice(first, last);
    if word.iter().any(|byte| !byte.is_ascii_alphabetic()) || word.len() > 12 {
        return scan.class_of(word);
    }
    // Most words only contain a keyword: `inside`, `dropping`, `design`.
    let is_one_word = !word.iter().skip(1).any(u8::is_ascii_uppercase)
        || !word.iter().any(u8::is_ascii_lowercase);
    if is_one_word && !scan.names.may_be_last(word) {
        return NameClass::Plain;
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
        // `What is the database password`: the name begins after the article.
        if begin == end || is_article(scan.slice(begin, end)) {
            break;
        }
        front -= 1;
        words[front] = scan.slice(begin, end);
        place = begin;
    }
    if front == words.len() - 1 {
        return scan.class_of(word);
    }
    // A camel-case word is a whole name: ignore the words before it.
    if word.iter().skip(1).any(u8::is_ascii_uppercase) && word.iter().any(u8::is_ascii_lowercase) {
        return scan.class_of(word);
    }
    scan.names.classify_words(&words[front..])
}
