//! Commands that take a secret as an argument.

use super::reading::{self, Ends};
use super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{is_code, is_placeholder, is_word, looks_chosen};

/// How an argument carries the secret.
#[derive(Clone, Copy)]
enum Form {
    /// `-p secret`
    Next,
    /// `-psecret`
    Glued,
    /// `-u user:secret`
    Pair,
    /// `-U user%secret`
    Percent,
    /// `-b user secret`
    Second,
    /// `-passin pass:secret`
    Prefixed,
}

/// Command, flag, form.
const ARGUMENTS: &[(&str, &str, Form)] = &[
    ("curl", "-u", Form::Pair),
    ("curl", "--user", Form::Pair),
    ("curl", "-U", Form::Pair),
    ("curl", "--proxy-user", Form::Pair),
    ("http ", "-a", Form::Pair),
    ("http ", "--auth", Form::Pair),
    ("wget", "--http-passwd", Form::Next),
    ("docker", "-p", Form::Next),
    ("podman", "-p", Form::Next),
    ("helm", "-p", Form::Next),
    ("sshpass", "-p", Form::Next),
    ("sshpass", "-p", Form::Glued),
    ("mysql", "-p", Form::Glued),
    ("mariadb", "-p", Form::Glued),
    ("mongo", "-p", Form::Next),
    ("redis-cli", "-a", Form::Next),
    ("redis-cli", "--pass", Form::Next),
    ("ldap", "-w", Form::Next),
    ("htpasswd", "-b", Form::Second),
    ("openssl", "-passin", Form::Prefixed),
    ("openssl", "-passout", Form::Prefixed),
    ("openssl", "-pass", Form::Prefixed),
    ("openssl", "-k", Form::Next),
    ("smbclient", "-U", Form::Percent),
    ("az login", "-p", Form::Next),
    ("gh secret set", "--body", Form::Next),
    ("gh secret set", "-b", Form::Next),
    ("useradd", "-p", Form::Next),
    ("7z ", "-p", Form::Glued),
    ("zip ", "-P", Form::Next),
    ("gpg ", "--passphrase", Form::Next),
    ("xfreerdp", "/p:", Form::Glued),
    ("psexec", "-p", Form::Next),
];

/// How much of a command line is looked through.
const MAX_LINE: usize = 2048;

/// Reads the arguments of the command at `start..end`.
pub(super) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if start > 0 && (scan.byte(start - 1).is_ascii_alphanumeric() && scan.byte(start) != b'-') {
        return;
    }
    let command = scan.slice(start, end).to_ascii_lowercase();
    match command.as_slice() {
        b"-stdin" | b"chpasswd" | b"sudo -s" => return read_piped(scan, start),
        b"send \"" => return read_sent(scan, start, end),
        b"net user" => return second_word(scan, end),
        b"net use " => return mapped_drive(scan, end),
        b"sqlplus" | b"oracle:thin:" => return slashed(scan, end),
        b"convertto-securestring" => return secure_string(scan, end),
        _ if command.starts_with(b"identified") => return read_identified(scan, end),
        _ => {}
    }
    // One pass a line: the command that comes first reads it.
    if start < scan.line_done {
        return;
    }
    let line_end = command_end(scan, end);
    let needs_login = matches!(command.as_slice(), b"docker" | b"podman" | b"helm");
    if needs_login
        && !scan.slice(end, (end + 40).min(line_end)).windows(5).any(|window| window == b"login")
    {
        return;
    }
    scan.line_done = line_end;
    let mut place = end;
    while place < line_end {
        let gap = scan.byte(place);
        if !matches!(gap, b' ' | b'\t' | b'\n' | b'"' | b'\'' | b',') {
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

/// The end of a command: its line, continuations included, or a pipe.
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
    let separated = matches!(scan.byte(after), b' ' | b'=' | b'\t')
        || matches!(scan.byte(after), b'"' | b'\'') && matches!(scan.byte(after + 1), b',' | b' ');
    let start = {
        let mut place = after;
        if matches!(form, Form::Glued) {
            place
        } else {
            if !separated && !matches!(form, Form::Second) {
                return;
            }
            if matches!(form, Form::Second) {
                // `-bc file`: more letters of the flag.
                while scan.byte(place).is_ascii_alphabetic() {
                    place += 1;
                }
            }
            while matches!(scan.byte(place), b' ' | b'=' | b'\t')
                || matches!(scan.byte(place), b'"' | b'\'' | b',')
                    && matches!(scan.byte(place + 1), b',' | b' ')
            {
                place += 1;
            }
            place
        }
    };
    if matches!(form, Form::Glued) && (separated || !scan.byte(start).is_ascii_graphic()) {
        return;
    }
    if matches!(form, Form::Second) {
        // file user secret
        let mut place = start;
        for _ in 0..2 {
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
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return;
    };
    let bytes = scan.slice(value.start, value.end);
    if !value.quoted && bytes.windows(2).any(|pair| pair == b"::") {
        return;
    }
    let (skip, bytes) = match form {
        Form::Pair => match bytes.iter().position(|byte| *byte == b':') {
            Some(colon) => (colon + 1, &bytes[colon + 1..]),
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

/// `echo 'secret' | login --password-stdin`.
fn read_piped(scan: &mut ContextScan<'_>, start: usize) {
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
    if scan.slice(place, place + 4) == b"'%s'" {
        place = scan.skip_blanks(place + 4);
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

/// `IDENTIFIED BY 'secret'`, `IDENTIFIED WITH plugin BY 'secret'`.
fn read_identified(scan: &mut ContextScan<'_>, end: usize) {
    let line_end = scan.line_end(end, 256);
    let rest = scan.slice(end, line_end);
    let Some(quote) = memchr::memchr2(b'\'', b'"', rest) else {
        return;
    };
    let mut place = end + quote;
    // The plugin's name may be quoted as well.
    if let Some(by) =
        memchr::memmem::find(rest, b" BY ").or_else(|| memchr::memmem::find(rest, b" by "))
    {
        place = scan.skip_blanks(end + by + 4);
    }
    if scan.byte(place.wrapping_sub(1)) == b'\\' {
        place -= 1;
    }
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Data);
    }
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

/// `net user name secret /add`.
fn second_word(scan: &mut ContextScan<'_>, end: usize) {
    let mut place = scan.skip_blanks(end);
    place +=
        scan.slice(place, place + 64).iter().take_while(|byte| byte.is_ascii_graphic()).count();
    place = scan.skip_blanks(place);
    if let Some(value) = reading::value(scan, place, Ends::Loose) {
        let bytes = scan.slice(value.start, value.end);
        if looks_chosen(bytes) && !bytes.starts_with(b"/") && !is_placeholder(bytes) {
            scan.hide(value.start, value.end, Frame::CommandPassword);
        }
    }
}

/// `net use Z: \\\\host\\share /user:name secret`.
fn mapped_drive(scan: &mut ContextScan<'_>, end: usize) {
    let line_end = scan.line_end(end, 512);
    if let Some(user) = memchr::memmem::find(scan.slice(end, line_end), b"/user:") {
        second_word(scan, end + user);
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
