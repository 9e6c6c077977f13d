//! A name and a value with only spaces between: a flag, an `ENV` line, a netrc
//! entry, a column, or the middle of a sentence.

mod between;

use super::assignment::{skip_continuation, special};
use super::label::Label;
use super::reading::{self, Ends, ValueSpan};
use super::{ContextScan, Style};
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;
use crate::redaction::text::value::{
    Classes, is_code, is_placeholder, is_word, looks_chosen, looks_random,
};

/// Maximum number of bytes that are read of a line before a name.
const MAX_HEAD: usize = 384;

/// Words before a name and its value.
const SETTERS: &[&[u8]] = &[
    b"ENV",
    b"ARG",
    b"setenv",
    b"-gx",
    b"-Ux",
    b"-x",
    b"proxy_set_header",
    b"fastcgi_param",
    b"#define",
    b"setx",
    b"configure set",
    b"config set",
    b"secrets set",
    b"secret set",
    b"config add",
];

/// Commands that store a value under a name.
const CONFIGURES: &[&[u8]] = &[
    b"git config",
    b"npm config",
    b"pulumi config",
    b"yarn config",
    b"pip config",
    b"aws configure",
    b"nmcli",
    b"adb shell am",
    b"consul kv put",
    b"etcdctl put",
    b"launchctl setenv",
    b"wp config set",
    b"wp option",
    b"bundle config",
    b"composer config",
    b"poetry config",
    b"gcloud config",
    b"defaults write",
    b"gsettings set",
    b"dconf write",
];

/// Whether a line, after a prompt, begins with one of these commands.
fn starts_with_any(head: &[u8], commands: &[&[u8]]) -> bool {
    let start = head.iter().take(4).position(u8::is_ascii_alphabetic);
    start.is_some_and(|start| commands.iter().any(|command| head[start..].starts_with(command)))
}

/// Reads the value after the spaces; returns whether there is one.
pub(super) fn read(scan: &mut ContextScan<'_>, label: &Label, after: usize, gap: usize) -> bool {
    let start = skip_continuation(scan, after);
    if let Some(value) = said(scan, start) {
        if between::read(scan, label, start) {
            return true;
        }
        if !special(scan, label, value)
            && let Some(value) = reading::value(scan, value, Ends::Prose)
        {
            hide_said(scan, label, value);
        }
        return true;
    }
    if between::read(scan, label, start) {
        return true;
    }
    // `DefaultPassword    REG_SZ    value`
    let start = match scan.slice(start, start + 4) {
        b"REG_" => {
            let kind = scan.slice(start, start + 16).iter().take_while(|byte| **byte != b' ');
            scan.skip_blanks(start + kind.count())
        }
        _ => start,
    };
    let Some(value) = reading::value(scan, start, Ends::Loose) else {
        return false;
    };
    let line = scan.line_start(label.start, MAX_HEAD);
    let head = scan.slice(line, label.start);
    // In an escaped string the line begins after the last `\n`.
    let head = after_escaped_break(head);
    let bytes = scan.slice(value.start, value.end);
    if is_setting(scan, label, line, head) {
        // `--secret dbPassword …`: the name of the value that follows.
        let is_name = label.flag
            && is_word(bytes)
            && scan.byte(value.end) == b' '
            && matches!(scan.names.classify(bytes), NameClass::Strong(_));
        // `Matrix requires --password when using --user-id`
        if is_name || label.flag && !value.quoted && continues_sentence(bytes) {
            return true;
        }
        if (scan.byte(value.start) != b'-' || value.quoted) && !is_option_list(bytes) {
            // Only a quoted value can contain several words.
            let several = value.quoted && bytes.contains(&b' ');
            let password = NameClass::Strong(Frame::Password);
            if several && label.flag && label.class == password && !is_placeholder(bytes) {
                scan.hide(value.start, value.end, label.frame);
            } else {
                let style = if several { Style::Quoted } else { Style::Machine };
                scan.hide_if(value.start, value.end, label.class, style);
            }
        }
        return true;
    }
    let strong = matches!(label.class, NameClass::Strong(_));
    // `PASSWORD 'secret'`, `:password "secret"`
    if value.quoted
        && strong
        && bytes.len() >= 6
        && (looks_chosen(bytes) || looks_random(bytes))
        && !is_code(bytes)
    {
        scan.hide_if(value.start, value.end, label.class, Style::Quoted);
        return true;
    }
    let tail = scan.slice(value.end, scan.line_end(value.end, 256)).trim_ascii();
    if !tail.is_empty() && !tail.starts_with(b"\\n") && !tail.starts_with(b"\\r") {
        if strong && gap == 1 && !value.quoted {
            in_sentence(scan, label, value);
        }
        return false;
    }
    last_on_line(scan, label, value, (gap, after), head);
    true
}

