//! Secrets that one command pipes to another.

use super::super::ContextScan;
use super::super::reading::{self, Ends};
use crate::redaction::rule::Frame;
use crate::redaction::text::value::is_placeholder;

/// `echo 'secret' | login --password-stdin`.
pub(super) fn read(scan: &mut ContextScan<'_>, start: usize) {
    let line = scan.line_start(start, 512);
    let before = scan.slice(line, start);
    let Some(pipe) = memchr::memrchr(b'|', before) else {
        return;
    };
    // `cat <<EOF | login --password-stdin`: the secret is the next line.
    if memchr::memmem::find(before, b"<<").is_some() {
        let line_end = scan.line_end(start, 512);
        if let Some(next) = reading::next_line(scan, line_end) {
            let stop = scan.line_end(next, 4096);
            if !is_placeholder(scan.slice(next, stop)) {
                scan.hide(next, stop, Frame::CommandPassword);
            }
        }
        return;
    }
    let Some(echo) = memchr::memmem::find(&before[..pipe], b"echo ")
        .map(|place| place + 5)
        .or_else(|| memchr::memmem::find(&before[..pipe], b"printf ").map(|place| place + 7))
    else {
        return;
    };
    let mut place = scan.skip_blanks(line + echo);
    while scan.byte(place) == b'-' && scan.byte(place + 1).is_ascii_alphabetic() {
        while scan.byte(place).is_ascii_graphic() {
            place += 1;
        }
        place = scan.skip_blanks(place);
    }
    for format in [&b"'%s'"[..], b"\"%s\"", b"'%s\\n'", b"\"%s\\n\"", b"%s"] {
        if scan.slice(place, place + format.len()) == format {
            place = scan.skip_blanks(place + format.len());
        }
    }
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        let bytes = scan.slice(value.start, value.end);
        let skip = bytes
            .iter()
            .position(|byte| *byte == b':')
            .filter(|_| scan.slice(start, start + 8).eq_ignore_ascii_case(b"chpasswd"))
            .map_or(0, |colon| colon + 1);
        if !is_placeholder(bytes) {
            scan.hide(value.start + skip, value.end, Frame::CommandPassword);
        }
    }
}
