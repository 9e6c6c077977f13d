//! `COPY table (columns) FROM stdin;` of a PostgreSQL dump, with one row per line.

use crate::redaction::field_name::NameClass;
use crate::redaction::text::context::{ContextScan, Style};

/// The longest list of columns that is read.
const MAX_HEAD: usize = 4096;

/// Reads the rows after `from stdin` at `start..end`.
pub(in crate::redaction::text) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let is_after_columns =
        scan.slice(start.saturating_sub(8), start).trim_ascii_end().ends_with(b")");
    if start < scan.files.copy_end || !is_after_columns {
        return;
    }
    scan.files.copy_end = end;
    let line = scan.line_start(start, MAX_HEAD);
    let head = scan.slice(line, start);
    let (Some(open), Some(close)) = (memchr::memchr(b'(', head), memchr::memrchr(b')', head))
    else {
        return;
    };
    if open > close || !head[..open].to_ascii_lowercase().windows(5).any(|word| word == b"copy ") {
        return;
    }
    let columns: Vec<NameClass> = head[open + 1..close]
        .split(|byte| *byte == b',')
        .map(|name| {
            let name = name.trim_ascii();
            let name = name.strip_prefix(b"\"").unwrap_or(name);
            scan.names.classify(name.strip_suffix(b"\"").unwrap_or(name))
        })
        .collect();
    if columns.iter().all(|class| *class == NameClass::Plain) {
        return;
    }
    let mut row = scan.line_end(end, MAX_HEAD) + 1;
    while row < scan.text.len() {
        let stop = scan.line_end(row, usize::MAX);
        let cells = scan.slice(row, stop);
        let count = memchr::memchr_iter(b'\t', cells).count() + 1;
        if cells.starts_with(b"\\.") || count != columns.len() {
            break;
        }
        let mut cell = row;
        for class in &columns {
            let cell_end =
                memchr::memchr(b'\t', scan.slice(cell, stop)).map_or(stop, |tab| cell + tab);
            // `\N` is null.
            if *class != NameClass::Plain && scan.slice(cell, cell_end) != b"\\N" {
                scan.hide_if(cell, cell_end, *class, Style::Data);
            }
            cell = cell_end + 1;
            if cell > stop {
                break;
            }
        }
        row = stop + 1;
    }
    scan.files.copy_end = row.min(scan.text.len());
}
