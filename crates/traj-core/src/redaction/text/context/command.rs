//! Commands that take a secret as an argument.

mod piped;
mod sql;
mod table;

pub(super) use self::table::commands;
use self::table::{ARGUMENTS, Form, PIPED, WORDS};
use super::ContextScan;
use super::judge::is_user_key;
use super::reading::{self, Ends};
use crate::redaction::rule::Frame;
use crate::redaction::text::files;
use crate::redaction::text::value::{is_code, is_placeholder, is_word, looks_chosen};

/// Maximum number of bytes of a command line to search.
const MAX_LINE: usize = 2048;

/// Reads the arguments of the command at `start..end`.
pub(super) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if files::is_prose(scan, start, end) {
        return;
    }
    if start > 0 && (scan.byte(start - 1).is_ascii_alphanumeric() && scan.byte(start) != b'-') {
        return;
    }
    let command = scan.slice(start, end).to_ascii_lowercase();
    match command.as_slice() {
        _ if PIPED.iter().any(|piped| piped.as_bytes() == command) => {
            return piped::read(scan, start);
        }
        b"send \"" => return read_sent(scan, start, end),
        b"net use " => return mapped_drive(scan, end),
        b"sqlplus" | b"oracle:thin:" | b"expdp" | b"impdp" | b"sqlldr" | b"rman target" => {
            return slashed(scan, end);
        }
        b"curlopt_userpwd" | b"curlopt_proxyuserpwd" => return user_pair(scan, end),
        b"--from-literal" => return from_literal(scan, start, end),
        b"convertto-securestring" => return secure_string(scan, end),
        _ if command.starts_with(b"identified") => return sql::read_identified(scan, end),
        _ => {}
    }
    if let Some((_, number)) = WORDS.iter().find(|(words, _)| words.as_bytes() == command) {
        return nth_word(scan, end, *number);
    }
    // One pass per line: the first command on a line reads all of it.
    if start < scan.line_done {
        return;
    }
    let line_end = command_end(scan, end);
    let needs_login = matches!(
        command.as_slice(),
        b"docker" | b"podman" | b"helm" | b"nerdctl" | b"buildah" | b"skopeo"
    );
    if needs_login
        && !scan.slice(end, (end + 40).min(line_end)).windows(5).any(|window| window == b"login")
    {
        return;
    }
    scan.line_done = line_end;
    // The keyword may include the space after the command.
    let mut place = if command.ends_with(b" ") { end - 1 } else { end };
    while place < line_end {
        let gap = scan.byte(place);
        if !matches!(gap, b' ' | b'\t' | b'\n' | b'"' | b'\'' | b',' | 0) {
            place += 1;
            continue;
        }
        place += 1;
        if !matches!(scan.byte(place), b'-' | b'/') {
            continue;
        }
        for (name, flag, form) in ARGUMENTS {
            if command != name.as_bytes() {
                continue;
            }
            if scan.slice(place, place + flag.len()) == flag.as_bytes() {
                argument(scan, place + flag.len(), *form);
            }
        }
    }
}

/// Where a command ends: at the end of its line (after any continuations) or at
/// `|`, `;` or `&&`.
fn command_end(scan: &ContextScan<'_>, start: usize) -> usize {
    let limit = (start + MAX_LINE).min(scan.text.len());
    let mut place = start;
    while place < limit {
        match scan.byte(place) {
            b'\n' | b'\r' if scan.byte(place.wrapping_sub(1)) != b'\\' => break,
            b'|' | b';' if matches!(scan.byte(place + 1), b' ') => break,
            b'&' if scan.byte(place + 1) == b'&' => break,
            _ => place += 1,
        }
    }
    place
}

