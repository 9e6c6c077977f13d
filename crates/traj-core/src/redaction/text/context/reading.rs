//! Finds where a value begins and ends.

pub(super) mod memory;

use super::{ContextScan, deobfuscate};

/// Longest value. A quoted value whose closing quote is further away is read as
/// an unquoted one.
const MAX_VALUE: usize = 64 * 1024;

/// The range of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether quotes enclose it.
    pub(super) quoted: bool,
}

/// Which separators end an unquoted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// In a settings file or a command: separators may belong to the value.
    Loose,
    /// In a query string or a form: `&` and `#` end it.
    Query,
    /// In prose: punctuation at the end belongs to the sentence.
    Prose,
}

/// Reads the value at `start`, quoted or not.
pub(super) fn value(scan: &ContextScan<'_>, start: usize, ends: Ends) -> Option<ValueSpan> {
    let mut place = start;
    // Leave wrappers in place: `Some("…")`, `b"…"`, `r"…"`, `String::from("…")`.
    place = skip_wrapper(scan, place);
    // A Lua long bracket is a quote.
    if scan.slice(place, place + 2) == b"[["
        && let Some(close) = memchr::memmem::find(scan.slice(place + 2, place + 4096), b"]]")
    {
        return Some(ValueSpan { start: place + 2, end: place + 2 + close, quoted: true });
    }
    if let Some(value) = generic_quotes(scan, place) {
        return Some(value);
    }
    let slashes = count_backslashes(scan, place);
    let quote = scan.byte(place + slashes);
    if matches!(quote, b'"' | b'\'' | b'`') {
        return quoted(scan, place + slashes + 1, quote, slashes, ends);
    }
    unquoted(scan, start, ends)
}

/// `q{…}`, `qq(…)`, `%q[…]`, `R"(…)"`: the quotes of Perl, Ruby and C++.
fn generic_quotes(scan: &ContextScan<'_>, start: usize) -> Option<ValueSpan> {
    const OPENINGS: &[(&[u8], &[u8])] = &[
        (b"q{", b"}"),
        (b"qq{", b"}"),
        (b"q(", b")"),
        (b"qq(", b")"),
        (b"q[", b"]"),
        (b"%q{", b"}"),
        (b"%q(", b")"),
        (b"%q[", b"]"),
        (b"%Q{", b"}"),
        (b"%Q(", b")"),
        (b"R\"(", b")\""),
    ];
    const LONGEST: usize = 1024;
    if !matches!(scan.byte(start), b'q' | b'%' | b'R') {
        return None;
    }
    let head = scan.slice(start, start + 4);
    let (open, close) = OPENINGS.iter().find(|(open, _)| head.starts_with(open))?;
    let first = start + open.len();
    let line = scan.slice(first, scan.line_end(first, LONGEST));
    let length = memchr::memmem::find(line, close).filter(|length| *length > 0)?;
    Some(ValueSpan { start: first, end: first + length, quoted: true })
}

/// Like [`value`], but only if it is quoted. Callers that ignore other values must
/// use this: the end of an unquoted value can be far away, and a name inside it
/// would be read again.
pub(super) fn quoted_value(scan: &ContextScan<'_>, start: usize) -> Option<ValueSpan> {
    let place = skip_wrapper(scan, start);
    let slashes = count_backslashes(scan, place);
    let is_quote = matches!(scan.byte(place + slashes), b'"' | b'\'' | b'`')
        || scan.slice(place, place + 2) == b"[["
        || generic_quotes(scan, place).is_some();
    if is_quote { value(scan, start, Ends::Loose).filter(|value| value.quoted) } else { None }
}

fn skip_wrapper(scan: &ContextScan<'_>, place: usize) -> usize {
    let rest = scan.slice(place, place + 24);
    for wrapper in [
        &b"Some("[..],
        b"String::from(",
        b"SecretString(",
        b"Secret(",
        b"Just(",
        b"b",
        b"r",
        b"u",
        b"f",
        b"@",
        b"L",
        b"E",
        b"N",
        b"$",
    ] {
        if rest.starts_with(wrapper) {
            let after = place + wrapper.len();
            let slashes = count_backslashes(scan, after);
            if matches!(scan.byte(after + slashes), b'"' | b'\'') {
                return after;
            }
        }
    }
    place
}

