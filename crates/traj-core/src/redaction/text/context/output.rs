//! Commands that print a secret.

pub(super) mod console;

use super::ContextScan;
use super::reading;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_code, is_placeholder, looks_chosen, looks_random};

/// Reads the line below a command that prints a secret.
pub(super) fn read(scan: &mut ContextScan<'_>, end: usize) {
    let line = scan.line_start(end, 512);
    // Require a prompt: a shell session, not prose.
    let head = scan.slice(line, end).trim_ascii_start();
    let prompted =
        head.first().is_some_and(|byte| matches!(byte, b'$' | b'#' | b'%' | b'>' | b'+'))
            || head.windows(2).any(|window| matches!(window, b"$ " | b"# " | b"> "));
    if !prompted {
        return;
    }
    if scan.slice(end.saturating_sub(9), end).eq_ignore_ascii_case(b"base64 -d")
        && !mentions_secret(scan.slice(line, end))
    {
        return;
    }
    let (_, Some(next)) = soft_line(scan, end) else {
        return;
    };
    let mut first = next;
    while matches!(scan.byte(first), b' ' | b'\t' | b'>' | b'|') {
        first += 1;
    }
    let (stop, _) = soft_line(scan, first);
    let bytes = scan.slice(first, stop).trim_ascii_end();
    let bytes = bytes.strip_suffix(b"'").or_else(|| bytes.strip_suffix(b"\"")).unwrap_or(bytes);
    let single = !bytes.is_empty() && !bytes.iter().any(|byte| matches!(byte, b' ' | b'\t'));
    if single
        && bytes.len() >= 6
        && !is_placeholder(bytes)
        && !is_code(bytes)
        && (looks_random(bytes) || looks_chosen(bytes))
        && !bytes.starts_with(b"$")
    {
        scan.hide(first, first + bytes.len(), Frame::CommandOutput);
    }
}

/// Where the line at `place` ends and where the next begins. An escaped `\n`
/// also ends a line.
fn soft_line(scan: &ContextScan<'_>, place: usize) -> (usize, Option<usize>) {
    let hard = scan.line_end(place, 2048);
    match memchr::memmem::find(scan.slice(place, hard), b"\\n") {
        Some(soft) => (place + soft, Some(place + soft + 2)),
        None => (hard, reading::next_line(scan, hard)),
    }
}

fn mentions_secret(line: &[u8]) -> bool {
    line.windows(6).any(|window| {
        window.eq_ignore_ascii_case(b"secret") || window.eq_ignore_ascii_case(b"passwo")
    }) || line.windows(5).any(|window| window.eq_ignore_ascii_case(b"token"))
}
