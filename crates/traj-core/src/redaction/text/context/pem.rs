//! Armoured private keys: PEM, OpenSSH, SSH2, PGP, PuTTY; complete, cut at
//! either end, indented, quoted, with escaped line breaks.

use super::ContextScan;
use crate::redaction::rule::Frame;

/// Maximum length of a key block, in bytes; a 16384-bit key is smaller.
const MAX_BODY: usize = 64 * 1024;

/// Reads a block; its title, after `BEGIN `, starts at `label`.
pub(super) fn read(scan: &mut ContextScan<'_>, label: usize) {
    if label < scan.armour_end {
        return;
    }
    let head = scan.slice(label, label + 64);
    let Some(dash) = head.iter().position(|byte| *byte == b'-') else {
        return;
    };
    let title = head[..dash].trim_ascii_end();
    let private = is_private(title);
    let mut start = label + dash;
    while scan.byte(start) == b'-' {
        start += 1;
    }
    let end = body_end(scan, start);
    scan.armour_end = end;
    if !private {
        scan.quiet.push((start, end));
        return;
    }
    let first = skip_breaks(scan, start);
    let last = trim_breaks(scan, first, end);
    if last > first && !holds_only_markers(scan, first, last) {
        scan.hide(first, last, Frame::PemPrivateKey);
    }
}

fn is_private(title: &[u8]) -> bool {
    title.windows(7).any(|window| window == b"PRIVATE")
        && !title.windows(6).any(|window| window == b"PUBLIC")
        || title == b"OpenVPN Static key V1"
        || title.ends_with(b"SECRET KEY BLOCK")
}

/// Where the body of a block ends: at the `END` line, or where the string stops
/// looking like a key.
fn body_end(scan: &mut ContextScan<'_>, start: usize) -> usize {
    let limit = start.saturating_add(MAX_BODY).min(scan.text.len());
    if let Some(end) = find_end(scan, start, limit) {
        let rest = scan.text.get(start..limit).unwrap_or_default();
        let mut place = end;
        while place > 0 && matches!(rest[place - 1], b'-' | b' ') {
            place -= 1;
        }
        // This block was cut off if another one begins before the `END` line.
        let other = memchr::memmem::find(&rest[..place], b"-BEGIN ");
        return start
            + other.map_or(place, |other| {
                rest[..other].iter().rposition(|byte| *byte != b'-').map_or(0, |place| place + 1)
            });
    }
    let mut place = start;
    while place < limit {
        let byte = scan.byte(place);
        if is_body(byte)
            || matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>' | b'|' | b':' | b',' | b'-')
        {
            // A line of prose ends the block.
            if matches!(byte, b'\n') && is_prose(scan, place + 1) {
                return place;
            }
            place += 1;
        } else if byte == b'\\' {
            place += 2;
        } else if byte == b'<' {
            match scan.marker_at(place) {
                Some(after) => place = after,
                None => return place,
            }
        } else {
            return place;
        }
    }
    limit
}

/// Finds the dashes of an `END` line. Remembers the range without one, so that
/// many `BEGIN` lines without an `END` cost one search.
fn find_end(scan: &mut ContextScan<'_>, start: usize, limit: usize) -> Option<usize> {
    let known = scan.memory.block_end_after(start).filter(|end| *end < limit);
    if let Some(end) = known {
        return Some(end - start);
    }
    let from = start.max(scan.armour_none);
    let rest = scan.slice(from, limit);
    let found =
        memchr::memmem::find(rest, b"-END ").or_else(|| memchr::memmem::find(rest, b"- END "));
    if let Some(found) = found {
        scan.memory.note_block_end(start, from + found);
    } else {
        scan.armour_none = scan.armour_none.max(limit.saturating_sub(8));
    }
    found.map(|found| from + found - start)
}

const fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn is_prose(scan: &ContextScan<'_>, line: usize) -> bool {
    let end = scan.line_end(line, 200);
    let bytes = scan.slice(line, end).trim_ascii();
    let header = bytes.starts_with(b"Proc-Type")
        || bytes.starts_with(b"DEK-Info")
        || bytes.starts_with(b"Comment")
        || bytes.starts_with(b"Version");
    !header && bytes.iter().filter(|byte| **byte == b' ').count() >= 2
}