/// `use password … to log in`, `the secret (…) must not leak`: a value in the middle
/// of a sentence, recognised by its form alone.
fn in_sentence(scan: &mut ContextScan<'_>, label: &Label, value: ValueSpan) {
    let opens = scan.byte(value.start) == b'(';
    let start = value.start + usize::from(opens);
    let bytes = scan.slice(start, value.end);
    let length = bytes.iter().position(|byte| matches!(byte, b')' | b',' | b'('));
    let bytes = &bytes[..length.unwrap_or(bytes.len())];
    let is_password = matches!(label.frame, Frame::Password | Frame::Passphrase);
    let classes = Classes::of(bytes);
    let is_secret = is_password && is_strong_password(bytes)
        || looks_random(bytes) && classes.digit > 1 && classes.upper > 1 && classes.lower > 1;
    if is_secret {
        scan.hide_if(start, start + bytes.len(), label.class, Style::Prose);
    }
}

/// Judges a value that a sentence gives, and hides it.
fn hide_said(scan: &mut ContextScan<'_>, label: &Label, value: ValueSpan) {
    if is_quoted_password(scan, label, value) {
        scan.hide(value.start, value.end, label.frame);
    } else {
        let style = if value.quoted { Style::Cell } else { Style::Prose };
        scan.hide_if(value.start, value.end, label.class, style);
    }
}

/// `the password is 'willow'`: a word in quotes that a sentence gives as a password,
/// and that is not what the sentence says about passwords.
fn is_quoted_password(scan: &ContextScan<'_>, label: &Label, value: ValueSpan) -> bool {
    const STATES: &[&[u8]] = &[
        b"incorrect",
        b"wrong",
        b"weak",
        b"strong",
        b"correct",
        b"stored",
        b"encrypted",
        b"hashed",
        b"blank",
        b"protected",
        b"the",
        b"too",
        b"used",
        b"saved",
        b"safe",
    ];
    let bytes = scan.slice(value.start, value.end);
    matches!(label.class, NameClass::Strong(Frame::Password | Frame::Passphrase))
        && !label.quoted
        && value.quoted
        && (4..=24).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_lowercase)
        && !is_placeholder(bytes)
        && !STATES.contains(&bytes)
}

/// Whether a word after a flag shows that a sentence is about the flag.
fn continues_sentence(word: &[u8]) -> bool {
    const WORDS: &[&[u8]] = &[
        b"when", b"for", b"or", b"and", b"to", b"if", b"is", b"in", b"with", b"instead", b"must",
        b"can", b"flag", b"option", b"using", b"on", b"as", b"was", b"are", b"from",
    ];
    WORDS.contains(&word)
}

/// What follows the last `\n` of an escaped string. Most strings have no backslash,
/// which a search for one byte shows quickly.
fn after_escaped_break(head: &[u8]) -> &[u8] {
    let mut breaks = memchr::memrchr_iter(b'\\', head);
    let last = breaks.find(|place| head.get(place + 1) == Some(&b'n'));
    last.and_then(|place| head.get(place + 2..)).unwrap_or(head)
}

/// A value that ends its line.
fn last_on_line(
    scan: &mut ContextScan<'_>,
    label: &Label,
    value: ValueSpan,
    (gap, after): (usize, usize),
    head: &[u8],
) {
    let bytes = scan.slice(value.start, value.end);
    let strong = matches!(label.class, NameClass::Strong(_));
    let leads = head.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'|'));
    if gap >= 2 || scan.byte(after.wrapping_sub(1)) == b'\t' {
        if leads {
            scan.hide_if(value.start, value.end, label.class, Style::Cell);
        }
        return;
    }
    let name = scan.slice(label.start, label.end);
    // A line of a protocol or of settings: `PASS secret`, `requirepass secret`.
    let sent = label.quoted || head.trim_ascii_end().ends_with(b">") || head.ends_with(b"C: ");
    // `set passwd secret` of a device, `log in with user ops and password secret`
    let sent = sent || head.trim_ascii() == b"set" || names_user(head);
    let protocol = (leads || sent)
        && bytes.len() >= 6
        && looks_chosen(bytes)
        && (matches!(name, b"PASS" | b"AUTH" | b"Pass")
            || (strong && label.frame == Frame::Password && bytes.iter().any(u8::is_ascii_digit)));
    if protocol {
        scan.hide_if(value.start, value.end, NameClass::Strong(Frame::Password), Style::Cell);
    } else if strong
        && (bytes.len() >= 16 && looks_random(bytes)
            || label.frame == Frame::Password && is_strong_password(bytes))
    {
        scan.hide_if(value.start, value.end, label.class, Style::Prose);
    }
}