fn argument(scan: &mut ContextScan<'_>, after: usize, form: Form) {
    let separated = matches!(scan.byte(after), b' ' | b'=' | b'\t' | 0)
        || matches!(scan.byte(after), b'"' | b'\'') && matches!(scan.byte(after + 1), b',' | b' ');
    let start = {
        let mut place = after;
        if matches!(form, Form::Glued | Form::GluedPair) {
            place
        } else {
            if !separated && !matches!(form, Form::Second | Form::AfterUser) {
                return;
            }
            if matches!(form, Form::Second | Form::AfterUser) {
                // `-bc file`: skip the other letters of the flag.
                while scan.byte(place).is_ascii_alphabetic() {
                    place += 1;
                }
            }
            while matches!(scan.byte(place), b' ' | b'=' | b'\t')
                || scan.byte(place) == 0 && place < scan.text.len()
                || matches!(scan.byte(place), b'"' | b'\'' | b',')
                    && matches!(scan.byte(place + 1), b',' | b' ')
            {
                place += 1;
            }
            place
        }
    };
    if matches!(form, Form::Glued | Form::GluedPair)
        && (separated || !scan.byte(start).is_ascii_graphic())
    {
        return;
    }
    if matches!(form, Form::Second | Form::AfterUser) {
        // file user secret
        let mut place = start;
        for _ in 0..if matches!(form, Form::Second) { 2 } else { 1 } {
            place += scan
                .slice(place, place + 256)
                .iter()
                .take_while(|byte| byte.is_ascii_graphic())
                .count();
            place = scan.skip_blanks(place);
        }
        take(scan, place, Form::Next);
        return;
    }
    take(scan, start, form);
}

fn take(scan: &mut ContextScan<'_>, start: usize, form: Form) {
    if matches!(form, Form::Comma) {
        let word = scan.slice(start, start + 256);
        let length = word.iter().take_while(|byte| byte.is_ascii_graphic()).count();
        let comma = memchr::memchr(b',', &word[..length]);
        if let Some(comma) = comma.filter(|comma| !is_placeholder(&word[comma + 1..length])) {
            scan.hide(start + comma + 1, start + length, Frame::CommandPassword);
        }
        return;
    }
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return;
    };
    let bytes = scan.slice(value.start, value.end);
    if !value.quoted && bytes.windows(2).any(|pair| pair == b"::") {
        return;
    }
    let (skip, bytes) = match form {
        Form::Pair | Form::GluedPair => match colon_of(scan, value.start, bytes) {
            // `-u "key:"`: a key in place of the user, with an empty password.
            Some(colon) if colon + 1 == bytes.len() && is_user_key(&bytes[..colon]) => {
                scan.hide(value.start, value.start + colon, Frame::CommandPassword);
                return;
            }
            Some(colon) => (colon + 1, &bytes[colon + 1..]),
            // `-A bearer -a token`
            None if is_user_key(bytes) => (0, bytes),
            None => return,
        },
        Form::Percent => match bytes.iter().position(|byte| *byte == b'%') {
            Some(sign) => (sign + 1, &bytes[sign + 1..]),
            None => return,
        },
        Form::Prefixed => match bytes.strip_prefix(b"pass:") {
            Some(rest) => (5, rest),
            None => return,
        },
        _ => (0, bytes),
    };
    if bytes.is_empty() || is_placeholder(bytes) || bytes.starts_with(b"-") && !value.quoted {
        return;
    }
    if matches!(form, Form::Next | Form::Glued)
        && !value.quoted
        && (is_word(bytes) && !looks_chosen(bytes) && matches!(form, Form::Glued) || is_code(bytes))
    {
        return;
    }
    if matches!(form, Form::Next | Form::Glued)
        && bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b':')
        && bytes.len() < 6
    {
        return;
    }
    scan.hide(value.start + skip, value.end, Frame::CommandPassword);
}

/// The colon of `user:secret`; the user may be a marker.
fn colon_of(scan: &ContextScan<'_>, start: usize, bytes: &[u8]) -> Option<usize> {
    let skipped = scan.marker_at(start).map_or(0, |end| end - start);
    memchr::memchr(b':', bytes.get(skipped..)?).map(|colon| skipped + colon)
}

/// `expect "assword:" { send "secret\r" }`.
fn read_sent(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let before = scan.slice(start.saturating_sub(48), start);
    if !before.windows(7).any(|window| {
        window.eq_ignore_ascii_case(b"assword") || window.eq_ignore_ascii_case(b"sphrase")
    }) {
        return;
    }
    let length = scan
        .slice(end, end + 128)
        .iter()
        .take_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'))
        .count();
    let bytes = scan.slice(end, end + length);
    if !is_placeholder(bytes) {
        scan.hide(end, end + length, Frame::CommandPassword);
    }
}

