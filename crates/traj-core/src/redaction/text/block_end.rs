//! Finds where a long string may be split into blocks for redaction.

/// The end of a long prefix of `text` that can be redacted by itself: after an
/// empty line, else at a line end, never inside a key block. `None` if there is
/// no such place and more text is needed.
#[must_use]
pub fn block_end(text: &[u8]) -> Option<usize> {
    let closed = open_armour(text).unwrap_or(text.len());
    let head = &text[..closed];
    // An empty line in the last quarter keeps paragraphs and tables together.
    let quarter = head.len() - head.len() / 4;
    if let Some(found) = memchr::memmem::rfind(&head[quarter..], b"\n\n") {
        return Some(quarter + found + 2);
    }
    memchr::memrchr(b'\n', head).map(|found| found + 1)
}

/// Where the last key block begins, if `text` does not contain its end.
fn open_armour(text: &[u8]) -> Option<usize> {
    let begin = memchr::memmem::rfind(text, b"-BEGIN ")?;
    let closed = memchr::memmem::find(&text[begin..], b"-END ").is_some();
    (!closed).then(|| memchr::memrchr(b'\n', &text[..begin]).map_or(0, |line| line + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_at_lines_and_never_inside_a_key() {
        assert_eq!(block_end(b"one\ntwo\nthr"), Some(8));
        assert_eq!(block_end(b"no line end"), None);
        assert_eq!(block_end(b"one two three\nfour\n\nc\nd"), Some(20));
        let cut = b"text\n-----BEGIN PRIVATE KEY-----\nabc\n";
        assert_eq!(block_end(cut), Some(5));
        let whole = b"text\n-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nx";
        assert_eq!(block_end(whole), Some(whole.len() - 1));
    }
}
