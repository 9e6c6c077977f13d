//! One-time codes in messages: `482913 is your login code`, `Your code is 482913`,
//! `Verification code: 482 913`, `Use code 482913 to sign in`.

use super::ContextScan;
use super::label::Label;
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;

/// Most bytes between a code and the words that name it.
const MAX_BETWEEN: usize = 72;
/// Most words between a code and its name.
const MOST_WORDS: usize = 3;
/// Maximum length of a code with its separator, in bytes.
const LONGEST: usize = 9;

/// Whether the name says what a code is for: `login code`, not just `code`.
fn is_qualified(label: &Label) -> bool {
    label.class == NameClass::Strong(Frame::OneTimeCode)
}

/// The length of the code at the start of a text: four to eight digits, or two
/// groups of three.
fn code_length(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let grouped = digits == 3 && matches!(text.get(3), Some(b' ' | b'-'));
    let second = text.get(4..).unwrap_or_default();
    let length = if grouped && second.iter().take_while(|byte| byte.is_ascii_digit()).count() == 3 {
        7
    } else if (4..=8).contains(&digits) {
        digits
    } else {
        return None;
    };
    let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'/' | b'%');
    // `482913.` may end the sentence, `4829.13` is a number.
    let is_end = match text.get(length..) {
        Some([b'.' | b',' | b'-' | b':', next, ..]) => !next.is_ascii_alphanumeric(),
        Some([next, ..]) => ends(next),
        _ => true,
    };
    is_end.then_some(length)
}

/// Reads the code before its name: `482913 is your larch login code`. Returns whether
/// there is one.
pub(super) fn before(scan: &mut ContextScan<'_>, label: &Label) -> bool {
    const LINKS: &[&[u8]] = &[b" is your ", b" as your ", b" is the ", b" as the ", b" is my "];
    if !is_qualified(label) {
        return false;
    }
    let floor = label.start.saturating_sub(MAX_BETWEEN);
    let head = scan.slice(floor, label.start);
    let link = LINKS.iter().filter_map(|link| {
        let place = memchr::memmem::rfind(head, link)?;
        Some((place, place + link.len()))
    });
    let Some((end, words)) = link.max() else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-');
    let between = &head[words..];
    let spaces = memchr::memchr_iter(b' ', between).count();
    if spaces > MOST_WORDS || !between.iter().all(is_name) {
        return false;
    }
    let Some(start) = code_before(&head[..end]) else { return false };
    scan.hide(floor + start, floor + end, Frame::OneTimeCode);
    true
}

/// Where the code begins that a text ends with.
fn code_before(head: &[u8]) -> Option<usize> {
    let end = head.len();
    let digits = head.iter().rev().take(LONGEST);
    let digits = digits.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'));
    let run = &head[end - digits.count()..end];
    // `G-482913`, `Use 482913`: the code begins with its first digit.
    let start = end - run.len() + run.iter().position(u8::is_ascii_digit)?;
    let is_begin = start.checked_sub(1).and_then(|place| head.get(place)).is_none_or(|byte| {
        !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b',' | b'/' | b'_')
    });
    (is_begin && code_length(&head[start..end]) == Some(end - start)).then_some(start)
}

/// What a code is for. A code before these words is a one-time code if a request to
/// type it comes before it.
pub(super) const PURPOSES: &[&str] =
    &["to sign in", "to log in", "to login", "to verify y", "to confirm y", "to authenticate"];

/// What follows a code right after the word `code`.
const BEHIND_CODE: &[&[u8]] = &[
    b"to sign",
    b"to log",
    b"to verify",
    b"to confirm",
    b"to authenticate",
    b"to authorize",
    b"to authorise",
    b"to approve",
    b"to complete",
    b"to finish",
    b"to access",
    b"to unlock",
    b"to activate",
    b"to continue",
    b"to proceed",
    b"to register",
    b"to reset",
    b"to pair",
    b"to link",
    b"to prove",
    b"for sign-in",
    b"for login",
    b"for verification",
    b"for two-factor",
    b"for 2fa",
    b"when prompted",
    b"when asked",
    b"on the login",
    b"on the sign-in",
    b"on the verification",
    b"at the prompt",
];

