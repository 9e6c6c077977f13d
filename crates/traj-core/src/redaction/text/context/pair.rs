//! Name and value as two fields: `name: TOKEN`, `value: …`.

pub(super) mod block;

use super::label::Label;
use super::reading::{self, Ends};
use super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;

/// Field names whose value is a name.
const NAMED: &[&[u8]] =
    &[b"name", b"key", b"Name", b"Key", b"label", b"field", b"header", b"NAME", b"id"];
/// Field names of the value that belongs to it.
const VALUES: &[&[u8]] = &[b"value", b"Value", b"val", b"input", b"content", b"default"];

fn strip_quote(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\"").or_else(|| text.strip_suffix(b"'")).unwrap_or(text)
}

/// Reads the value field after a name field; returns whether there is one.
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
    // `<input id="password" type="password" value="…">`
    if let Some(found) = later_attribute(scan, label, place) {
        match found {
            LaterAttribute::Value(start) => {
                if let Some(value) = reading::value(scan, start, Ends::Loose) {
                    scan.hide_if(value.start, value.end, label.class, Style::Data);
                }
            }
            LaterAttribute::Content(start) => hide_element(scan, label, start),
        }
        return true;
    }
    // A part of a multipart form: the value begins after the empty line.
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

/// Where the value of a named element begins.
enum LaterAttribute {
    Value(usize),
    Content(usize),
}

/// The `value` among the other attributes of an element, or its content.
fn later_attribute(scan: &ContextScan<'_>, label: &Label, place: usize) -> Option<LaterAttribute> {
    let line = scan.slice(label.start.saturating_sub(96), label.start);
    let open = memchr::memrchr2(b'<', b'>', line)?;
    let is_element = line[open] == b'<' && scan.byte(label.end) == b'"';
    let rest = scan.slice(place, place + 192);
    let close = memchr::memchr2(b'>', b'<', rest).filter(|_| is_element)?;
    let attributes = &rest[..close];
    if let Some(value) = memchr::memmem::find(attributes, b"value=\"") {
        return Some(LaterAttribute::Value(place + value + 6));
    }
    let is_open = rest[close] == b'>' && !attributes.ends_with(b"/") && attributes.contains(&b'=');
    is_open.then_some(LaterAttribute::Content(place + close + 1))
}

/// Reads the value in the element after the one that contains the name.
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

/// `<Password encoding="plain">…</Password>`: reads the element whose attributes
/// begin at `start`; returns whether it is one.
pub(super) fn read_attributes(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    let before = scan.slice(label.start.saturating_sub(16), label.start);
    let prefix =
        before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b':');
    let opens = before.len().checked_sub(prefix.count() + 1).and_then(|place| before.get(place));
    if opens != Some(&b'<') {
        return false;
    }
    let head = scan.slice(start, start + 256);
    let Some(close) = memchr::memchr2(b'>', b'<', head) else { return false };
    if head[close] == b'<' || head[..close].ends_with(b"/") || !head[..close].contains(&b'=') {
        return false;
    }
    hide_element(scan, label, start + close + 1);
    true
}

/// Judges the element content that begins at `start`.
pub(super) fn hide_element(scan: &mut ContextScan<'_>, label: &Label, start: usize) {
    // `<code>` in HTML is program text.
    if label.class == NameClass::Weak(Frame::OneTimeCode) {
        return;
    }
    const CDATA: &[u8] = b"<![CDATA[";
    // In HTML, `<code>` contains code.
    if scan.slice(label.start, label.end) == b"code" {
        return;
    }
    if scan.slice(start, start + CDATA.len()) == CDATA {
        let first = start + CDATA.len();
        if let Some(close) = memchr::memmem::find(scan.slice(first, first + 4096), b"]]>") {
            scan.hide_if(first, first + close, label.class, Style::Data);
        }
        return;
    }
    // `<password><value>…</value></password>`
    let mut start = start;
    let inner = scan.slice(start, start + 64).trim_ascii_start();
    if let [b'<', first, ..] = inner
        && first.is_ascii_alphabetic()
        && let Some(close) = memchr::memchr(b'>', inner)
    {
        start += scan.slice(start, start + 64).len() - inner.len() + close + 1;
        start = start.min(scan.text.len());
    }
    let end = element_end(scan, start);
    // `<T: Secrets>` in code is not an element.
    let is_strong = matches!(label.class, NameClass::Strong(_));
    if matches!(scan.slice(end, end + 2), b"</" | b"<\\") {
        let style = if is_strong { Style::Data } else { Style::Cell };
        scan.hide_if(start, end, label.class, style);
        return;
    }
    // Nothing closes it: `?secret=<token>&page=1` contains a placeholder.
    let end = end.min(scan.line_end(start, 4096));
    let bytes = scan.slice(start, end).trim_ascii();
    if is_strong
        && bytes.len() >= 8
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && !bytes.contains(&b'=')
    {
        scan.hide_if(start, end, label.class, Style::Cell);
    }
}

/// Where the content of an element ends: at the next `<` that does not open a
/// marker.
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
