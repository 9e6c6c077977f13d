//! Kubernetes secrets in YAML: every value below `data:` and `stringData:` is a
//! secret, whatever its key is.

use crate::redaction::rule::Frame;
use crate::redaction::text::context::ContextScan;
use crate::redaction::text::value::is_placeholder;

/// How far the document is read in each direction.
const MAX_DOCUMENT: usize = 64 * 1024;

/// Reads the document around `kind: Secret` at `start..end`.
pub(in crate::redaction::text) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let after = scan.byte(end);
    if start < scan.files.manifest_end || !matches!(after, b'\n' | b'\r' | b' ' | b'"' | b'\'' | 0)
    {
        return;
    }
    let mut line = document_start(scan, start);
    let ceiling = (end + MAX_DOCUMENT).min(scan.text.len());
    // The indentation of `data:` while its entries are read.
    let mut outer: Option<usize> = None;
    while line < ceiling {
        let stop = scan.line_end(line, MAX_DOCUMENT);
        let first = scan.skip_blanks(line);
        let content = scan.slice(first, stop).trim_ascii_end();
        if line > start && content.starts_with(b"---") {
            break;
        }
        let indent = first - line;
        if matches!(content, b"data:" | b"stringData:") {
            outer = Some(indent);
        } else if let Some(limit) = outer
            && !content.is_empty()
        {
            if indent > limit {
                line = entry(scan, first, first + content.len(), indent, stop).max(stop) + 1;
                continue;
            }
            outer = None;
        }
        line = stop + 1;
    }
    scan.files.manifest_end = line.min(scan.text.len());
}

/// Where the YAML document that contains `place` begins.
fn document_start(scan: &ContextScan<'_>, place: usize) -> usize {
    let floor = place.saturating_sub(MAX_DOCUMENT).max(scan.files.manifest_end);
    let before = scan.slice(floor, place);
    let rule = memchr::memmem::rfind(before, b"\n---");
    let line = |from: usize| {
        memchr::memchr(b'\n', &before[from..]).map_or(place, |end| floor + from + end + 1)
    };
    match rule {
        Some(found) => line(found + 1),
        None if floor == 0 || scan.byte(floor - 1) == b'\n' => floor,
        None => line(0),
    }
}

/// Hides the value of one entry. Returns where the entry ends.
fn entry(
    scan: &mut ContextScan<'_>,
    first: usize,
    end: usize,
    indent: usize,
    stop: usize,
) -> usize {
    let Some(colon) = scan.slice(first, end).iter().position(|byte| *byte == b':') else {
        return stop;
    };
    let value = scan.skip_blanks(first + colon + 1);
    let bytes = scan.slice(value, end);
    if matches!(bytes.first(), Some(b'|' | b'>')) && bytes.len() <= 3 {
        return block(scan, stop, indent);
    }
    let (from, to) = match bytes {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => {
            (value + 1, value + 1 + inner.len())
        }
        _ => (value, end),
    };
    let bytes = scan.slice(from, to);
    if to - from >= 3 && !is_placeholder(bytes) {
        scan.hide(from, to, Frame::Secret);
    }
    stop
}

/// Hides the lines that are indented more than `indent`.
fn block(scan: &mut ContextScan<'_>, stop: usize, indent: usize) -> usize {
    let mut start = None;
    let mut last = stop;
    let mut line = stop + 1;
    while line < scan.text.len() {
        let end = scan.line_end(line, MAX_DOCUMENT);
        let first = scan.skip_blanks(line);
        if first < end {
            if first - line <= indent {
                break;
            }
            start.get_or_insert(first);
            last = end;
        }
        line = end + 1;
    }
    if let Some(start) = start {
        scan.hide(start, last, Frame::Secret);
    }
    last
}
