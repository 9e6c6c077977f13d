//! Values that a shell or a debugger prints for a name: `$ printenv TOKEN`,
//! `(gdb) print password`, `$ cat /run/secrets/db`.

use super::super::label::Label;
use super::super::{ContextScan, Style, reading};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{Classes, is_placeholder, looks_chosen, looks_random};

/// Longest line of a command.
const MAX_LINE: usize = 256;

/// Prompts of debuggers and interpreters.
const INTERPRETERS: &[&[u8]] = &[
    b"(gdb)", b"(lldb)", b"(Pdb)", b"(pdb)", b"(dlv)", b"ipdb>", b"debug>", b">>> ", b"In [",
    b"irb", b"pry", b"iex", b"mysql>", b"redis>", b"jshell>", b"scala>", b"ghci>", b"php >",
];

/// Reads the value that is printed for the name, which is an argument of a
/// command; returns whether there is one.
pub(in super::super) fn read(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    let is_strong = matches!(label.class, NameClass::Strong(_));
    let line_end = scan.line_end(label.end, MAX_LINE);
    let is_last = scan
        .slice(label.end, line_end)
        .iter()
        .all(|byte| matches!(byte, b' ' | b')' | b']' | b'"' | b'\'' | b';' | b'\t'));
    if !is_last && !is_strong {
        return false;
    }
    let line = scan.line_start(label.start, MAX_LINE);
    let head = scan.slice(line, label.start).trim_ascii_start();
    if is_last && INTERPRETERS.iter().any(|prompt| head.starts_with(prompt)) {
        return printed(scan, label, line_end) || is_strong && output(scan, line_end, label.frame);
    }
    if !is_strong || !is_shell(head) {
        return false;
    }
    // `TOKEN=… command` sets the variable instead of printing it.
    if scan.byte(label.end) == b'=' {
        return false;
    }
    output(scan, line_end, label.frame)
}

/// Whether a line begins with the prompt of a shell.
pub(super) fn is_shell(head: &[u8]) -> bool {
    const LONGEST_PROMPT: usize = 64;
    let prompt = head.get(..LONGEST_PROMPT).unwrap_or(head);
    let sign = memchr::memchr3(b'$', b'%', b'#', prompt);
    let before = prompt.get(..sign.unwrap_or(prompt.len())).unwrap_or_default();
    let Some(sign) = memchr::memchr(b'>', before).or(sign) else {
        return false;
    };
    let (before, after) = (&head[..sign], &head[sign + 1..]);
    after.first() == Some(&b' ')
        && match head[sign] {
            // A `#` alone begins a comment or a heading.
            b'#' => before.contains(&b'@'),
            b'>' => before.starts_with(b"PS") || before.contains(&b':'),
            _ => {
                before.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
                    && (before.is_empty()
                        || before.contains(&b'@')
                        || before.contains(&b'~')
                        || before.len() < 12)
            }
        }
}

/// The first line of the output, if it is a single word that may be a secret.
pub(super) fn output(scan: &mut ContextScan<'_>, line_end: usize, frame: Frame) -> bool {
    let Some(first) = reading::next_line(scan, line_end) else { return false };
    let stop = scan.line_end(first, 4096);
    let bytes = scan.slice(first, stop).trim_ascii_end();
    let bytes = bytes.strip_suffix(b"%").unwrap_or(bytes);
    let is_single = bytes.iter().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'-' | b'_'
                    | b'.'
                    | b'+'
                    | b'/'
                    | b'='
                    | b'!'
                    | b'@'
                    | b'#'
                    | b'$'
                    | b'%'
                    | b'^'
                    | b'&'
                    | b'*'
                    | b'~'
                    | b'?'
                    | b';'
            )
    });
    let is_file = Classes::of(bytes).digit == 0 || bytes.starts_with(b"/");
    let is_secret = is_single
        && bytes.len() >= 8
        && !is_placeholder(bytes)
        && (looks_random(bytes) || looks_chosen(bytes) && !is_file);
    if is_secret {
        scan.hide(first, first + bytes.len(), frame);
    }
    is_secret
}

/// `$1 = 0x55d0 "value"`, `'value'`, `Out[3]: 'value'`, `=> "value"`: the quoted
/// string that the next line ends with.
fn printed(scan: &mut ContextScan<'_>, label: &Label, line_end: usize) -> bool {
    let Some(next) = reading::next_line(scan, line_end) else { return false };
    let stop = scan.line_end(next, MAX_LINE);
    let Some(quote) = memchr::memchr2(b'"', b'\'', scan.slice(next, stop.min(next + 48))) else {
        return false;
    };
    let Some(value) = reading::quoted_value(scan, next + quote) else {
        return false;
    };
    scan.hide_if(value.start, value.end, label.class, Style::Quoted);
    true
}

/// `cat path/to/secret`: the name of the file says that it contains a secret.
pub(in super::super) fn read_file(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let line = scan.line_start(start, MAX_LINE);
    if !is_shell(scan.slice(line, start).trim_ascii_start()) && line != start {
        return;
    }
    let line_end = scan.line_end(end, MAX_LINE);
    let path = scan.slice(end, line_end).trim_ascii_end();
    let name = path.rsplit(|byte| matches!(byte, b'/' | b'\\' | b' ')).next().unwrap_or_default();
    let has = |word: &[u8]| path.windows(word.len()).any(|found| found.eq_ignore_ascii_case(word));
    let names_secret = has(b"/secrets/")
        || [&b"password"[..], b"passwd", b"secret", b"token", b"apikey", b"api_key", b"api-key"]
            .iter()
            .any(|word| name.windows(word.len()).any(|found| found.eq_ignore_ascii_case(word)))
        || name.ends_with(b".key")
        || name.ends_with(b".pass")
        || name.ends_with(b".pw");
    if names_secret && line != start {
        output(scan, line_end, Frame::CommandOutput);
    }
}
