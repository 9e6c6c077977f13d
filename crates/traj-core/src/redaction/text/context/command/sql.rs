//! Passwords in statements that create or change a user.

use super::super::reading::{self, Ends};
use super::super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;

/// `IDENTIFIED BY 'secret'`, `IDENTIFIED WITH plugin BY 'secret'`.
pub(super) fn read_identified(scan: &mut ContextScan<'_>, end: usize) {
    let line_end = scan.line_end(end, 256);
    let rest = scan.slice(end, line_end);
    let bare = rest.trim_ascii_start();
    let is_quoted = matches!(bare.first(), Some(b'\'' | b'"' | b'\\'));
    if !is_quoted && scan.slice(end - 3, end).eq_ignore_ascii_case(b" by") {
        return unquoted_password(scan, end + rest.len() - bare.len());
    }
    let Some(quote) = memchr::memchr2(b'\'', b'"', rest) else {
        return;
    };
    let mut place = end + quote;
    // `IDENTIFIED WITH 'plugin' AS 'hash'`
    if let Some(sign) =
        memchr::memmem::find(rest, b" AS ").or_else(|| memchr::memmem::find(rest, b" as "))
    {
        place = scan.skip_blanks(end + sign + 4);
    }
    // The plugin's name may be quoted as well.
    if let Some(by) =
        memchr::memmem::find(rest, b" BY ").or_else(|| memchr::memmem::find(rest, b" by "))
    {
        place = scan.skip_blanks(end + by + 4);
    }
    if scan.byte(place.wrapping_sub(1)) == b'\\' {
        place -= 1;
    }
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Data);
    }
}

/// `IDENTIFIED BY secret;` without quotes, or after a keyword.
fn unquoted_password(scan: &mut ContextScan<'_>, start: usize) {
    let mut start = start;
    for word in [&b"PASSWORD "[..], b"VALUES "] {
        if scan.slice(start, start + word.len()).eq_ignore_ascii_case(word) {
            start = scan.skip_blanks(start + word.len());
        }
    }
    if let Some(value) = reading::value(scan, start, Ends::Loose) {
        let bytes = scan.slice(value.start, value.end);
        let bytes = bytes.strip_suffix(b"\\").unwrap_or(bytes);
        let length = bytes.iter().take_while(|byte| !matches!(byte, b';' | b')' | b'"')).count();
        scan.hide_if(
            value.start,
            value.start + length,
            NameClass::Strong(Frame::Password),
            Style::Cell,
        );
    }
}
