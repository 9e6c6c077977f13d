//! Tables with a header row, and `INSERT` statements.

use super::reading;
use super::{ContextScan, Style};
use crate::redaction::engine::steps;
use crate::redaction::field_name::NameClass;

const MAX_COLUMNS: usize = 64;
/// How far before and after a name its line is read.
const MAX_HEADER: usize = 2048;
const MAX_ROW: usize = 64 * 1024;

/// Reads the table whose header row contains the name at `start..end`; returns
/// whether it is a table.
pub(super) fn read_header(scan: &mut ContextScan<'_>, start: usize, end: usize) -> bool {
    if start < scan.table_end {
        return false;
    }
    // Cheap check first: most names are not followed by a delimiter.
    let mut behind = end;
    while scan.byte(behind) == b' ' {
        behind += 1;
    }
    if scan.byte(behind) == b'"' {
        behind += 1;
    }
    if !matches!(scan.byte(behind), b',' | b'\t' | b';' | b'|' | b'\n' | b'\r' | 0) {
        return false;
    }
    let (line, line_end) = scan.memory.line_around(start, end, || {
        (scan.line_start(start, MAX_HEADER), scan.line_end(end, MAX_HEADER))
    });
    // Only the spaces next to the name are read, not the whole line.
    let around = |from: usize, to: usize| scan.text.get(from..to).unwrap_or_default();
    let before = trim_blanks_end(around(line, start));
    let after = trim_blanks_start(around(end, line_end));
    steps::count((start - line - before.len()) + (line_end - end - after.len()) + 2);
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    let after = after.strip_prefix(b"\"").unwrap_or(after);
    let Some(delimiter) = [b',', b'\t', b';', b'|'].into_iter().find(|delimiter| {
        (before.last() == Some(delimiter) || before.is_empty() && after.first() == Some(delimiter))
            && (after.is_empty() || after.first() == Some(delimiter))
    }) else {
        return false;
    };
    if scan.memory.is_no_header(line, delimiter) {
        return false;
    }
    let header = cells(scan, line, line_end, delimiter);
    if header.len() < 2 || !header.iter().all(|(start, end)| is_heading(scan.slice(*start, *end))) {
        scan.memory.note_no_header(line, delimiter);
        return false;
    }
    let classes: Vec<NameClass> =
        header.iter().map(|(start, end)| scan.names.classify(scan.slice(*start, *end))).collect();
    let mut place = line_end;
    let mut rows = 0;
    while let Some(next) = reading::next_line(scan, place) {
        let stop = scan.line_end(next, MAX_ROW);
        let row = cells(scan, next, stop, delimiter);
        if row.len() != header.len() {
            // The separator line below the header.
            let rule = scan.slice(next, stop);
            if rows == 0
                && !rule.is_empty()
                && rule.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b' ' | b'='))
            {
                place = stop;
                continue;
            }
            break;
        }
        rows += 1;
        for ((start, end), class) in row.into_iter().zip(&classes) {
            scan.hide_if(start, end, *class, Style::Cell);
        }
        place = stop;
    }
    scan.table_end = place;
    // A header without rows is not a table.
    rows > 0
}

/// Trims spaces but not tabs, which may be the delimiter.
fn trim_blanks_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |place| place + 1);
    &text[..end]
}

fn trim_blanks_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| *byte != b' ').unwrap_or(text.len());
    &text[start..]
}

fn is_heading(cell: &[u8]) -> bool {
    !cell.is_empty()
        && cell.len() <= 48
        && cell
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.'))
        && cell[0].is_ascii_alphabetic()
}

/// The cells of a row, trimmed, without quotes and without outer bars.
fn cells(scan: &ContextScan<'_>, start: usize, end: usize, delimiter: u8) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut place = start;
    let mut cell = start;
    let mut quoted = false;
    while place <= end && out.len() < MAX_COLUMNS {
        let byte = if place == end { delimiter } else { scan.byte(place) };
        if byte == b'"' && delimiter != b'|' {
            quoted = !quoted;
        }
        if byte == b'<'
            && let Some(after) = scan.marker_at(place)
        {
            place = after;
            continue;
        }
        if byte == delimiter && (!quoted || place == end) {
            out.push(trim(scan, cell, place));
            cell = place + 1;
        }
        place += 1;
    }
    if delimiter == b'|' {
        if out.first().is_some_and(|(start, end)| start >= end) {
            out.remove(0);
        }
        if out.last().is_some_and(|(start, end)| start >= end) {
            out.pop();
        }
    }
    out
}

fn trim(scan: &ContextScan<'_>, mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && matches!(scan.byte(start), b' ' | b'\t' | b'"' | b'`' | b'\'') {
        start += 1;
    }
    while start < end && matches!(scan.byte(end - 1), b' ' | b'\t' | b'"' | b'`' | b'\r' | b'\'') {
        end -= 1;
    }
    (start, end)
}

/// Reads `INSERT INTO table (columns) VALUES (values), …`.
pub(super) fn read_insert(scan: &mut ContextScan<'_>, start: usize) {
    if start < scan.insert_end {
        return;
    }
    let Some(open) = memchr::memchr(b'(', scan.slice(start, start + 160)) else {
        return;
    };
    let columns_start = start + open + 1;
    let Some(close) = memchr::memchr(b')', scan.slice(columns_start, columns_start + 2048)) else {
        return;
    };
    let columns_end = columns_start + close;
    let classes: Vec<NameClass> = scan
        .slice(columns_start, columns_end)
        .split(|byte| *byte == b',')
        .map(|column| {
            let name: Vec<u8> = column
                .iter()
                .copied()
                .filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                .collect();
            scan.names.classify(&name)
        })
        .collect();
    if classes.iter().all(|class| *class == NameClass::Plain) {
        return;
    }
    let head = scan.slice(columns_end, columns_end + 24);
    let Some(values) = head.windows(6).position(|window| window.eq_ignore_ascii_case(b"values"))
    else {
        return;
    };
    let mut place = columns_end + values + 6;
    for _ in 0..10_000 {
        while matches!(scan.byte(place), b' ' | b'\n' | b'\r' | b'\t' | b',') {
            place += 1;
        }
        if scan.byte(place) != b'(' {
            return;
        }
        place = tuple(scan, place + 1, &classes);
        scan.insert_end = place;
    }
}

/// Reads one tuple of values; returns where it ends.
fn tuple(scan: &mut ContextScan<'_>, start: usize, classes: &[NameClass]) -> usize {
    let mut place = start;
    let mut column = 0;
    loop {
        place = scan.skip_blanks(place);
        let Some(value) = reading::value(scan, place, reading::Ends::Loose) else {
            return scan.text.len().min(place + 1);
        };
        if let Some(class) = classes.get(column)
            && value.quoted
        {
            scan.hide_if(value.start, value.end, *class, Style::Data);
        }
        place = value.end;
        while !matches!(scan.byte(place), b',' | b')' | 0) {
            place += 1;
        }
        if scan.byte(place) != b',' {
            return place + 1;
        }
        place += 1;
        column += 1;
    }
}
