//! The joints between the pieces of a token: line breaks, continuations, string
//! concatenation.

/// Maximum number of bytes that are read to recognise a joint: the break, the
/// indentation of the next line, the line, and the byte after it.
pub(in crate::redaction) const LONGEST_JOINT: usize = 3 + MAX_INDENT + MAX_PIECE + 1;

const MAX_INDENT: usize = 64;
const MAX_PIECE: usize = 512;

/// The length of the joint at the start of `rest`, or 0: a line break with
/// indentation, `\` before a line break, or `" + "`.
pub(super) fn joint(rest: &[u8]) -> usize {
    match rest[0] {
        b'\n' => broken(rest, 1),
        b'\r' if rest.get(1) == Some(&b'\n') => broken(rest, 2),
        b'=' if rest.get(1) == Some(&b'\n') => broken(rest, 2),
        b'=' if rest.get(1..3) == Some(b"\r\n") => broken(rest, 3),
        b'\\' if rest.get(1) == Some(&b'\n') => broken(rest, 2),
        b'\\' if rest.get(1..3) == Some(b"\r\n") => broken(rest, 3),
        b'\\' if rest.get(1) == Some(&b'n') => broken(rest, 2),
        quote @ (b'"' | b'\'' | b'`') => {
            let blank = |from: usize| {
                rest[from..]
                    .iter()
                    .take(24)
                    .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
                    .count()
            };
            let first = 1 + blank(1);
            let sign = rest.get(first).copied().unwrap_or(0);
            if matches!(sign, b'+' | b'.' | b'&' | b'\\') {
                let second = first + 1 + blank(first + 1);
                if matches!(rest.get(second), Some(next) if *next == quote) {
                    return second + 1;
                }
            }
            // Adjacent literals: `"abc" "def"`.
            if first > 1 && sign == quote { first + 1 } else { 0 }
        }
        _ => 0,
    }
}

/// Whether a byte can be in a token.
pub(in crate::redaction) fn is_token(byte: u8) -> bool {
    TOKEN[usize::from(byte)]
}

/// The bytes of tokens; a table, because every byte of a line is looked up.
static TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.');
        byte += 1;
    }
    table
};

/// The length of a line break with indentation, if the next line continues the
/// token: it has only token characters and is not a plain word.
fn broken(rest: &[u8], length: usize) -> usize {
    let line = &rest[length..];
    let head = &line[..line.len().min(MAX_INDENT)];
    let is_indent = |byte: &u8| matches!(byte, b' ' | b'\t' | b'>' | b'|');
    let indent = head.iter().position(|byte| !is_indent(byte)).unwrap_or(head.len());
    let line = &line[indent..];
    let head = &line[..line.len().min(MAX_PIECE)];
    let run = head.iter().position(|byte| !is_token(*byte)).unwrap_or(head.len());
    let ends = matches!(
        line.get(run),
        None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'`' | b',' | b')' | b'\\')
    );
    if run == 0 || !ends {
        return 0;
    }
    let piece = &line[..run];
    // `name=value` does not continue a token.
    if piece
        .iter()
        .position(|byte| *byte == b'=')
        .is_some_and(|sign| piece[sign..].iter().any(|byte| *byte != b'='))
    {
        return 0;
    }
    if is_entry_of_its_own(piece) {
        return 0;
    }
    let digits = piece.iter().any(u8::is_ascii_digit);
    let mixed = piece.iter().skip(1).any(u8::is_ascii_uppercase)
        && piece.iter().any(u8::is_ascii_lowercase);
    if digits || mixed { length + indent } else { 0 }
}

/// Prefixes of tokens that are often listed one per line.
const TOKEN_HEADS: [&[u8]; 16] = [
    b"ghp_",
    b"gho_",
    b"ghu_",
    b"ghs_",
    b"ghr_",
    b"github_pat_",
    b"glpat-",
    b"sk-",
    b"sk_live_",
    b"sk_test_",
    b"xoxb-",
    b"xoxp-",
    b"hf_",
    b"npm_",
    b"pypi-",
    b"eyJhbGciOi",
];

/// A shorter piece is more likely the rest of a token than a new one.
const SHORTEST_TOKEN: usize = 24;

/// Whether a line is a digest, a file name or a new token, and so does not
/// continue the token before it.
fn is_entry_of_its_own(piece: &[u8]) -> bool {
    if piece.len() >= SHORTEST_TOKEN && TOKEN_HEADS.iter().any(|head| piece.starts_with(head)) {
        return true;
    }
    let is_digest = matches!(piece.len(), 32 | 40 | 64) && piece.iter().all(u8::is_ascii_hexdigit);
    let extension = piece.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_file = (1..=5).contains(&extension.len())
        && extension.len() + 1 < piece.len()
        && extension.iter().all(u8::is_ascii_lowercase)
        && !piece.iter().any(u8::is_ascii_digit);
    is_digest || is_file
}
