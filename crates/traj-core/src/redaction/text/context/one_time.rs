//! One-time codes in messages: `482913 is your login code`, `Your code is 482913`,
//! `Verification code: 482 913`.

use super::ContextScan;
use super::label::Label;
use crate::redaction::field_name::NameClass;
use crate::redaction::rule::Frame;

/// Most bytes between a code and the words that name it.
const MAX_BETWEEN: usize = 72;
/// Most words between a code and its name.
const MOST_WORDS: usize = 3;
/// Most bytes of a code, with its separator.
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
    let digits = head[..end].iter().rev().take(LONGEST);
    let digits = digits.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'));
    let run = &head[end - digits.count()..end];
    // `G-482913`, `Use 482913`: the code begins with its first digit.
    let Some(first) = run.iter().position(u8::is_ascii_digit) else { return false };
    let start = end - run.len() + first;
    let is_begin = start.checked_sub(1).and_then(|place| head.get(place)).is_none_or(|byte| {
        !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b',' | b'/' | b'_')
    });
    let is_code = is_begin && code_length(&head[start..end]) == Some(end - start);
    if is_code {
        scan.hide(floor + start, floor + end, Frame::OneTimeCode);
    }
    is_code
}

/// Reads the code right after its name: `enter the login code 482913`.
pub(super) fn after_name(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    is_qualified(label) && after(scan, label, start)
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
