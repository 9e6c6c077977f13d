//! What every [`BundleSource`] promises.

use traj_core::port::{BundleContent, BundleSource, BundleSourceError};

/// Makes bundles of one form.
pub trait BundleSourceHarness {
    /// A bundle with these files, which are sorted by name except that the
    /// manifest comes first.
    fn bundle(&self, files: &[(&str, &[u8])]) -> Box<dyn BundleSource>;
}

suite! {
    $ bundle_source on BundleSourceHarness:
    every_file_is_shown_in_order_and_again,
    content_comes_in_pieces_of_any_size,
    what_is_left_unread_does_not_matter,
    a_visitor_that_fails_ends_the_visit,
    names_that_differ_only_in_case_are_refused,
    entries_with_unsafe_names_are_refused,
    an_empty_file_is_a_file,
}

const MANIFEST: (&str, &[u8]) = ("manifest.json", b"{}\n");

/// The name of a blob.
const BLOB: &str = "blobs/00ff";

fn read_all(content: &mut dyn BundleContent, piece: usize) -> Result<Vec<u8>, BundleSourceError> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; piece];
    loop {
        let count = content.read(&mut buffer)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

/// All files of a bundle, read in pieces of this size.
fn files(
    bundle: &dyn BundleSource,
    piece: usize,
) -> Result<Vec<(String, Vec<u8>)>, BundleSourceError> {
    let mut found = Vec::new();
    bundle.visit(&mut |path, content| {
        found.push((path.to_owned(), read_all(content, piece)?));
        Ok(())
    })?;
    Ok(found)
}

fn owned(files: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect()
}

fn every_file_is_shown_in_order_and_again(harness: &dyn BundleSourceHarness) {
    let stored: [(&str, &[u8]); 4] =
        [MANIFEST, (BLOB, b"long"), ("events.jsonl", b"a\nb\n"), ("tools.json", b"[]")];
    let bundle = harness.bundle(&stored);
    for _ in 0..2 {
        assert_eq!(files(&*bundle, 4_096).expect("readable"), owned(&stored));
    }
}

fn content_comes_in_pieces_of_any_size(harness: &dyn BundleSourceHarness) {
    let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let stored: [(&str, &[u8]); 2] = [MANIFEST, ("events.jsonl", &long)];
    let bundle = harness.bundle(&stored);
    for piece in [7, 65_536, 4_000_000] {
        assert_eq!(files(&*bundle, piece).expect("readable"), owned(&stored), "{piece}");
    }
}

fn what_is_left_unread_does_not_matter(harness: &dyn BundleSourceHarness) {
    let long = vec![b'x'; 200_000];
    let bundle = harness.bundle(&[MANIFEST, (BLOB, &long), ("events.jsonl", b"a\n")]);
    let mut last = Vec::new();
    let visited = bundle.visit(&mut |path, content| {
        match path {
            BLOB => assert!(content.read(&mut [0; 3])? > 0),
            "events.jsonl" => last = read_all(content, 10)?,
            _ => {}
        }
        Ok(())
    });
    visited.expect("readable");
    assert_eq!(last, b"a\n");
}

fn a_visitor_that_fails_ends_the_visit(harness: &dyn BundleSourceHarness) {
    let bundle = harness.bundle(&[MANIFEST, (BLOB, b"long"), ("events.jsonl", b"a\n")]);
    let mut shown = 0;
    let visited = bundle.visit(&mut |_, _| {
        shown += 1;
        if shown == 2 { Err(BundleSourceError::Bomb) } else { Ok(()) }
    });
    assert!(matches!(visited, Err(BundleSourceError::Bomb)));
    assert_eq!(shown, 2);
}

fn names_that_differ_only_in_case_are_refused(harness: &dyn BundleSourceHarness) {
    let bundle = harness.bundle(&[MANIFEST, ("Events.jsonl", b""), ("events.jsonl", b"")]);
    let refused = files(&*bundle, 10);
    assert!(matches!(refused, Err(BundleSourceError::RepeatedEntry { .. })), "{refused:?}");
}

fn entries_with_unsafe_names_are_refused(harness: &dyn BundleSourceHarness) {
    for path in ["C:x", "a\\b", "ends.", "bell\u{7}", "other/notes.txt", "blobs/deep/00ff"] {
        let bundle = harness.bundle(&[MANIFEST, (path, b"x")]);
        let refused = files(&*bundle, 10);
        let is_refused = matches!(
            refused,
            Err(BundleSourceError::UnsafeEntry { .. } | BundleSourceError::UnsafeFile { .. })
        );
        assert!(is_refused, "{path}");
    }
}

fn an_empty_file_is_a_file(harness: &dyn BundleSourceHarness) {
    let stored: [(&str, &[u8]); 2] = [MANIFEST, ("events.jsonl", b"")];
    assert_eq!(files(&*harness.bundle(&stored), 10).expect("readable"), owned(&stored));
}
