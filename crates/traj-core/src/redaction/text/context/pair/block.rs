//! Blocks of settings whose value is secret because of their head: a Terraform
//! variable, a value marked as sensitive, a Go struct.

use super::super::label::Label;
use super::super::reading::{self, ValueSpan};
use super::super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{Classes, entropy, is_placeholder, looks_chosen, looks_random};

/// Maximum length of a block, in bytes.
const MAX_BLOCK: usize = 512;

/// Fields of a block that hold its value.
const VALUES: &[&[u8]] = &[b"default", b"value", b"plaintext", b"secret_string", b"content"];

/// `variable "db_password" { default = "…" }`: the value inside the block that
/// begins at `open`.
pub(in super::super) fn read_named(scan: &mut ContextScan<'_>, label: &Label, open: usize) {
    let block = scan.slice(open, open + MAX_BLOCK);
    let length = block.iter().position(|byte| *byte == b'}').unwrap_or(block.len());
    if let Some(value) = field_in(scan, open, open + length) {
        scan.hide_if(value.start, value.end, label.class, Style::Quoted);
    }
}

/// The quoted value of a field of [`VALUES`] between `start` and `end`.
fn field_in(scan: &ContextScan<'_>, start: usize, end: usize) -> Option<ValueSpan> {
    let block = scan.slice(start, end);
    for sign in memchr::memchr2_iter(b'=', b':', block) {
        let before = block[..sign].trim_ascii_end();
        let name = before.strip_suffix(b"\"").unwrap_or(before);
        if !VALUES.iter().any(|field| name.ends_with(field)) {
            continue;
        }
        let first = scan.skip_blanks(start + sign + 1);
        if matches!(scan.byte(first), b'"' | b'\'') {
            return reading::quoted_value(scan, first);
        }
    }
    None
}

/// `"sensitive": true`: the value of the same object, before or after it.
pub(in super::super) fn read_sensitive(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let rest = scan.slice(end, end + 16);
    let is_true = memchr::memmem::find(rest, b"true").is_some_and(|place| {
        rest[..place].iter().all(|byte| matches!(byte, b'"' | b' ' | b':' | b'='))
    });
    if !is_true {
        return;
    }
    let floor = start.saturating_sub(MAX_BLOCK);
    let open = memchr::memrchr(b'{', scan.slice(floor, start)).map_or(floor, |place| floor + place);
    let after = scan.slice(end, end + MAX_BLOCK);
    let close = memchr::memchr(b'}', after).unwrap_or(after.len());
    let value = field_in(scan, open, start).or_else(|| field_in(scan, end, end + close));
    if let Some(value) = value {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Secret), Style::Data);
    }
}

/// `&{db app Xk3… 5432}`: the value of a Go struct without names. Only a word of
/// upper-case and lower-case letters and digits counts.
pub(in super::super) fn read_struct(scan: &mut ContextScan<'_>, end: usize) {
    let body = scan.slice(end, end + MAX_BLOCK);
    let Some(close) = memchr::memchr2(b'}', b'\n', body) else { return };
    let body = &body[..close];
    if scan.byte(end + close) != b'}' || memchr::memchr(b' ', body).is_none() {
        return;
    }
    let mut place = end;
    for word in body.split(|byte| *byte == b' ') {
        let classes = Classes::of(word);
        if word.len() >= 10
            && classes.other == 0
            && classes.upper > 1
            && classes.lower > 1
            && classes.digit > 0
            && entropy(word) > 3.0
            && (looks_random(word) || looks_chosen(word))
            && !is_placeholder(word)
        {
            scan.hide(place, place + word.len(), Frame::Credential);
        }
        place += word.len() + 1;
    }
}
