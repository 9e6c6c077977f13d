//! The lines of `events.jsonl`, in bounded memory.

use std::ops::ControlFlow;

use traj_core::port::{BundleContent, BundleSourceError};

/// Lines longer than this are counted but not looked into.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'l> {
    /// All of it, without its end.
    Whole(&'l [u8]),
    /// One that was passed over.
    TooLong,
    /// The last one, without an end.
    Cut,
}

/// Takes content apart.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
    /// Whether the line that the rest belongs to is passed over.
    is_passing: bool,
    seen: u64,
}

impl Lines {
    /// Shows every line until it is told to stop. A file without events is a
    /// single line end.
    pub(super) fn visit(
        &mut self,
        content: &mut dyn BundleContent,
        show: &mut dyn FnMut(Line<'_>) -> ControlFlow<()>,
    ) -> Result<(), BundleSourceError> {
        let mut buffer = vec![0; 256 * 1024];
        let mut is_blank = false;
        loop {
            let read = content.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            self.rest.extend_from_slice(buffer.get(..read).unwrap_or_default());
            while let Some(end) = memchr::memchr(b'\n', &self.rest).filter(|_| self.is_passing) {
                self.rest.drain(..=end);
                self.is_passing = false;
                self.seen += 1;
                if show(Line::TooLong).is_break() {
                    return Ok(());
                }
            }
            let whole = memchr::memrchr(b'\n', &self.rest).unwrap_or_default();
            let lines = self.rest.get(..whole).unwrap_or_default();
            if whole > 0 || self.rest.first() == Some(&b'\n') {
                for line in lines.split(|byte| *byte == b'\n') {
                    self.seen += 1;
                    // Told only if it does not stay alone.
                    if line.is_empty() && self.seen == 1 {
                        is_blank = true;
                    } else {
                        let blank = std::mem::take(&mut is_blank).then_some(&b""[..]);
                        let mut lines = blank.into_iter().chain([line]);
                        if lines.any(|line| show(Line::Whole(line)).is_break()) {
                            return Ok(());
                        }
                    }
                }
                self.rest.drain(..=whole);
            }
            if self.is_passing || self.rest.len() > LONGEST_LINE {
                self.rest.clear();
                self.is_passing = true;
            }
        }
        if self.is_passing || !self.rest.is_empty() {
            // Nothing comes after it.
            let _last = show(Line::Cut);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pieces(Vec<&'static [u8]>);

    impl BundleContent for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, BundleSourceError> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn shown(pieces: &[&'static [u8]]) -> Vec<String> {
        let mut shown = Vec::new();
        let visited = Lines::default().visit(&mut Pieces(pieces.to_vec()), &mut |line| {
            shown.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                other => format!("{other:?}"),
            });
            ControlFlow::Continue(())
        });
        assert!(visited.is_ok());
        shown
    }

    #[test]
    fn lines_come_whole_however_they_are_read() {
        assert_eq!(shown(&[b"a\nb", b"c\n", b"d\ne\n"]), ["a", "bc", "d", "e"]);
        assert_eq!(shown(&[b"a\nb"]), ["a", "Cut"]);
        assert_eq!(shown(&[b"a", b"\n"]), ["a"]);
    }

    #[test]
    fn whoever_has_seen_enough_stops() {
        let mut content = Pieces(vec![b"a\nb\nc\n", b"d\n"]);
        let mut count = 0;
        let visited = Lines::default().visit(&mut content, &mut |_| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(visited.is_ok());
        assert_eq!(count, 2);
    }

    #[test]
    fn a_blank_line_alone_means_no_events() {
        assert!(shown(&[b"\n"]).is_empty());
        assert!(shown(&[]).is_empty());
        assert_eq!(shown(&[b"\na\n"]), ["", "a"]);
        assert_eq!(shown(&[b"a\n\n"]), ["a", ""]);
    }
}