/// Reads the tail of a block whose beginning was cut off; the words at `label`
/// belong to its `END` line.
pub(super) fn read_tail(scan: &mut ContextScan<'_>, label: usize) {
    if label < scan.armour_end {
        return;
    }
    let before = scan.slice(label.saturating_sub(32), label);
    let Some(found) = memchr::memmem::rfind(before, b"END ") else {
        return;
    };
    let mut end = label - (before.len() - found);
    while end > 0 && matches!(scan.byte(end - 1), b'-' | b' ') {
        end -= 1;
    }
    let floor = scan.armour_end.max(end.saturating_sub(MAX_BODY));
    let mut start = end;
    // Go up line by line while a line is only key material.
    loop {
        let mut line_end = start;
        while line_end > floor
            && matches!(scan.byte(line_end - 1), b'\n' | b'\r' | b' ' | b'\t' | b'>' | b'|')
        {
            line_end -= 1;
        }
        if line_end >= floor + 2
            && scan.byte(line_end - 2) == b'\\'
            && scan.byte(line_end - 1) == b'n'
        {
            line_end -= 2;
        }
        let mut line = line_end;
        while line > floor
            && is_body(scan.byte(line - 1))
            && !(scan.byte(line - 1) == b'n' && line > 1 && scan.byte(line - 2) == b'\\')
        {
            line -= 1;
        }
        if line_end - line < 8 {
            break;
        }
        start = line;
        if line == floor {
            break;
        }
    }
    if end - start >= 16 {
        let last = trim_breaks(scan, start, end);
        scan.armour_end = end;
        if !holds_only_markers(scan, start, last) {
            scan.hide(start, last, Frame::PemPrivateKey);
        }
    }
}

/// Reads the private lines or the checksum of a PuTTY key file.
pub(super) fn read_putty(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let line_end = scan.line_end(end, 256);
    if scan.slice(start, end).eq_ignore_ascii_case(b"private-mac:") {
        let first = scan.skip_blanks(end);
        let length =
            scan.slice(first, line_end).iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        scan.hide(first, first + length, Frame::PuttyKey);
        return;
    }
    let first = {
        let mut place = end;
        while matches!(scan.byte(place), b' ' | b'\t') || scan.byte(place).is_ascii_digit() {
            place += 1;
        }
        skip_breaks(scan, place)
    };
    let mut place = first;
    let limit = first.saturating_add(MAX_BODY).min(scan.text.len());
    while place < limit {
        let byte = scan.byte(place);
        if is_body(byte) || matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>') {
            place += 1;
        } else if byte == b'\\' && matches!(scan.byte(place + 1), b'n' | b'r') {
            place += 2;
        } else {
            break;
        }
    }
    // Do not include the name of the next field.
    if scan.byte(place) == b'-' || scan.byte(place) == b':' {
        while place > first && !matches!(scan.byte(place - 1), b'\n' | b'\\') {
            place -= 1;
        }
        if scan.byte(place.wrapping_sub(1)) == b'\\' {
            place -= 1;
        }
    }
    let last = trim_breaks(scan, first, place);
    if last > first + 16 {
        scan.hide(first, last, Frame::PuttyKey);
    }
}

/// Skips line breaks (also escaped ones) and leading spaces.
fn skip_breaks(scan: &ContextScan<'_>, mut place: usize) -> usize {
    loop {
        match scan.byte(place) {
            b'\n' | b'\r' | b' ' | b'\t' => place += 1,
            b'\\' if matches!(scan.byte(place + 1), b'n' | b'r' | b'\\') => {
                place += if scan.byte(place + 1) == b'\\' { 1 } else { 2 }
            }
            _ => return place,
        }
    }
}

/// Drops line breaks, spaces and quote prefixes at the end.
fn trim_breaks(scan: &ContextScan<'_>, first: usize, mut end: usize) -> usize {
    while end > first {
        let byte = scan.byte(end - 1);
        if matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>' | b'|' | b'-') {
            end -= 1;
        } else if matches!(byte, b'n' | b'r') && end - first > 1 && scan.byte(end - 2) == b'\\' {
            end -= 2;
        } else if byte == b'\\' {
            end -= 1;
        } else {
            break;
        }
    }
    end
}

fn holds_only_markers(scan: &ContextScan<'_>, first: usize, last: usize) -> bool {
    let mut place = first;
    while place < last {
        match scan.marker_at(place) {
            Some(after) => place = after,
            None if matches!(
                scan.byte(place),
                b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b'n' | b'>'
            ) =>
            {
                place += 1;
            }
            None => return false,
        }
    }
    true
}