/// Whether a text after a code says what the code is for.
fn says_purpose(text: &[u8]) -> bool {
    let text = text.iter().position(|byte| !b"\"'`*,) ".contains(byte)).map(|at| &text[at..]);
    text.is_some_and(|text| {
        BEHIND_CODE.iter().any(|purpose| {
            text.get(..purpose.len()).is_some_and(|head| head.eq_ignore_ascii_case(purpose))
        })
    })
}

/// Reads the code before its purpose: `enter 482 913 to verify your account`.
pub(super) fn before_purpose(scan: &mut ContextScan<'_>, start: usize) {
    const REQUESTS: &[&[u8]] = &[b"enter", b"type", b"use", b"input", b"submit"];
    let floor = start.saturating_sub(MAX_BETWEEN);
    let head = scan.slice(floor, start);
    let Some(head) = head.strip_suffix(b" ") else { return };
    let is_end = |byte: &u8| !b"\"'`*,".contains(byte);
    let head = &head[..head.iter().rposition(is_end).map_or(0, |last| last + 1)];
    if !head.last().is_some_and(u8::is_ascii_digit) {
        return;
    }
    let Some(first) = code_before(head) else { return };
    let words = head[..first].trim_ascii_end();
    let words = words.strip_suffix(b"\"").or_else(|| words.strip_suffix(b"'")).unwrap_or(words);
    let word = words.trim_ascii_end().rsplit(|byte| !byte.is_ascii_alphabetic()).next();
    let is_asked =
        REQUESTS.iter().any(|request| word.is_some_and(|word| word.eq_ignore_ascii_case(request)));
    // Only a whole code, and only to prove who somebody is.
    let digits = head[first..].iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_round = head[first..].ends_with(b"000");
    if is_asked && digits == 6 && !is_round && proves_identity(scan.slice(start, start + 64)) {
        scan.hide(floor + first, floor + head.len(), Frame::OneTimeCode);
    }
}

/// Whether a purpose is to sign in or to prove who somebody is.
fn proves_identity(purpose: &[u8]) -> bool {
    const SURE: &[&[u8]] =
        &[b"to sign", b"to log in", b"to log on", b"to login", b"to authenticate"];
    const OBJECTS: &[&[u8]] = &[
        b"your account",
        b"your identity",
        b"your email",
        b"your e-mail",
        b"your phone",
        b"your number",
        b"your device",
        b"your login",
        b"it's you",
        b"your address",
    ];
    let lower = purpose.to_ascii_lowercase();
    SURE.iter().any(|sure| lower.starts_with(sure))
        || OBJECTS.iter().any(|object| memchr::memmem::find(&lower, object).is_some())
}

/// Reads the code right after its name: `enter the login code 482913`, `use code 482913
/// to sign in`.
pub(super) fn after_name(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    if is_qualified(label) {
        return after(scan, label, start);
    }
    let start = start + usize::from(matches!(scan.byte(start), b'"' | b'\'' | b'`'));
    if label.class != NameClass::Weak(Frame::OneTimeCode) || !scan.byte(start).is_ascii_digit() {
        return false;
    }
    let text = scan.slice(start, start + LONGEST + 32);
    let length = code_length(text).filter(|length| says_purpose(&text[*length..]));
    if let Some(length) = length {
        scan.hide(start, start + length, Frame::OneTimeCode);
    }
    length.is_some()
}

/// Reads the code at `start`, where a value is expected. Returns whether there is one.
pub(super) fn after(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    let text = scan.slice(start, start + LONGEST + 2);
    let Some(length) = code_length(text) else { return false };
    // `Your code is 482913`: without a qualifier, only a whole code of six digits.
    let said = scan.slice(label.start.saturating_sub(5), label.start);
    let is_yours = said.eq_ignore_ascii_case(b"your ") && length >= 6;
    let is_code = is_qualified(label) && length > 4 || is_yours;
    if is_code {
        scan.hide(start, start + length, Frame::OneTimeCode);
    }
    is_code
}
