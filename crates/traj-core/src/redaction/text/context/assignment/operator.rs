//! The operators between a name and its value, and values that an expression
//! names only as a default.

use super::super::label::Label;
use super::super::reading;
use super::super::{ContextScan, Style};
use crate::redaction::engine::steps;
use crate::redaction::field_name::NameClass;
use crate::redaction::text::value::{is_placeholder, is_uuid, looks_chosen, looks_random};

/// What an operator says about the value after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=`, `:=`, `?=`, `::=`: the value is assigned.
    Assigns,
    /// `==`, `!=`, `+=`, `.=`, `->`, `<-`: only a quoted value counts.
    Quotes,
    /// `=>`: a quoted value, or one that looks random.
    Points,
    /// `=~`, `>=`: no value follows.
    Nothing,
}

/// All operators but the colon; longer ones before those that they begin with.
const OPERATORS: &[(&[u8], Operator)] = &[
    (b"===", Operator::Quotes),
    (b"!==", Operator::Quotes),
    (b"==", Operator::Quotes),
    (b"!=", Operator::Quotes),
    (b"=~", Operator::Nothing),
    (b"=>", Operator::Points),
    (b":::=", Operator::Assigns),
    (b"::=", Operator::Assigns),
    (b":=", Operator::Assigns),
    (b"?=", Operator::Assigns),
    (b"||=", Operator::Quotes),
    (b"??=", Operator::Quotes),
    (b"+=", Operator::Points),
    (b".=", Operator::Quotes),
    (b"<>", Operator::Quotes),
    (b"<-", Operator::Quotes),
    (b"->", Operator::Quotes),
    (b"=", Operator::Assigns),
];

/// The operator at `place`, and where it ends.
pub(super) fn operator(scan: &ContextScan<'_>, place: usize) -> Option<(Operator, usize)> {
    let rest = scan.slice(place, place + 4);
    OPERATORS
        .iter()
        .find(|(sign, _)| rest.starts_with(sign))
        .map(|(sign, operator)| (*operator, place + sign.len()))
}

/// Most bytes between a name and the `=` of its declaration, or between the `=`
/// and a default.
const MAX_EXPRESSION: usize = 160;
/// Most quoted strings of an expression.
const MOST_STRINGS: usize = 8;

/// `const apiKey string = "…"`, `char key[] = "…"`, `token VARCHAR(64) DEFAULT '…'`:
/// a type between the name and its value. Returns where the value begins.
pub(super) fn declared(scan: &ContextScan<'_>, after: usize) -> Option<usize> {
    const LONGEST_TYPE: usize = 48;
    // `Dim password As String = "…"`
    let is_basic = scan.slice(after, after + 3).eq_ignore_ascii_case(b"as ");
    let after = after + if is_basic { 3 } else { 0 };
    let rest = scan.slice(after, after + LONGEST_TYPE);
    let is_type = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'.' | b'*' | b'&' | b'[' | b']' | b'<' | b'>' | b'?' | b'(' | b')' | b','
            )
    };
    let length = rest.iter().take_while(|byte| is_type(byte)).count();
    if length == 0 || length == rest.len() {
        return None;
    }
    let sign = scan.skip_blanks(after + length);
    if sign == after + length {
        return None;
    }
    let value = match scan.slice(sign, sign + 8) {
        [b'=', b'=', ..] => return None,
        [b'=', ..] => scan.skip_blanks(sign + 1),
        word if word.eq_ignore_ascii_case(b"default ") => scan.skip_blanks(sign + 8),
        _ => return None,
    };
    matches!(scan.byte(value), b'"' | b'\'' | b'`').then_some(value)
}

/// `=>` and `string(12) "…"` on the next line: where the value begins that PHP dumps.
pub(super) fn dumped(scan: &ContextScan<'_>, start: usize) -> Option<usize> {
    let first = scan.skip_blanks(reading::next_line(scan, start).unwrap_or(start));
    let rest = scan.slice(first, first + 20);
    let length = rest.strip_prefix(b"string(")?.iter().position(|byte| *byte == b')')?;
    let value = scan.skip_blanks(first + b"string(".len() + length + 1);
    (scan.byte(value) == b'"').then_some(value)
}

/// `{ get; set; } = "…"`: where the value of a property begins.
pub(super) fn after_accessors(scan: &ContextScan<'_>, after: usize) -> Option<usize> {
    if scan.byte(after) != b'{' {
        return None;
    }
    let rest = scan.slice(after, after + 64);
    if !rest.get(1..)?.trim_ascii_start().starts_with(b"get") {
        return None;
    }
    let close = rest.iter().position(|byte| *byte == b'}')?;
    let sign = scan.skip_blanks(after + close + 1);
    (scan.byte(sign) == b'=').then(|| scan.skip_blanks(sign + 1))
}

