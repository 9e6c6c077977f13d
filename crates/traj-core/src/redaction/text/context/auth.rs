//! Authorisation headers, schemes and cookies.

pub(super) mod url;

use base64::Engine as _;

use super::ContextScan;
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{Classes, is_placeholder, looks_chosen, looks_random};

/// Longest credential.
const MAX_CREDENTIAL: usize = 64 * 1024;

/// Schemes whose credential is one word.
const WORD_SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "api-token",
    "ssws",
    "geniekey",
    "key",
    "negotiate",
    "ntlm",
    "jwt",
    "accesskey",
    "klaviyo-api-key",
    "bot",
    "sharedkey",
    "sso-key",
    "splunk",
    "discogs",
    "oauth",
    "private-token",
];
/// Schemes whose credential is a list of parameters.
const LIST_SCHEMES: &[&str] = &[
    "digest",
    "aws4-hmac-sha256",
    "hawk",
    "signature",
    "oauth",
    "scram-sha-256",
    "mac",
    "sharedaccesssignature",
];

fn is_any(word: &[u8], others: &[&str]) -> bool {
    others.iter().any(|other| word.eq_ignore_ascii_case(other.as_bytes()))
}

const fn is_credential_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'.' | b'_'
                | b'~'
                | b'+'
                | b'/'
                | b'='
                | b'-'
                | b':'
                | b'%'
                | b'|'
                | b'!'
                | b'$'
                | b'*'
        )
}

/// Where the credential at `start` ends, after at most [`MAX_CREDENTIAL`] bytes.
fn credential_end(scan: &ContextScan<'_>, start: usize) -> usize {
    let mut place = start;
    while place - start < MAX_CREDENTIAL {
        if scan.byte(place) == b'<'
            && let Some(after) = scan.marker_at(place)
        {
            place = after;
        } else if is_credential_byte(scan.byte(place)) {
            place += 1;
        } else {
            return place;
        }
    }
    place
}

/// Reads the value of an authorisation header at `start`.
pub(super) fn read_header(scan: &mut ContextScan<'_>, start: usize, quoted_name: bool) {
    let mut start = start;
    let mut quote = None;
    while matches!(scan.byte(start), b'"' | b'\'' | b'`' | b'\\' | b' ') {
        if matches!(scan.byte(start), b'"' | b'\'' | b'`') {
            quote = Some(scan.byte(start));
        }
        start += 1;
    }
    let scheme_end = start
        + scan
            .slice(start, start + 32)
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
            .count();
    let scheme = scan.slice(start, scheme_end);
    let mut value = scan.skip_blanks(scheme_end);
    // `"Authorization:", "Bearer", "x"` in an argument list.
    if is_any(scheme, WORD_SCHEMES)
        && matches!(scan.byte(value), b'"' | b'\'' | b',' | b'\\')
        && quoted_name
    {
        while matches!(scan.byte(value), b'"' | b'\'' | b',' | b' ' | b'\\')
            && value - scheme_end < 12
        {
            value += 1;
        }
    }
    if value > scheme_end
        && is_any(scheme, LIST_SCHEMES)
        && scan.slice(value, value + 200).contains(&b'=')
        && !looks_random(scan.slice(value, credential_end(scan, value)))
    {
        let line_end = scan.line_end(value, 4096);
        let end = match quote {
            // The quote that opened the header closes it.
            Some(quote)
                if scan.slice(value, line_end).iter().filter(|byte| **byte == quote).count()
                    == 1 =>
            {
                value + memchr::memchr(quote, scan.slice(value, line_end)).unwrap_or(0)
            }
            _ => line_end,
        };
        if !scan.slice(value, end).windows(10).any(|window| window == b"<redacted:") {
            scan.hide(value, end, Frame::Authorization);
        }
        return;
    }
    if value > scheme_end && is_any(scheme, WORD_SCHEMES) {
        let end = credential_end(scan, value);
        let bytes = scan.slice(value, end);
        // `Basic realm="…"` is what a server asks for.
        let is_parameter = bytes.ends_with(b"=")
            && matches!(scan.byte(end), b'"' | b'\'' | b'\\')
            && bytes[..bytes.len() - 1].iter().all(u8::is_ascii_lowercase);
        if bytes.len() >= 4 && !is_placeholder(bytes) && !is_word_of_prose(bytes) && !is_parameter {
            scan.hide(value, end, Frame::Authorization);
        }
        return;
    }
    let end = credential_end(scan, start);
    // Do not search for names inside a long credential.
    if end - start > 512 {
        scan.label_end = scan.label_end.max(end);
    }
    scan.hide_if(start, end, NameClass::Strong(Frame::Authorization), super::Style::Cell);
}

