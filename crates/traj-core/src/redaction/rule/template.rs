//! Examples of rules are templates: `ghp_{an:36}` becomes a token of the right
//! format, generated from a seed and never stored.

/// The alphabets that a template can name.
const ALPHABETS: &[(&str, &[u8])] = &[
    ("an", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    ("hex", b"0123456789abcdef"),
    ("up", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("lo", b"abcdefghijklmnopqrstuvwxyz0123456789"),
    ("d", b"123456789"),
    ("b64", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ("url", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    ("b58", b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
    ("b32", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
];

/// A filled template has at most this many random characters, whatever lengths it
/// asks for: no token is longer, and a rule file must not exhaust memory.
const MAX_RANDOM: usize = 64 * 1024;

/// Fills in a template. The same template and seed give the same string.
pub(in crate::redaction) fn fill(template: &str, seed: u64) -> String {
    let mut state = template.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    let mut left = MAX_RANDOM;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some((place, after)) = from.get(1..).and_then(|from| from.split_once('}')) else {
            rest = from;
            break;
        };
        if place == "uuid" {
            for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
                if group > 0 {
                    out.push('-');
                }
                push_random(&mut out, b"0123456789abcdef", length, &mut next);
            }
            rest = after;
            continue;
        }
        let alphabet = place.split_once(':').and_then(|(name, length)| {
            let (_, letters) = ALPHABETS.iter().find(|(known, _)| *known == name)?;
            Some((*letters, length.parse::<usize>().ok()?))
        });
        if let Some((letters, length)) = alphabet {
            let length = length.min(left);
            left -= length;
            push_random(&mut out, letters, length, &mut next);
            rest = after;
        } else {
            // A literal brace.
            out.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

fn push_random(out: &mut String, letters: &[u8], length: usize, next: &mut impl FnMut() -> u64) {
    for _ in 0..length {
        let place = (next() >> 33) as usize % letters.len();
        out.push(char::from(letters[place]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_the_same_way_every_time() {
        let text = fill("ghp_{an:36}", 7);
        assert_eq!(text.len(), 40);
        assert!(text.starts_with("ghp_"));
        assert_eq!(text, fill("ghp_{an:36}", 7));
        assert_ne!(text, fill("ghp_{an:36}", 8));
    }

    #[test]
    fn a_huge_length_is_cut() {
        let huge = format!("{{an:{}}}-", usize::MAX);
        assert_eq!(fill(&huge.repeat(9), 1).len(), MAX_RANDOM + 9);
        // An invalid number is kept as text.
        let huger = format!("{{an:{}0}}", usize::MAX);
        assert_eq!(fill(&huger, 1), huger);
    }

    #[test]
    fn braces_without_an_alphabet_are_kept() {
        assert_eq!(fill("a{b}c", 0), "a{b}c");
        assert_eq!(fill("a{", 0), "a{");
        assert_eq!(fill("{\"k\":\"{d:1}\"}", 0).len(), 9);
    }
}