/// `"PWD=" + value`, `'&key='.$key`: the quote after the sign closes the string
/// that the name is in.
pub(super) fn is_pasted(scan: &ContextScan<'_>, label: &Label, after: usize) -> bool {
    if !matches!(scan.byte(after), b'=' | b':') {
        return false;
    }
    let quote = scan.byte(after + 1);
    let is_quote = matches!(quote, b'"' | b'\'' | b'`');
    let line = scan.line_start(label.start, 64);
    is_quote
        && scan.slice(line, label.start).iter().filter(|byte| **byte == quote).count() % 2 == 1
        && matches!(scan.byte(scan.skip_blanks(after + 2)), b'+' | b',' | b')' | b'.' | b'&' | b';')
}

/// Calls of tests that compare a name with a value.
const EXPECTATIONS: &[&[u8]] = &[
    b".toBe(",
    b".toEqual(",
    b".toStrictEqual(",
    b".toContain(",
    b".isEqualTo(",
    b".equals(",
    b".equal(",
    b".eql(",
    b".eq(",
    b".to.equal(",
    b".to.eql(",
    b".to.be.equal(",
    b".should.equal(",
    b".should eq ",
    b".to eq(",
    b", equal_to(",
    b".equalsIgnoreCase(",
    b".compareTo(",
];

/// `expect(token).toBe("…")`: where the expected value begins.
pub(super) fn expected(scan: &ContextScan<'_>, after: usize) -> Option<usize> {
    let close = (0..3).take_while(|place| scan.byte(after + place) == b')').count();
    if !matches!(scan.byte(after + close), b'.' | b',' | b' ') {
        return None;
    }
    let rest = scan.slice(after + close, after + close + 24);
    let call = EXPECTATIONS.iter().find(|call| rest.starts_with(call))?;
    Some(after + close + call.len())
}

/// The end of a sign that interactive programs print before an answer: `›`, `…`,
/// `?`, `[hidden]`, a row of dots.
pub(super) fn prompt_end(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    const SIGNS: &[&str] = &["›", "»", "❯", "…", "→", "➜", "?"];
    let rest = scan.slice(place, place + 32);
    let dots = rest.iter().take_while(|byte| **byte == b'.').count();
    let length = if dots >= 3 {
        dots
    } else if rest.first() == Some(&b'[') && scan.byte(place.wrapping_sub(1)) == b' ' {
        rest.iter().position(|byte| *byte == b']')? + 1
    } else {
        SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()))?.len()
    };
    let end = place + length;
    let value = scan.skip_blanks(end);
    (value > end && value < scan.text.len()).then_some(value)
}

/// `[]` or `[32]` after a name.
pub(super) fn skip_dimension(scan: &ContextScan<'_>, place: usize) -> Option<usize> {
    let digits = scan.slice(place + 1, place + 7).iter().take_while(|byte| byte.is_ascii_digit());
    let close = place + 1 + digits.count();
    (scan.byte(place) == b'[' && scan.byte(close) == b']').then_some(close + 1)
}

/// Signs before a value that is used if there is no other one.
const DEFAULTS: &[&[u8]] = &[
    b"||",
    b"??",
    b"?:",
    b" or ",
    b" else ",
    b"unwrap_or(",
    b"unwrap_or_else(",
    b"or_else(",
    b"orElse(",
    b"default=",
    b"default =",
    b"default:",
    b"default(",
    b"Default(",
    b"default_value=",
    b"fallback=",
    b"{",
    b"\",",
    b"',",
    b"`,",
];

