//! Labels in other languages: `Mot de passe: …`, `la contraseña del servidor es …`.

use super::super::reading::{self, Ends};
use super::super::{ContextScan, Style};
use crate::redaction::field_name::{FOREIGN_LABELS, NameClass};
use crate::redaction::text::value::{Classes, is_placeholder, is_word};

/// Words and signs between a label and its value; those without letters may
/// follow directly.
const LINKS: &[&str] = &[
    ":",
    "：",
    "=",
    "→",
    "->",
    "—",
    "–",
    "»",
    "›",
    "est",
    "es",
    "és",
    "è",
    "é",
    "e'",
    "ist",
    "lautet",
    "is",
    "är",
    "er",
    "jest",
    "to",
    "je",
    "este",
    "on",
    "adalah",
    "ialah",
    "là",
    "la",
    "olarak",
    "は",
    "が",
    "是",
    "为",
    "為",
    "는",
    "은",
    "הוא",
    "היא",
    "هي",
    "هو",
    "है",
    "είναι",
    "คือ",
    "это",
    "це",
    "е",
    "є",
    "ir",
    "yra",
    "ni",
    "da",
    "ay",
];

/// Most bytes and words between a label and its link.
const MAX_BETWEEN: usize = 64;
const MAX_WORDS: usize = 4;

/// Reads the label at `start..end`.
pub(in super::super) fn read(scan: &mut ContextScan<'_>, start: usize, end: usize) {
    if start < scan.foreign_end {
        return;
    }
    // A word in Latin script begins where a word begins.
    if scan.byte(start).is_ascii() && start > 0 && scan.byte(start - 1).is_ascii_alphanumeric() {
        return;
    }
    let word = scan.slice(start, end);
    let Some((_, class)) =
        FOREIGN_LABELS.iter().find(|(label, _)| word.eq_ignore_ascii_case(label.as_bytes()))
    else {
        return;
    };
    let Some((place, is_sign)) = value_start(scan, end) else {
        return follows(scan, end, *class);
    };
    let ends = if is_sign { Ends::Loose } else { Ends::Prose };
    let Some(value) = reading::value(scan, place, ends) else { return };
    // Do not search for names inside a long value.
    if value.end - value.start > 512 {
        scan.foreign_end = value.end;
    }
    let bytes = scan.slice(value.start, value.end);
    if is_word(bytes) && scan.byte(value.end) == b' ' || is_placeholder(bytes) {
        return;
    }
    let style = if is_sign || value.quoted { Style::Open } else { Style::Prose };
    scan.hide_if(value.start, value.end, *class, style);
}

/// `пароль …`: a value directly after the label.
fn follows(scan: &mut ContextScan<'_>, end: usize, class: NameClass) {
    let rest = scan.slice(end, end + 24);
    let Some(gap) = rest.iter().position(|byte| *byte == b' ') else { return };
    if !rest[..gap].iter().all(|byte| *byte >= 0x80 || byte.is_ascii_alphabetic()) {
        return;
    }
    if let Some(value) = reading::value(scan, end + gap + 1, Ends::Prose) {
        let bytes = scan.slice(value.start, value.end);
        let classes = Classes::of(bytes);
        if bytes.len() >= 8 && classes.digit > 0 && classes.lower > 0 && classes.upper > 0 {
            scan.hide_if(value.start, value.end, class, Style::Prose);
        }
    }
}

/// Skips the rest of the label, a few words and the link. Returns where the value
/// begins, and whether a sign precedes it.
fn value_start(scan: &ContextScan<'_>, end: usize) -> Option<(usize, bool)> {
    let line_end = scan.line_end(end, MAX_BETWEEN);
    let mut place = end;
    let mut words = 0;
    while place < line_end {
        let rest = scan.slice(place, place + 12);
        if let Some(link) = link_at(scan, rest, place) {
            let is_sign = !link.chars().any(char::is_alphabetic);
            // In `mot de passe de la base est …`, `la` is an article.
            if !is_sign && is_word_of_more(scan, place + link.len()) {
                place += link.len();
                continue;
            }
            let mut after = scan.skip_blanks(place + link.len());
            // `est : …`
            if !is_sign && matches!(scan.byte(after), b':' | b'=') {
                after = scan.skip_blanks(after + 1);
                return Some((after, true));
            }
            return Some((after, is_sign));
        }
        match scan.byte(place) {
            b' ' => {
                words += 1;
                if words > MAX_WORDS {
                    return None;
                }
            }
            b'.' | b',' | b';' | b'!' | b'"' | b'<' | b'{' => return None,
            _ => {}
        }
        place += 1;
    }
    None
}

/// Whether a small word and more follow the space at `place`.
fn is_word_of_more(scan: &ContextScan<'_>, place: usize) -> bool {
    let rest = scan.slice(place, place + 24);
    let [b' ', rest @ ..] = rest else { return false };
    let length = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    length > 1 && rest.get(length) == Some(&b' ')
}

/// The link at `place`. One of letters must be a word, unless the script does not
/// separate words.
fn link_at(scan: &ContextScan<'_>, rest: &[u8], place: usize) -> Option<&'static str> {
    LINKS.iter().copied().find(|link| {
        rest.starts_with(link.as_bytes()) && {
            let is_latin =
                link.chars().all(|letter| letter.is_ascii_alphabetic() || letter < '\u{250}');
            let is_word = link.chars().next().is_some_and(char::is_alphabetic);
            !is_word
                || scan.byte(place.wrapping_sub(1)) == b' '
                    && matches!(scan.byte(place + link.len()), b' ' | b':')
                || !is_latin
                    && scan.byte(place.wrapping_sub(1)) >= 0x80
                    && (scan.byte(place + link.len()) < 0x80)
        }
    })
}
