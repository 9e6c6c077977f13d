//! The lines of `events.jsonl`.

use std::ops::ControlFlow;

use traj_core::json::lines::{Line, Lines};
use traj_core::limits::Reading;
use traj_core::port::{BundleContent, BundleSourceError};

/// Passes every line to `visit`, until `visit` breaks. A file without events is
/// a single line end.
pub(super) fn for_each_line(
    content: &mut dyn BundleContent,
    show: &mut dyn FnMut(Line<'_>) -> ControlFlow<()>,
) -> Result<(), BundleSourceError> {
    let mut lines = Lines::new(Reading::standard().bundle_line_bytes);
    let (mut is_first, mut is_blank) = (true, false);
    let mut take = |line: Line<'_>| {
        // An empty first line is passed on only if others follow.
        if std::mem::take(&mut is_first) && line == Line::Whole(b"") {
            is_blank = true;
            return ControlFlow::Continue(());
        }
        if std::mem::take(&mut is_blank) {
            show(Line::Whole(b""))?;
        }
        show(line)
    };
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let block = match content.read(&mut buffer)? {
            0 => break,
            read => buffer.get(..read).unwrap_or_default(),
        };
        if lines.push(block, &mut take).is_break() {
            return Ok(());
        }
    }
    // Nothing comes after the last line.
    let _last = lines.finish(take);
    Ok(())
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
        let visited = for_each_line(&mut Pieces(pieces.to_vec()), &mut |line| {
            shown.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::Cut(line) => format!("cut {}", String::from_utf8_lossy(line)),
                Line::TooLong { bytes, .. } => format!("{bytes} bytes"),
            });
            ControlFlow::Continue(())
        });
        assert!(visited.is_ok());
        shown
    }

    #[test]
    fn lines_come_whole_however_they_are_read() {
        assert_eq!(shown(&[b"a\nb", b"c\n", b"d\ne\n"]), ["a", "bc", "d", "e"]);
        assert_eq!(shown(&[b"a\nb"]), ["a", "cut b"]);
        assert_eq!(shown(&[b"a", b"\n"]), ["a"]);
    }

    #[test]
    fn a_visitor_can_stop_early() {
        let mut content = Pieces(vec![b"a\nb\nc\n", b"d\n"]);
        let mut count = 0;
        let visited = for_each_line(&mut content, &mut |_| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(visited.is_ok());
        assert_eq!(count, 2);
    }

    #[test]
    fn a_single_empty_line_means_no_events() {
        assert!(shown(&[b"\n"]).is_empty());
        assert!(shown(&[]).is_empty());
        assert_eq!(shown(&[b"\na\n"]), ["", "a"]);
        assert_eq!(shown(&[b"a\n\n"]), ["a", ""]);
    }
}
