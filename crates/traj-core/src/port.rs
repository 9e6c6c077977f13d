//! What the domain asks of the world, one promise a file.

mod session_rewriter;

pub use session_rewriter::{
    LineEdit, LineVerdict, RewriteError, RewriteMode, RewriteReport, SessionRewriter,
};
