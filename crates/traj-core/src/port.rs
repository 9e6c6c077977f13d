//! What the domain asks of the world, one promise a file.
//!
//! | port | who calls it | who implements it |
//! |---|---|---|
//! | [`Sources`] | export, verify, care | `traj-fs`, `memory` |
//! | [`BundleSink`] | export | `traj-fs`, `memory` |
//! | [`SessionRewriter`] | care | `traj-fs`, `memory` |

mod bundle_sink;
mod session_rewriter;
mod source;

pub use bundle_sink::{
    BundleFile, BundleFileWriter, BundleSink, BundleSinkError, BundleWriter, Scratch,
};
pub use session_rewriter::{
    LineEdit, LineVerdict, RewriteError, RewriteMode, RewriteReport, SessionRewriter,
};
pub use source::{Source, SourceError, Sources};
