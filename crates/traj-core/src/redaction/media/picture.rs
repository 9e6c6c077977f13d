//! Finds where SVG markup ends: at the closing tag that matches its first
//! `svg` tag.

/// The plain and escaped forms of `<`, `/`, `>` and others.
const LESS: &[&[u8]] = &[b"<", b"%3C", b"&lt;"];
const SLASH: &[&[u8]] = &[b"\\/", b"/", b"%2F"];
const GREATER: &[&[u8]] = &[b">", b"%3E", b"&gt;"];
const PROLOGUE: &[&[u8]] = &[b"?", b"!", b"%3F", b"%21"];
const BLANK: &[&[u8]] = &[b" ", b"\n", b"%20"];

const ELEMENT: &[u8] = b"svg";

/// The SVG elements in a string. One pass pairs all tags; searching from each
/// opening tag would take quadratic time if closing tags are missing.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    /// Where each begins, and where it ends if it is closed; in order.
    places: Vec<(usize, Option<usize>)>,
}

impl Pictures {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut places: Vec<(usize, Option<usize>)> = Vec::new();
        let mut open = Vec::new();
        for found in memchr::memmem::find_iter(text, ELEMENT) {
            let (before, behind) = text.split_at(found);
            let behind = behind.get(ELEMENT.len()..).unwrap_or_default();
            if behind.first().is_some_and(|byte| is_in_name(*byte)) {
                continue;
            }
            if let Some(start) = without_end(before, LESS) {
                open.push(places.len());
                places.push((start, None));
            } else if without_end(before, SLASH)
                .and_then(|slash| without_end(before.get(..slash)?, LESS))
                .is_some()
                && let Some(place) = open.pop().and_then(|index| places.get_mut(index))
            {
                place.1 = Some(text.len() - after_tag(behind).len());
            }
        }
        Self { places }
    }

    /// The first SVG that begins in `start..end`, and its end.
    pub(super) fn first_in(&self, start: usize, end: usize) -> Option<(usize, Option<usize>)> {
        let index = self.places.partition_point(|(place, _)| *place < start);
        self.places.get(index).copied().filter(|(place, _)| *place < end)
    }
}

/// The first item of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// An item before the first element, such as a comment or a doctype.
    Prologue,
    Element,
}

/// What a string begins with, if it is markup.
pub(super) fn beginning(text: &[u8]) -> Option<Beginning> {
    let rest = without_start(text, LESS)?;
    let is_prologue = without_start(rest, PROLOGUE).is_some();
    Some(if is_prologue { Beginning::Prologue } else { Beginning::Element })
}

/// The bytes after the `>` of a closing tag. If it is missing, the tag ends with
/// its name.
fn after_tag(behind: &[u8]) -> &[u8] {
    let name = without_start(behind, BLANK).unwrap_or(behind);
    without_start(name, GREATER).unwrap_or(behind)
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'+' | b',')
}

fn without_start<'t>(text: &'t [u8], forms: &[&[u8]]) -> Option<&'t [u8]> {
    forms.iter().find_map(|form| {
        let (start, rest) = text.split_at_checked(form.len())?;
        start.eq_ignore_ascii_case(form).then_some(rest)
    })
}

/// Length of the string without the form at its end, if it ends with one.
fn without_end(text: &[u8], forms: &[&[u8]]) -> Option<usize> {
    forms.iter().find_map(|form| {
        let length = text.len().checked_sub(form.len())?;
        text.get(length..)?.eq_ignore_ascii_case(form).then_some(length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_svg_ends_with_its_own_closing_tag() {
        for text in [
            "<svg a='b'><path/></svg>",
            "<svg><svg></svg><svg a></svg></svg>",
            "%3Csvg%20a%3E%3C%2Fsvg%3E",
            "%3csvg a='b'%3e%3c/svg%3e",
            "<svg><\\/svg>",
            "&lt;svg&gt;&lt;/svg &gt;",
            "<svg></svg",
        ] {
            let all = format!("{text} <svg> and <svg></svg>");
            let pictures = Pictures::of(all.as_bytes());
            assert_eq!(pictures.first_in(0, 9), Some((0, Some(text.len()))), "{text}");
            assert_eq!(pictures.first_in(text.len(), all.len()), Some((text.len() + 1, None)));
        }
    }

    #[test]
    fn a_prologue_is_distinguished_from_an_element() {
        for text in ["<?xml?>", "%3C%3Fxml", "<!-- x -->", "%3c!DOCTYPE"] {
            assert_eq!(beginning(text.as_bytes()), Some(Beginning::Prologue), "{text}");
        }
        assert_eq!(beginning(b"%3Csvg"), Some(Beginning::Element));
        assert_eq!(beginning(b"svg"), None);
    }

    #[test]
    fn other_elements_are_not_svgs() {
        let text = "<svgs></svg> <img src='a.svg'> svg <svg:svg>";
        assert_eq!(Pictures::of(text.as_bytes()).first_in(0, text.len()), None);
    }
}
