//! The writer: compact for lines, indented for files, escapes as other
//! JavaScript tools write them.

use super::Json;

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
        Json::Object(object) => {
            out.push('{');
            for (index, (name, member)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                compact(member, out);
            }
            out.push('}');
        }
        scalar => write_scalar(scalar, out),
    }
}

pub(super) fn pretty(value: &Json<'_>, level: usize, out: &mut String) {
    match value {
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
    for _ in 0..level {
        out.push_str("  ");
    }
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

/// Appends `text` as a JSON literal, quotes included.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !needs_escape(*byte) {
            continue;
        }
        // Escaped bytes are ASCII, so both ends are character boundaries.
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x8 => out.push_str("\\b"),
            0xc => out.push_str("\\f"),
            control => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(DIGITS[usize::from(control >> 4)]));
                out.push(char::from(DIGITS[usize::from(control & 0xf)]));
            }
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out.push('"');
}

/// Looked up rather than compared: this is the loop that sees every byte.
const fn needs_escape(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 0x20 {
            table[byte] = true;
            byte += 1;
        }
        table[b'"' as usize] = true;
        table[b'\\' as usize] = true;
        table
    };
    TABLE[byte as usize]
}