/// The word with this number after a command, without options:
/// `net user name secret /add`.
fn nth_word(scan: &mut ContextScan<'_>, end: usize, number: usize) {
    let mut place = scan.skip_blanks(end);
    let line_end = scan.line_end(place, 512);
    let mut seen = 1;
    while seen < number && place < line_end {
        let length =
            scan.slice(place, line_end).iter().take_while(|byte| byte.is_ascii_graphic()).count();
        if scan.byte(place) != b'-' {
            seen += 1;
        }
        place = scan.skip_blanks(place + length.max(1));
    }
    // `rootpw --plaintext …`
    let mut skips = 0;
    while scan.byte(place) == b'-' && skips < 4 {
        let length =
            scan.slice(place, line_end).iter().take_while(|byte| byte.is_ascii_graphic()).count();
        place = scan.skip_blanks(place + length.max(1));
        skips += 1;
    }
    // `secret 0 …`: the digit states how a device stores the value.
    if scan.byte(place).is_ascii_digit() && scan.byte(place + 1) == b' ' {
        place = scan.skip_blanks(place + 2);
    }
    if place >= line_end {
        return;
    }
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        let bytes = scan.slice(value.start, value.end);
        let is_pair = skips > 0
            && bytes.trim_ascii_end().split_last().is_some_and(|(_, head)| head.contains(&b'='));
        if looks_chosen(bytes) && !bytes.starts_with(b"/") && !is_placeholder(bytes) && !is_pair {
            scan.hide(value.start, value.end, Frame::CommandPassword);
        }
    }
}

/// `net use Z: \\\\host\\share /user:name secret`.
fn mapped_drive(scan: &mut ContextScan<'_>, end: usize) {
    let line_end = scan.line_end(end, 512);
    if let Some(user) = memchr::memmem::find(scan.slice(end, line_end), b"/user:") {
        nth_word(scan, end + user, 2);
    }
    // `net use Z: \\host\share secret /user:name`
    let share = memchr::memmem::find(scan.slice(end, line_end), b"\\\\");
    if let Some(share) = share {
        nth_word(scan, end + share, 2);
    }
}

/// `user/secret@host` after `sqlplus` or in an Oracle URL.
fn slashed(scan: &mut ContextScan<'_>, end: usize) {
    let start = scan.skip_blanks(end);
    let word = scan.slice(start, start + 256);
    let user =
        word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if user == 0 || word.get(user) != Some(&b'/') {
        return;
    }
    let first = start + user + 1;
    let length = scan
        .slice(first, first + 256)
        .iter()
        .take_while(|byte| byte.is_ascii_graphic() && !matches!(byte, b'@' | b'"' | b'\''))
        .count();
    let bytes = scan.slice(first, first + length);
    if scan.byte(first + length) == b'@' && !is_placeholder(bytes) {
        scan.hide(first, first + length, Frame::CommandPassword);
    }
}

/// `ConvertTo-SecureString "secret"`.
fn secure_string(scan: &mut ContextScan<'_>, end: usize) {
    let mut place = scan.skip_blanks(end);
    if scan.slice(place, place + 7).eq_ignore_ascii_case(b"-string") {
        place = scan.skip_blanks(place + 7);
    }
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        let bytes = scan.slice(value.start, value.end);
        if value.quoted && !is_placeholder(bytes) {
            scan.hide(value.start, value.end, Frame::CommandPassword);
        }
    }
}

/// `CURLOPT_USERPWD, "user:secret"`.
fn user_pair(scan: &mut ContextScan<'_>, end: usize) {
    let mut place = scan.skip_blanks(end);
    if scan.slice(place, place + 2) == b"=>" {
        place += 1;
    }
    if !matches!(scan.byte(place), b',' | b'>' | b':' | b'=') {
        return;
    }
    if let Some(value) = reading::quoted_value(scan, scan.skip_blanks(place + 1)) {
        take(scan, value.start, Form::Pair);
    }
}

/// `create secret generic name --from-literal=key=secret`.
fn from_literal(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    let line = scan.line_start(start, 512);
    if memchr::memmem::find(scan.slice(line, start), b"secret").is_none() {
        return;
    }
    let first = match scan.byte(end) {
        b'=' | b' ' => end + 1,
        _ => return,
    };
    let first = first + usize::from(matches!(scan.byte(first), b'"' | b'\''));
    let word = scan.slice(first, first + 64);
    let Some(sign) = memchr::memchr(b'=', word) else { return };
    if let Some(value) = reading::value(scan, first + sign + 1, Ends::Loose) {
        let bytes = scan.slice(value.start, value.end);
        if !is_placeholder(bytes) && (looks_chosen(bytes) || bytes.len() >= 20) {
            scan.hide(value.start, value.end, Frame::CommandPassword);
        }
    }
}
