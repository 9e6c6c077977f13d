//! Numbered input lines, without carriage returns.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use traj_core::json::lines::Line;

/// Calls `visit` for every line with its number, counted from 1. The text of a
/// line longer than `limit` bytes is not read.
pub(crate) fn for_each_line<E: From<io::Error>>(
    input: impl BufRead,
    limit: usize,
    mut visit: impl FnMut(u64, Line<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut number = 0;
    traj_fs::for_each_line(input, limit, |line| {
        number += 1;
        let line = match line {
            Line::Whole(bytes) => Line::Whole(bytes.strip_suffix(b"\r").unwrap_or(bytes)),
            Line::Cut(bytes) => Line::Cut(bytes.strip_suffix(b"\r").unwrap_or(bytes)),
            Line::TooLong { .. } => line,
        };
        visit(number, line).map(ControlFlow::Continue)
    })
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
                Line::Whole(bytes) | Line::Cut(bytes) => {
                    String::from_utf8_lossy(bytes).into_owned()
                }
                Line::TooLong { .. } => "…".to_owned(),
            };
            seen.push((number, text));
            Ok(())
        })
        .unwrap();
        let expected = [(1, "one"), (2, ""), (3, "…"), (4, "last")];
        assert_eq!(seen, expected.map(|(number, text)| (number, text.to_owned())));
    }
}
