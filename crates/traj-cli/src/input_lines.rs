//! Lines of standard input, of any length up to a limit.

use std::io::{self, BufRead};

/// A line of input, or that there was one too long to take.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine<'a> {
    /// The line, without its line end.
    Whole(&'a [u8]),
    /// It had more bytes than the limit and was passed over.
    TooLong,
}

/// Shows every line to `visit` with its number, counted from 1. The memory in
/// use follows the longest line, never the input.
pub(crate) fn for_each_line<E: From<io::Error>>(
    mut input: impl BufRead,
    limit: usize,
    mut visit: impl FnMut(u64, InputLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut is_too_long = false;
        let mut is_last = false;
        loop {
            let available = match input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            if available.is_empty() {
                is_last = true;
                break;
            }
            let end = memchr::memchr(b'\n', available);
            let (piece, used) =
                end.map_or((available, available.len()), |end| (&available[..end], end + 1));
            is_too_long |= line.len() + piece.len() > limit;
            if is_too_long {
                line.clear();
            } else {
                line.extend_from_slice(piece);
            }
            input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if is_too_long {
            visit(number, InputLine::TooLong)?;
        } else if !is_last || !line.is_empty() {
            visit(number, InputLine::Whole(line.strip_suffix(b"\r").unwrap_or(&line)))?;
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let mut seen = Vec::new();
        let input = io::BufReader::with_capacity(4, &b"one\r\n\nfar too long\nlast"[..]);
        for_each_line::<io::Error>(input, 5, |number, line| {
            let text = match line {
                InputLine::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                InputLine::TooLong => "…".to_owned(),
            };
            seen.push((number, text));
            Ok(())
        })
        .unwrap();
        let expected = [(1, "one"), (2, ""), (3, "…"), (4, "last")];
        assert_eq!(seen, expected.map(|(number, text)| (number, text.to_owned())));
    }
}
