//! What every [`Sources`] promises.

use traj_core::port::{SourceError, Sources};

/// Inputs under test, and ways to change them as their writers would.
pub trait SourcesHarness {
    /// The sources.
    fn sources(&self) -> &dyn Sources;
    /// Creates a file, or replaces it by a new one.
    fn put(&self, name: &str, content: &[u8]);
    /// Appends to a file.
    fn append(&self, name: &str, content: &[u8]);
    /// Truncates a file.
    fn cut(&self, name: &str, length: usize);
    /// Creates a link, which is not a regular file.
    fn put_link(&self, name: &str);
    /// Removes a file.
    fn remove(&self, name: &str);
}

suite! {
    $ source on SourcesHarness:
    content_is_read_by_position,
    growth_is_not_seen,
    a_cut_is_a_change,
    what_is_open_outlives_its_name,
    links_and_names_that_lead_out_are_refused,
}

fn content_is_read_by_position(harness: &dyn SourcesHarness) {
    assert!(matches!(harness.sources().open("f"), Err(SourceError::NotFound { .. })));
    harness.put("f", b"0123456789");
    let source = harness.sources().open("f").expect("opens");
    assert_eq!(source.len(), 10);
    let mut middle = [0; 4];
    source.read_exact_at(3, &mut middle).expect("reads");
    assert_eq!(&middle, b"3456");
    source.read_exact_at(10, &mut []).expect("nothing at the end is fine");
    let past_the_end = source.read_exact_at(8, &mut middle);
    assert!(matches!(past_the_end, Err(SourceError::Changed { .. })));
    source.check_unchanged().expect("nothing changed");
}

fn growth_is_not_seen(harness: &dyn SourcesHarness) {
    harness.put("f", b"first\n");
    let source = harness.sources().open("f").expect("opens");
    harness.append("f", b"second\n");
    assert_eq!(source.len(), 6);
    source.check_unchanged().expect("growing is fine");
    assert_eq!(harness.sources().open("f").expect("opens").len(), 13);
}

fn a_cut_is_a_change(harness: &dyn SourcesHarness) {
    harness.put("f", b"first\nsecond\n");
    let source = harness.sources().open("f").expect("opens");
    harness.cut("f", 3);
    let read = source.read_exact_at(0, &mut [0; 13]);
    assert!(matches!(read, Err(SourceError::Changed { .. })));
    assert!(matches!(source.check_unchanged(), Err(SourceError::Changed { .. })));
}

fn what_is_open_outlives_its_name(harness: &dyn SourcesHarness) {
    harness.put("f", b"content");
    let source = harness.sources().open("f").expect("opens");
    harness.remove("f");
    let mut all = [0; 7];
    source.read_exact_at(0, &mut all).expect("reads");
    assert_eq!(&all, b"content");
    source.check_unchanged().expect("what was read still stands");
}

fn links_and_names_that_lead_out_are_refused(harness: &dyn SourcesHarness) {
    harness.put_link("link");
    assert!(matches!(harness.sources().open("link"), Err(SourceError::NotRegular { .. })));
    harness.put("f", b"x");
    assert!(matches!(harness.sources().open("a/../f"), Err(SourceError::Outside { .. })));
}
