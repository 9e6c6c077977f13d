//! The writer: compact for lines, indented for files, with escapes as
//! JavaScript tools write them.

use super::plain::first_special;
use super::{Json, Object};

/// The indentation of the deepest indented level. Deeper levels stay on one
/// line: indenting every value of a deep array could make it a thousand times
/// as long.
const BLANKS: &str = "                                ";
const MOST_LEVELS: usize = BLANKS.len() / 2;

pub(super) fn compact(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                compact(item, out);
            }
            out.push(']');
        }
        Json::Object(object) => members(object, out, |_, member, out| compact(member, out)),
        scalar => write_scalar(scalar, out),
    }
}

/// Writes an object; `write` writes the values of its members.
fn members(
    object: &Object<'_>,
    out: &mut String,
    mut write: impl FnMut(&str, &Json<'_>, &mut String),
) {
    out.push('{');
    for (index, (name, member)) in object.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write(name, member, out);
    }
    out.push('}');
}

/// Like [`compact`], without the value of the first member called `name`.
/// Returns the position where it belongs.
pub(super) fn compact_around(value: &Json<'_>, name: &str, out: &mut String) -> Option<usize> {
    let Json::Object(object) = value else {
        compact(value, out);
        return None;
    };
    let mut gap = None;
    members(object, out, |member, value, out| {
        if gap.is_none() && member == name {
            gap = Some(out.len());
        } else {
            compact(value, out);
        }
    });
    gap
}

pub(super) fn pretty(value: &Json<'_>, level: usize, out: &mut String) {
    match value {
        _ if level >= MOST_LEVELS => compact(value, out),
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                new_line(index > 0, level + 1, out);
                pretty(item, level + 1, out);
            }
            new_line(false, level, out);
            out.push(']');
        }
        Json::Object(object) if !object.is_empty() => {
            out.push('{');
            for (index, (name, member)) in object.iter().enumerate() {
                new_line(index > 0, level + 1, out);
                write_string(name, out);
                out.push_str(": ");
                pretty(member, level + 1, out);
            }
            new_line(false, level, out);
            out.push('}');
        }
        flat => compact(flat, out),
    }
}

fn new_line(comma: bool, level: usize, out: &mut String) {
    if comma {
        out.push(',');
    }
    out.push('\n');
    out.push_str(BLANKS.get(..2 * level).unwrap_or(BLANKS));
}

fn write_scalar(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => out.push_str(number.as_text()),
        Json::String(text) => write_string(text, out),
        Json::Null | Json::Array(_) | Json::Object(_) => out.push_str("null"),
    }
}

/// Appends `text` as a JSON string, quotes included.
pub fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_special(rest.as_bytes()) {
        // Escaped bytes are ASCII, so both sides are character boundaries.
        let (plain, behind) = rest.split_at(at);
        out.push_str(plain);
        let mut behind = behind.chars();
        write_escape(behind.next().unwrap_or_default(), out);
        rest = behind.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_escape(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        control => {
            let digit = |value: u32| char::from_digit(value & 0xf, 16).unwrap_or('0');
            out.push_str("\\u00");
            out.push(digit(u32::from(control) >> 4));
            out.push(digit(u32::from(control)));
        }
    }
}
