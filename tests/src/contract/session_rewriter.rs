//! What every [`SessionRewriter`] promises.

use std::error::Error;

use traj_core::port::{
    LineEdit, LineVerdict, RewriteError, RewriteMode, RewriteReport, SessionRewriter,
};

/// Makes sessions to rewrite.
pub trait SessionRewriterHarness {
    /// A session with this content; without content, its file is missing.
    fn session(&self, content: Option<&[u8]>) -> Box<dyn SessionFixture>;
}

/// A session that a case can rewrite and read.
pub trait SessionFixture {
    /// The adapter under test.
    fn rewriter(&self) -> &dyn SessionRewriter;

    /// What a reader of the session sees.
    fn read(&self) -> Option<Vec<u8>>;
}

suite! {
    $ session_rewriter on SessionRewriterHarness:
    rewrites_lines_and_nothing_else,
    preview_changes_nothing,
    called_off_leaves_the_file,
    nothing_to_change_is_fine,
    missing_is_missing,
    rewriting_is_idempotent,
}

/// An edit that replaces every line equal to `target`.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "built literally by the tests")]
pub struct ReplaceLine {
    /// The line to replace.
    pub target: &'static str,
    /// Its replacement.
    pub replacement: &'static str,
    /// Whether the last step is refused.
    pub refuse: bool,
}

impl LineEdit for ReplaceLine {
    fn concerns(&self, block: &[u8]) -> bool {
        block.windows(self.target.len()).any(|window| window == self.target.as_bytes())
    }

    fn line(&mut self, line: &[u8]) -> LineVerdict {
        if line == self.target.as_bytes() {
            LineVerdict::Replace(self.replacement.as_bytes().to_vec())
        } else {
            LineVerdict::Keep
        }
    }

    fn passed_over(&mut self, _bytes: u64) {}

    fn before_commit(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        if self.refuse { Err("refused by the suite".into()) } else { Ok(()) }
    }
}

const BEFORE: &[u8] = b"{\"n\": 1.0}\r\ntarget\n\xff\x00 not text\n\ntarget\r\nunfinished";
const AFTER: &[u8] = b"{\"n\": 1.0}\r\nshort\n\xff\x00 not text\n\nshort\r\nunfinished";

fn edit() -> ReplaceLine {
    ReplaceLine { target: "target", replacement: "short", refuse: false }
}

/// Matching lines change, everything else stays byte for byte, and the report counts them.
fn rewrites_lines_and_nothing_else(harness: &dyn SessionRewriterHarness) {
    let session = harness.session(Some(BEFORE));
    let report = commit(session.as_ref(), &mut edit());
    assert_eq!(session.read().as_deref(), Some(AFTER));
    assert_eq!(report.changed_lines, 2);
    assert_eq!(report.bytes_before, BEFORE.len() as u64);
    assert_eq!(report.bytes_after, AFTER.len() as u64);
    assert_eq!(report.merged_bytes, 0);
    assert!(!report.held_open);
}

/// A preview gives the same report and changes nothing.
fn preview_changes_nothing(harness: &dyn SessionRewriterHarness) {
    let session = harness.session(Some(BEFORE));
    let report = session
        .rewriter()
        .rewrite(&mut edit(), RewriteMode::Preview)
        .expect("a preview of a plain file");
    assert_eq!(report.changed_lines, 2);
    assert_eq!(session.read().as_deref(), Some(BEFORE));
}

/// An edit that refuses the last step leaves the file unchanged.
fn called_off_leaves_the_file(harness: &dyn SessionRewriterHarness) {
    let session = harness.session(Some(BEFORE));
    let outcome = session
        .rewriter()
        .rewrite(&mut ReplaceLine { refuse: true, ..edit() }, RewriteMode::Commit);
    assert!(matches!(outcome, Err(RewriteError::CalledOff { .. })), "{outcome:?}");
    assert_eq!(session.read().as_deref(), Some(BEFORE));
}

/// An empty file and a file without a matching line stay as they are.
fn nothing_to_change_is_fine(harness: &dyn SessionRewriterHarness) {
    for text in [b"".as_slice(), b"\n", b"other\nlines\n", b"targe\nt"] {
        let session = harness.session(Some(text));
        let report = commit(session.as_ref(), &mut edit());
        assert_eq!(report.changed_lines, 0);
        assert_eq!(session.read().as_deref(), Some(text));
    }
}

/// A missing file has a distinct error.
fn missing_is_missing(harness: &dyn SessionRewriterHarness) {
    let session = harness.session(None);
    for mode in [RewriteMode::Preview, RewriteMode::Commit] {
        let outcome = session.rewriter().rewrite(&mut edit(), mode);
        assert!(matches!(outcome, Err(RewriteError::Missing { .. })), "{outcome:?}");
    }
    assert_eq!(session.read(), None);
}

/// Rewriting twice has the same result as rewriting once.
fn rewriting_is_idempotent(harness: &dyn SessionRewriterHarness) {
    let session = harness.session(Some(BEFORE));
    commit(session.as_ref(), &mut edit());
    let second = commit(session.as_ref(), &mut edit());
    assert_eq!(second.changed_lines, 0);
    assert_eq!(session.read().as_deref(), Some(AFTER));
}

fn commit(session: &dyn SessionFixture, edit: &mut dyn LineEdit) -> RewriteReport {
    session.rewriter().rewrite(edit, RewriteMode::Commit).expect("a rewrite of a plain file")
}