pub(super) fn count_backslashes(scan: &ContextScan<'_>, place: usize) -> usize {
    let mut count = 0;
    while count < 16 && scan.byte(place + count) == b'\\' {
        count += 1;
    }
    count
}

/// Reads up to the closing quote, which has at most as many backslashes as the
/// opening one. A quote with more backslashes is an escaped quote inside.
fn quoted(
    scan: &ContextScan<'_>,
    start: usize,
    quote: u8,
    slashes: usize,
    ends: Ends,
) -> Option<ValueSpan> {
    // `"""` opens a multi-line string.
    let tripled = slashes == 0 && scan.byte(start) == quote && scan.byte(start + 1) == quote;
    let start = if tripled { start + 2 } else { start };
    if scan.is_rewritten
        && let Some((value, b'"' | b'\'')) = markers_before_disguise(scan, start)
    {
        return Some(ValueSpan { quoted: true, ..value });
    }
    let limit = limit_of(scan, start);
    let mut place = start;
    while place < limit {
        let byte = scan.byte(place);
        if byte == b'<'
            && let Some(after) = scan.marker_at(place)
        {
            place = after;
            continue;
        }
        if byte == b'\\' {
            let run = count_backslashes(scan, place);
            if scan.byte(place + run) == quote {
                if run <= slashes {
                    return Some(closed(scan, start, place));
                }
                place += run + 1;
            } else {
                place += run.max(1);
            }
            continue;
        }
        if byte == quote {
            return Some(closed(scan, start, place));
        }
        if byte == b'\n' && !tripled && quote != b'`' {
            break;
        }
        place += 1;
    }
    let read = start..place;
    // The closing quote is missing or too far away: read it as unquoted.
    let cut = unquoted(scan, start, ends);
    scan.memory.note_value(read);
    Some(ValueSpan { quoted: place >= scan.text.len(), ..cut? })
}

/// The markers at the start of a value, and the disguised sign after them.
///
/// The string and its rewritten forms end a value at different signs. If one form were
/// read past the disguised end of another, and that one past an end of the first, then
/// every round would hide one more piece of the text after the value.
fn markers_before_disguise(scan: &ContextScan<'_>, start: usize) -> Option<(ValueSpan, u8)> {
    /// Most bytes of a disguised sign, with the invisible signs before it.
    const LONGEST: usize = 64;
    let mut end = start;
    while let Some(after) = scan.marker_at(end) {
        end = after;
    }
    if end == start {
        return None;
    }
    // Separators at the end of a value are dropped.
    let mut after = end;
    while after < end + LONGEST && matches!(scan.byte(after), b',' | b';') {
        after += 1;
    }
    let sign = deobfuscate::disguised(scan.slice(after, after + LONGEST))?;
    Some((ValueSpan { start, end, quoted: false }, sign))
}

/// A value between its quotes.
fn closed(scan: &ContextScan<'_>, start: usize, end: usize) -> ValueSpan {
    scan.memory.note_value(start..end);
    ValueSpan { start, end, quoted: true }
}

/// Where a value at `start` must end.
fn limit_of(scan: &ContextScan<'_>, start: usize) -> usize {
    let most = scan.memory.longest_value(start, MAX_VALUE);
    start.saturating_add(most).min(scan.text.len())
}

