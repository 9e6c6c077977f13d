//! Credentials in URLs and data source names.

use super::super::ContextScan;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{Classes, is_placeholder, looks_random};

/// Maximum length of a user-info part, in bytes.
const MAX_USERINFO: usize = 1024;

/// Reads the user-info after a `://` at `start..end`.
pub(in super::super) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if start == 0 || !scan.byte(start - 1).is_ascii_alphanumeric() {
        return;
    }
    let mut place = end;
    let mut at = None;
    let limit = end + MAX_USERINFO;
    while place < limit {
        match scan.byte(place) {
            b'<' => match scan.marker_at(place) {
                Some(after) => {
                    place = after;
                    continue;
                }
                None => break,
            },
            b'@' => at = Some(place),
            // A slash may belong to a password if the host is still to come.
            b'/' if at.is_none() && has_at_before_blank(scan, place, limit) => {}
            0 | b'/' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'>' | b')' | b'('
            | b'?' | b'\\' => break,
            b'#' if at.is_some() => break,
            _ => {}
        }
        place += 1;
    }
    let Some(at) = at else {
        return;
    };
    let info = scan.slice(end, at);
    let colon = info.iter().position(|byte| *byte == b':');
    match colon {
        Some(colon) => {
            let first = end + colon + 1;
            let password = scan.slice(first, at);
            // `localhost:3000/name@1.2` is a port and a path.
            let port = password.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if port > 0 && password.get(port) == Some(&b'/') {
                return;
            }
            if !password.is_empty() && !is_placeholder(password) && !is_bare_word(password) {
                scan.hide(first, at, Frame::UrlPassword);
            }
            // The user may be a token: `https://<token>:x-oauth-basic@`.
            let user = scan.slice(end, end + colon);
            if user.len() >= 20 && looks_random(user) && !user.starts_with(b"<redacted:") {
                scan.hide(end, end + colon, Frame::UrlToken);
            }
        }
        None => {
            if info.len() >= 16 && looks_random(info) && !info.contains(&b',') {
                scan.hide(end, at, Frame::UrlToken);
            }
        }
    }
}

/// `password`, `pass`, `pwd`: stand-ins in an example.
fn is_bare_word(password: &[u8]) -> bool {
    matches!(
        password,
        b"password"
            | b"pass"
            | b"pwd"
            | b"secret"
            | b"PASSWORD"
            | b"PASS"
            | b"token"
            | b"passwd"
            | b"x-oauth-basic"
    )
}

fn has_at_before_blank(scan: &ContextScan<'_>, place: usize, limit: usize) -> bool {
    // Only within one path segment: an `@` must follow before the next
    // slash. Otherwise every path of every URL would be searched.
    let rest = scan.slice(place + 1, (place + 64).min(limit));
    let colon_before = scan
        .slice(place.saturating_sub(64), place)
        .iter()
        .rev()
        .take_while(|byte| **byte != b'/')
        .any(|byte| *byte == b':');
    let at = rest.iter().position(|byte| *byte == b'@');
    let stop = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b' ' | b'"' | b'\'' | b'\n' | b'?' | b'\\' | b'<'));
    colon_before
        && at.is_some_and(|at| {
            stop.is_none_or(|stop| at < stop) && Classes::of(&rest[..at]).letters() > 0
        })
        && !scan
            .slice(place.saturating_sub(6), place)
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b':')
}

/// Reads `user:password` before an `@tcp(` at `at`.
pub(in super::super) fn read_dsn(scan: &mut ContextScan<'_>, at: usize) {
    let floor = at.saturating_sub(256);
    let before = scan.slice(floor, at);
    // Markers contain no spaces, so the user begins after the last space.
    let begin = before
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'=' | b'\n' | b'\t' | b'/'))
        .map_or(floor, |place| floor + place + 1);
    let Some(colon) = memchr::memchr(b':', scan.slice(begin, at)) else {
        return;
    };
    let password = scan.slice(begin + colon + 1, at);
    if !password.is_empty() && !is_placeholder(password) {
        scan.hide(begin + colon + 1, at, Frame::UrlPassword);
    }
}