/// Whether the words before a name give a user: `with user ops and`.
fn names_user(head: &[u8]) -> bool {
    let Some(head) = head.strip_suffix(b" and ").or_else(|| head.strip_suffix(b", ")) else {
        return false;
    };
    let mut words = head.rsplit(|byte| *byte == b' ');
    let (Some(_), Some(before)) = (words.next(), words.next()) else { return false };
    [&b"user"[..], b"username", b"login", b"account", b"as"]
        .iter()
        .any(|word| before.eq_ignore_ascii_case(word))
}

/// Ten or more letters of both cases and digits, in no order that a name has.
pub(super) fn is_strong_password(bytes: &[u8]) -> bool {
    let classes = Classes::of(bytes);
    let changes = bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    bytes.len() >= 10
        && classes.space == 0
        && classes.upper > 1
        && classes.lower > 1
        && classes.digit > 0
        && (changes > 2 || classes.other > 0)
}

/// Whether the line assigns the value to the name.
fn is_setting(scan: &ContextScan<'_>, label: &Label, line: usize, head: &[u8]) -> bool {
    label.flag
        || starts_with_any(head, CONFIGURES)
        || ends_with_any(head, SETTERS)
        || (label.frame == Frame::Password
            && (is_netrc(head) || head.trim_ascii().is_empty() && netrc_above(scan, line)))
}

/// `machine h login user` or `username user` before the name.
fn is_netrc(head: &[u8]) -> bool {
    let mut words = head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).rev();
    let (_, Some(before)) = (words.next(), words.next()) else {
        return false;
    };
    let named = before.eq_ignore_ascii_case(b"login") || before.eq_ignore_ascii_case(b"username");
    named
        && (words.next().is_none()
            || contains_word(head, b"machine")
            || first_word(head) == b"default")
}

/// `id=npmrc,src=…`: options of a flag; each is judged by its own name.
fn is_option_list(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    (1..12).contains(&name)
        && bytes.get(name) == Some(&b'=')
        && bytes.get(name + 1).is_some_and(|byte| *byte != b'=')
}

/// Skips `is`, `was` or `set to` between a name and its value.
fn said(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    const WORDS: &[&str] = &[
        "ay ", "is now ", "is: ", "is ", "are: ", "are ", "was ", "will be ", "set to ", "= ",
        "-> ", "equals ", "ist ", "lautet ", "est ", "es ", "è ", "é ",
    ];
    let rest = scan.slice(place, place + 16);
    // Most words begin with another letter.
    if !matches!(
        rest.first()?,
        b'a' | b'A'
            | b'e'
            | b'E'
            | b'i'
            | b'I'
            | b'l'
            | b'L'
            | b's'
            | b'S'
            | b'w'
            | b'W'
            | b'='
            | b'-'
            | 0xc3
    ) {
        return None;
    }
    WORDS
        .iter()
        .find(|word| {
            rest.len() > word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes())
        })
        .map(|word| place + word.len())
}

/// Whether the last word before the blanks at the end of `head` is one of `words`.
fn ends_with_any(head: &[u8], words: &[&[u8]]) -> bool {
    let head = head.trim_ascii_end();
    let small = |text: &[u8]| text.last().map(u8::to_ascii_lowercase);
    let last = small(head);
    let ends_with = |word: &&[u8]| {
        small(word) == last
            && head.len() >= word.len()
            && head[head.len() - word.len()..].eq_ignore_ascii_case(word)
            && head
                .len()
                .checked_sub(word.len() + 1)
                .is_none_or(|place| !head[place].is_ascii_alphanumeric())
    };
    words.iter().any(ends_with)
}

fn contains_word(head: &[u8], word: &[u8]) -> bool {
    // In a diff or a string, a sign may precede the word.
    head.split(|byte| !byte.is_ascii_alphanumeric()).any(|piece| piece.eq_ignore_ascii_case(word))
}

fn first_word(head: &[u8]) -> &[u8] {
    head.split(|byte| !byte.is_ascii_alphanumeric())
        .find(|word| !word.is_empty())
        .unwrap_or_default()
}

/// Whether one of the lines above is a netrc entry.
fn netrc_above(scan: &ContextScan<'_>, line: usize) -> bool {
    let above = scan.slice(line.saturating_sub(160), line);
    contains_word(above, b"machine") || contains_word(above, b"login")
}