/// Reads up to a space, a quote or an angle bracket, then drops trailing
/// separators.
fn unquoted(scan: &ContextScan<'_>, start: usize, ends: Ends) -> Option<ValueSpan> {
    if let Some((value, b' ' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'&')) =
        markers_before_disguise(scan, start)
    {
        return Some(value);
    }
    let limit = limit_of(scan, start);
    let mut place = start;
    let mut depth = 0_i32;
    while place < limit {
        let byte = scan.byte(place);
        match byte {
            b'<' => match scan.marker_at(place) {
                Some(after) => {
                    place = after;
                    continue;
                }
                None if place == start => {
                    // `<redacted>rest` and `<token>`: a value may start with one tag.
                    match memchr::memchr(b'>', scan.slice(place, place + 40)) {
                        Some(close) => {
                            place += close + 1;
                            continue;
                        }
                        None => break,
                    }
                }
                None => break,
            },
            0 | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'>' => break,
            b'\\'
                if matches!(
                    scan.byte(place + 1),
                    b'n' | b'r' | b't' | b'"' | b'\'' | b'\n' | b'\r' | b'\\' | b'u' | b' '
                ) =>
            {
                break;
            }
            b'&' if ends == Ends::Query
                || scan.slice(place, place + 5) == b"&amp;"
                || looks_like_next_pair(scan, place + 1) =>
            {
                break;
            }
            b'#' if ends == Ends::Query => break,
            b',' | b';' if ends_here(scan, place) => break,
            b'|' if matches!(scan.byte(place + 1), b' ' | b'|' | 0 | b'\n') => break,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth < 0 && closes_here(scan, place) {
                    break;
                }
            }
            _ => {}
        }
        place += 1;
    }
    scan.memory.note_value(start..place);
    let mut end = place;
    if ends == Ends::Prose {
        while end > start
            && matches!(scan.byte(end - 1), b'.' | b',' | b';' | b':' | b'!' | b'?' | b')')
        {
            end -= 1;
        }
    } else {
        while end > start && matches!(scan.byte(end - 1), b',' | b';') {
            end -= 1;
        }
    }
    // A non-ASCII sign such as 】 or … belongs to the surrounding prose.
    while end > start && scan.byte(end - 1) >= 0x80 {
        end -= 1;
    }
    (end > start).then_some(ValueSpan { start, end, quoted: false })
}

/// Whether the comma or semicolon at `place` ends the value: whitespace, a
/// quote, a closing bracket, a backslash, the end or the next pair follows.
fn ends_here(scan: &ContextScan<'_>, place: usize) -> bool {
    matches!(
        scan.byte(place + 1),
        0 | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'}' | b']' | b')' | b'\\'
    ) || looks_like_next_pair(scan, place + 1)
}

/// Whether the unmatched closing bracket at `place` ends the value.
fn closes_here(scan: &ContextScan<'_>, place: usize) -> bool {
    matches!(
        scan.byte(place + 1),
        0 | b' '
            | b'\t'
            | b'\r'
            | b'\n'
            | b','
            | b';'
            | b')'
            | b']'
            | b'}'
            | b'.'
            | b'"'
            | b'\''
            | b'`'
            | b'('
            | b':'
    )
}

/// Whether `name=` or `name:` is at `start`.
fn looks_like_next_pair(scan: &ContextScan<'_>, start: usize) -> bool {
    let rest = scan.slice(start, start + 48);
    let length = rest
        .iter()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ')
        })
        .count();
    length > 0 && matches!(rest.get(length), Some(b'=' | b':'))
}

/// Reads a block scalar (`key: |`): the lines after `line_end` that are indented
/// deeper than `indent`.
pub(super) fn block(scan: &ContextScan<'_>, line_end: usize, indent: usize) -> Option<ValueSpan> {
    let mut place = line_end;
    let mut start = None;
    let mut end = line_end;
    let limit = line_end.saturating_add(MAX_VALUE).min(scan.text.len());
    while place < limit {
        let line = next_line(scan, place)?;
        let first = scan.skip_blanks(line);
        let stop = scan.line_end(first, MAX_VALUE);
        if first == stop {
            if stop >= scan.text.len() {
                break;
            }
            place = stop;
            continue;
        }
        if first - line <= indent {
            break;
        }
        start.get_or_insert(first);
        end = stop;
        place = stop;
    }
    start.map(|start| ValueSpan { start, end, quoted: true })
}

/// The start of the next line, if `place` is at a line end.
pub(super) fn next_line(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    match (scan.byte(place), scan.byte(place + 1)) {
        (b'\r', b'\n') => Some(place + 2),
        (b'\n' | b'\r', _) => Some(place + 1),
        _ => None,
    }
}
