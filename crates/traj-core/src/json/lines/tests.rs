//! Lines are the same regardless of how the input is split into blocks.

use proptest::prelude::*;

use super::*;

/// A line with owned content.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KeptLine {
    Whole(Vec<u8>),
    TooLong(u64, bool),
    Cut(Vec<u8>),
}

impl From<Line<'_>> for KeptLine {
    fn from(line: Line<'_>) -> Self {
        match line {
            Line::Whole(line) => Self::Whole(line.to_vec()),
            Line::TooLong { bytes, is_cut } => Self::TooLong(bytes, is_cut),
            Line::Cut(line) => Self::Cut(line.to_vec()),
        }
    }
}

/// All lines, found without splitting into blocks.
fn naive(content: &[u8], limit: usize) -> Vec<KeptLine> {
    let mut lines: Vec<_> = content.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let last = lines.pop().unwrap_or_default();
    let whole = lines.into_iter().map(|line| (line, false));
    let cut = (!last.is_empty()).then_some((last, true));
    whole
        .chain(cut)
        .map(|(line, is_cut)| match is_cut {
            _ if line.len() > limit => KeptLine::TooLong(line.len() as u64, is_cut),
            true => KeptLine::Cut(line),
            false => KeptLine::Whole(line),
        })
        .collect()
}

fn forwards(content: &[u8], limit: usize, block: usize) -> (Vec<KeptLine>, u64) {
    let (mut seen, mut span, mut lines) = (Vec::new(), 0, Lines::new(limit));
    let mut show = |line: Line<'_>| {
        span += line.span();
        seen.push(KeptLine::from(line));
        ControlFlow::<()>::Continue(())
    };
    for piece in content.chunks(block) {
        assert!(lines.push(piece, &mut show).is_continue());
        assert!(lines.held.len() <= limit);
    }
    assert!(lines.finish(&mut show).is_continue());
    (seen, span)
}

fn backwards(content: &[u8], limit: usize, block: usize) -> (Vec<KeptLine>, u64) {
    let (mut seen, mut span, mut lines) = (Vec::new(), 0, LinesFromEnd::new(limit));
    let mut show = |line: Line<'_>| {
        span += line.span();
        seen.push(KeptLine::from(line));
        ControlFlow::<()>::Continue(())
    };
    for piece in content.rchunks(block) {
        assert!(lines.push(piece, &mut show).is_continue());
    }
    assert!(lines.finish(&mut show).is_continue());
    seen.reverse();
    (seen, span)
}

proptest! {
    #[test]
    fn lines_equal_a_naive_split_for_any_blocks(
        content in proptest::collection::vec(
            prop_oneof![3 => Just(b'a'), 1 => Just(b'\r'), 2 => Just(b'\n')],
            0..80,
        ),
        limit in 0_usize..12,
        block in 1_usize..20,
    ) {
        let expected = (naive(&content, limit), content.len() as u64);
        prop_assert_eq!(&forwards(&content, limit, block), &expected);
        prop_assert_eq!(&backwards(&content, limit, block), &expected);
    }
}

#[test]
fn breaking_stops_the_lines() {
    let mut lines = Lines::new(10);
    let mut count = 0;
    let stopped = lines.push(b"a\nb\nc\n", |_| {
        count += 1;
        if count == 2 { ControlFlow::Break("enough") } else { ControlFlow::Continue(()) }
    });
    assert_eq!((stopped, count), (ControlFlow::Break("enough"), 2));
    let stopped =
        LinesFromEnd::new(10).push(b"a\nb\nc", |line| ControlFlow::Break(KeptLine::from(line)));
    assert_eq!(stopped, ControlFlow::Break(KeptLine::Cut(b"c".to_vec())));
}

#[test]
fn a_line_inside_a_block_is_not_copied() {
    let block = b"one\ntwo\n";
    let inside = block.as_ptr_range();
    let mut lines = Lines::new(10);
    let shown = lines.push(block, |line| match line {
        Line::Whole(line) if inside.contains(&line.as_ptr()) => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    assert!(shown.is_continue());
    assert_eq!(lines.held_bytes(), 0);
}

#[test]
fn the_memory_of_a_long_line_is_freed() {
    let mut lines = Lines::new(8 * KEPT_BYTES);
    let long = vec![b'x'; 4 * KEPT_BYTES];
    for piece in [&long[..], b"\nshort"] {
        assert!(lines.push(piece, |_| ControlFlow::<()>::Continue(())).is_continue());
    }
    assert!(lines.held_bytes() <= KEPT_BYTES);
    for _ in 0..3 {
        assert!(lines.push(&long, |_| ControlFlow::<()>::Continue(())).is_continue());
    }
    assert_eq!(lines.held_bytes(), 0, "a line beyond the limit is not held");
}