/// A quoted default in the expression at `start`: `env.KEY || "…"`, `get("X", "…")`,
/// `Field(default="…")`. Returns whether there was one.
pub(super) fn default_in(scan: &mut ContextScan<'_>, label: &Label, start: usize) -> bool {
    let end = scan.line_end(start, MAX_EXPRESSION);
    let expression = scan.slice(start, end);
    let mut place = start;
    // The value is the first quoted string after the last sign.
    for _ in 0..MOST_STRINGS {
        let Some(quote) = memchr::memchr3(b'"', b'\'', b'`', scan.slice(place, end)) else {
            return false;
        };
        let open = place + quote;
        let before = scan.slice(start, open).trim_ascii_end();
        let closure = before.strip_suffix(b"|_|").or_else(|| before.strip_suffix(b"||"));
        let Some(value) = reading::quoted_value(scan, open) else {
            return false;
        };
        let bytes = scan.slice(value.start, value.end);
        let ends = |text: &[u8]| DEFAULTS.iter().any(|sign| text.ends_with(sign.trim_ascii_end()));
        if !(looks_chosen(bytes) || looks_random(bytes) || is_uuid(bytes)) {
            place = value.end + 1;
            if place >= end {
                return false;
            }
            continue;
        }
        // `is_local ? "…" : other`
        let is_choice = before.ends_with(b"?") && !before.ends_with(b"\\?")
            || before.ends_with(b":") && memchr::memmem::find(before, b" ? ").is_some();
        let follows_sign =
            is_choice || ends(before) || closure.is_some_and(|text| ends(text.trim_ascii_end()));
        // `Wrapper("…")`: any call counts if the value looks random.
        let is_strong = matches!(label.class, NameClass::Strong(_));
        let is_wrapped = is_strong && before.ends_with(b"(") && looks_random(bytes);
        if (follows_sign || is_wrapped) && expression.len() > open - start && !is_placeholder(bytes)
        {
            scan.hide_if(value.start, value.end, label.class, Style::Quoted);
            return true;
        }
        place = value.end + 1;
        if place >= end {
            return false;
        }
    }
    false
}

/// `${NAME:-value}`: where the default begins and ends.
pub(super) fn shell_default(scan: &ContextScan<'_>, label: &Label) -> Option<(usize, usize)> {
    let opens = scan.slice(label.start.saturating_sub(2), label.start) == b"${";
    let start = label.end;
    let sign = match scan.slice(start, start + 2) {
        [b':', b'-' | b'=' | b'+' | b'?'] => 2,
        [b'-' | b'=', _] => 1,
        _ => return None,
    };
    if !opens {
        return None;
    }
    let first = start + sign;
    let close = memchr::memchr2(b'}', b'\n', scan.slice(first, first + MAX_EXPRESSION))?;
    (scan.byte(first + close) == b'}').then_some((first, first + close))
}

/// `[-old-]{+new+}`: the ranges of both values of a word diff.
pub(super) fn word_diff(scan: &ContextScan<'_>, start: usize) -> [Option<(usize, usize)>; 2] {
    const LONGEST: usize = 1024;
    let part = |place: usize, open: &[u8], close: &[u8]| {
        let first = place + open.len();
        if scan.slice(place, first) != open {
            return None;
        }
        let line = scan.slice(first, scan.line_end(first, LONGEST));
        memchr::memmem::find(line, close).map(|length| (first, first + length))
    };
    let old = part(start, b"[-", b"-]");
    let new = part(old.map_or(start, |(_, end)| end + 2), b"{+", b"+}");
    [old, new]
}

/// The numbers of a byte array: `bytes([53, 79, …])`, `[]byte{0x35, …}`.
pub(super) fn byte_array(scan: &ContextScan<'_>, start: usize) -> Option<(usize, usize)> {
    const LEAST: usize = 6;
    const LONGEST: usize = 16 * 1024;
    let head = scan.slice(start, start + 32);
    let open = head.iter().rposition(|byte| matches!(byte, b'[' | b'{' | b'('))?;
    // The last bracket before the first number opens the list.
    let number = head.iter().position(u8::is_ascii_digit)?;
    let open = head
        .get(..number)?
        .iter()
        .rposition(|byte| matches!(byte, b'[' | b'{' | b'('))
        .filter(|place| *place <= open)?;
    let first = start + open + 1;
    // Only the numbers are read, not the longest list that there may be.
    let is_part = |byte: &&u8| {
        byte.is_ascii_hexdigit() || matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t' | b'x')
    };
    let rest = scan.text.get(first..).unwrap_or_default();
    let length = rest.iter().take(LONGEST).take_while(is_part).count();
    steps::count(length);
    let numbers = scan.slice(first, first + length);
    let commas = memchr::memchr_iter(b',', numbers).count();
    let short = numbers.split(|byte| *byte == b',').all(|number| number.trim_ascii().len() <= 4);
    let closes = matches!(scan.byte(first + length), b']' | b'}' | b')');
    (commas + 1 >= LEAST && short && closes).then(|| {
        let trimmed = numbers.trim_ascii();
        let lead = numbers.len() - numbers.trim_ascii_start().len();
        (first + lead, first + lead + trimmed.len())
    })
}