fn is_word_of_prose(bytes: &[u8]) -> bool {
    let classes = Classes::of(bytes);
    classes.digit == 0
        && classes.letters() == bytes.len()
        && (classes.upper == 0 || classes.upper == 1)
        && bytes.len() < 24
}

/// Reads the credential after a scheme without its header.
pub(super) fn read_scheme(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if start > 0 && scan.byte(start - 1).is_ascii_alphanumeric() {
        return;
    }
    let value = scan.skip_blanks(end);
    let stop = credential_end(scan, value);
    let bytes = scan.slice(value, stop);
    let basic = scan.byte(start).eq_ignore_ascii_case(&b'b')
        && scan.byte(start + 1).eq_ignore_ascii_case(&b'a');
    if basic {
        if is_user_and_password(bytes) {
            scan.hide(value, stop, Frame::BasicAuth);
        }
        return;
    }
    let trimmed = bytes.strip_suffix(b".").unwrap_or(bytes);
    // `token_type=bearer expires_in=3600`: the next pair, not a credential.
    let padding = trimmed.iter().rev().take_while(|byte| **byte == b'=').count();
    let is_pair = trimmed[..trimmed.len() - padding].contains(&b'=');
    if trimmed.len() >= 12
        && !is_pair
        && !is_placeholder(trimmed)
        && memchr::memmem::find(trimmed, b"://").is_none()
        && (looks_random(trimmed) || looks_chosen(trimmed) && Classes::of(trimmed).digit > 1)
    {
        scan.hide(value, value + trimmed.len(), Frame::Authorization);
    }
}

/// Whether the bytes are base64 of `user:password`.
pub(in crate::redaction) fn is_user_and_password(bytes: &[u8]) -> bool {
    if bytes.len() < 8 || bytes.len() > 1024 {
        return false;
    }
    let trimmed = bytes.iter().rposition(|byte| *byte != b'=').map_or(0, |place| place + 1);
    let Ok(decoded) = base64::engine::general_purpose::STANDARD_NO_PAD
        .decode(&bytes[..trimmed])
        .or_else(|_| base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(&bytes[..trimmed]))
    else {
        return false;
    };
    let Some(colon) = decoded.iter().position(|byte| *byte == b':') else {
        return false;
    };
    let (user, password) = decoded.split_at(colon);
    user.len() <= 128
        && password.len() > 3
        && user.iter().all(u8::is_ascii_graphic)
        && password.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
        && !user.is_empty()
        && !password.starts_with(b"://")
}

/// Reads `name=value; name=value` at `start`.
pub(super) fn read_cookies(scan: &mut ContextScan<'_>, start: usize) {
    let mut place = start;
    while matches!(scan.byte(place), b'"' | b'\'' | b'`' | b'\\' | b' ') {
        place += 1;
    }
    for _ in 0..64 {
        place = scan.skip_blanks(place);
        let name_end = place
            + scan
                .slice(place, place + 128)
                .iter()
                .take_while(|byte| {
                    byte.is_ascii_graphic()
                        && !matches!(byte, b'=' | b';' | b'"' | b'\'' | b'<' | b'>' | b',' | b'`')
                })
                .count();
        if name_end == place || scan.byte(name_end) != b'=' {
            if name_end > place && scan.byte(name_end) == b';' {
                place = name_end + 1;
                continue;
            }
            // A single value, not a pair: `Cookie: <value>`.
            if name_end > place && looks_random(scan.slice(place, name_end)) {
                scan.hide(place, name_end, Frame::Cookie);
            }
            return;
        }
        let mut end = name_end + 1;
        loop {
            let byte = scan.byte(end);
            if byte == b'<'
                && let Some(after) = scan.marker_at(end)
            {
                end = after;
            } else if end - name_end < MAX_CREDENTIAL
                && byte.is_ascii_graphic()
                && !matches!(byte, b';' | b'"' | b'\'' | b',' | b'`' | b'\\')
            {
                end += 1;
            } else {
                break;
            }
        }
        // Cookie names are judged here; the label reader must skip them.
        scan.label_end = scan.label_end.max(end);
        let value = scan.slice(name_end + 1, end);
        let class = scan.names.classify(scan.slice(place, name_end));
        let telling = !matches!(class, NameClass::Plain) && value.len() >= 6;
        if !is_placeholder(value)
            && (telling || value.len() >= 16 && looks_random(value))
            && !is_attribute(scan.slice(place, name_end))
        {
            scan.hide(name_end + 1, end, Frame::Cookie);
        }
        if scan.byte(end) != b';' {
            return;
        }
        place = end + 1;
    }
}

fn is_attribute(name: &[u8]) -> bool {
    is_any(
        name,
        &["path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority"],
    )
}
