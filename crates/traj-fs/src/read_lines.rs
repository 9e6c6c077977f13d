//! Reads lines in bounded memory.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use traj_core::json::lines::{Line, Lines};

/// Passes the lines of an input, of up to `limit` bytes each, to `visit` until
/// it breaks. Memory use depends on the longest line, not on the input.
///
/// # Errors
/// When the input cannot be read, or `visit` fails.
pub fn for_each_line<E: From<io::Error>>(
    mut input: impl BufRead,
    limit: usize,
    mut visit: impl FnMut(Line<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let mut show = |line: Line<'_>| match visit(line) {
        Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
        Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
        Err(error) => ControlFlow::Break(Err(error)),
    };
    let mut lines = Lines::new(limit);
    loop {
        let block = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if block.is_empty() {
            let last = lines.finish(show);
            return if let ControlFlow::Break(outcome) = last { outcome } else { Ok(()) };
        }
        if let ControlFlow::Break(outcome) = lines.push(block, &mut show) {
            return outcome;
        }
        let used = block.len();
        input.consume(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(limit: usize, most: usize) -> io::Result<Vec<String>> {
        let mut seen = Vec::new();
        let input = io::BufReader::with_capacity(4, &b"one\n\nfar too long\nlast"[..]);
        for_each_line::<io::Error>(input, limit, |line| {
            seen.push(format!("{} {line:?}", line.span()));
            Ok(if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(seen)
    }

    #[test]
    fn lines_are_the_same_however_the_input_is_read() {
        let all = seen(5, 100).unwrap();
        assert_eq!(
            all[2..],
            ["13 TooLong { bytes: 12, is_cut: false }", "4 Cut([108, 97, 115, 116])"]
        );
        assert_eq!(all[1], "1 Whole([])");
        assert_eq!(seen(5, 2).unwrap(), all[..2]);
    }

    #[test]
    fn a_failing_visitor_ends_the_reading() {
        let failed = for_each_line(&b"a\nb\n"[..], 5, |_| Err(io::Error::other("no")));
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }
}
