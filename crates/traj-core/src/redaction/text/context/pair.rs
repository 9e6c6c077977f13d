//! Values whose name is itself a value: `name: TOKEN`, `value: …`.

use super::label::Label;
use super::reading::{self, Ends};
use super::{ContextScan, Style};

/// Words that say that a name follows.
const NAMED: &[&[u8]] = &[b"name", b"key", b"Name", b"Key", b"label", b"field", b"header", b"NAME"];
/// Words that say that its value follows.
const VALUES: &[&[u8]] = &[b"value", b"Value", b"val", b"input", b"content", b"default"];

fn strip_quote(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\"").or_else(|| text.strip_suffix(b"'")).unwrap_or(text)
}

/// Reads the value that a label names; returns whether there is one.
pub(super) fn read(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    // `<key>password</key><string>…</string>`, `<th>Password</th><td>…</td>`
    if scan.byte(label.start.wrapping_sub(1)) == b'>'
        && scan.slice(label.end, label.end + 2) == b"</"
    {
        return sibling(scan, label);
    }
    let before = scan.slice(label.start.saturating_sub(24), label.start);
    let trimmed = strip_quote(before.trim_ascii_end()).trim_ascii_end();
    let Some(trimmed) = trimmed.strip_suffix(b":").or_else(|| trimmed.strip_suffix(b"=")) else {
        return false;
    };
    let trimmed = strip_quote(trimmed.trim_ascii_end());
    if !NAMED.iter().any(|word| trimmed.ends_with(word)) {
        return false;
    }
    let mut place = label.end;
    while matches!(scan.byte(place), b'"' | b'\'' | b',' | b' ' | b'\t' | b'\n' | b'\r' | b'\\')
        && place - label.end < 64
    {
        place += 1;
    }
    // `<string name="password">…</string>`
    if scan.byte(place) == b'>' {
        hide_element(scan, label, place + 1);
        return true;
    }
    // A part of a form: the value begins after the blank line.
    let gap = scan.slice(label.end, place);
    if (gap.ends_with(b"\r\n\r\n") || gap.ends_with(b"\n\n"))
        && scan
            .slice(label.start.saturating_sub(64), label.start)
            .windows(9)
            .any(|window| window == b"form-data")
    {
        let end = scan.line_end(place, 4096);
        scan.hide_if(place, end, label.class, Style::Data);
        return true;
    }
    let rest = scan.slice(place, place + 16);
    let Some(word) = VALUES.iter().find(|word| rest.starts_with(word)) else {
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

/// The value in the element after the one that holds the name.
fn sibling(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    let Some(close) = memchr::memchr(b'>', scan.slice(label.end, label.end + 16)) else {
        return false;
    };
    let mut place = label.end + close + 1;
    while matches!(scan.byte(place), b' ' | b'\t' | b'\n' | b'\r') && place - label.end < 64 {
        place += 1;
    }
    if scan.byte(place) != b'<' || scan.byte(place + 1) == b'/' {
        return false;
    }
    let Some(open) = memchr::memchr(b'>', scan.slice(place, place + 128)) else {
        return false;
    };
    let start = place + open + 1;
    let end = element_end(scan, start);
    scan.hide_if(start, end, label.class, Style::Cell);
    true
}

/// Hides the text of the element that begins at `start`, if it must be hidden.
pub(super) fn hide_element(scan: &mut ContextScan<'_>, label: &Label, start: usize) {
    const CDATA: &[u8] = b"<![CDATA[";
    if scan.slice(start, start + CDATA.len()) == CDATA {
        let first = start + CDATA.len();
        if let Some(close) = memchr::memmem::find(scan.slice(first, first + 4096), b"]]>") {
            scan.hide_if(first, first + close, label.class, Style::Data);
        }
        return;
    }
    let end = element_end(scan, start);
    scan.hide_if(start, end, label.class, Style::Data);
}

/// Where the text of an element ends: at the next angle that is not a marker's.
fn element_end(scan: &ContextScan<'_>, start: usize) -> usize {
    let limit = (start + 4096).min(scan.text.len());
    let mut end = start;
    while end < limit {
        if scan.byte(end) == b'<' {
            match scan.marker_at(end) {
                Some(after) => {
                    end = after;
                    continue;
                }
                None => break,
            }
        }
        end += 1;
    }
    end
}
